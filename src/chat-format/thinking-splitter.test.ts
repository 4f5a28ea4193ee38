import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ThinkingTags } from './probe-template.ts'
import { createThinkingSplitter } from './thinking-splitter.ts'

const tags = { open: '<think>', close: '</think>' }

function run(pieces: readonly string[], startsInside: boolean, given: ThinkingTags = tags) {
  const splitter = createThinkingSplitter(given, startsInside)
  const parts = [...pieces.flatMap((piece) => splitter.feed(piece)), ...splitter.close()]
  const join = (kind: string) => parts.flatMap((part) => (part.kind === kind ? [part.text] : [])).join('')
  return { thinking: join('thinking'), text: join('text') }
}

function cut(text: string, places: readonly number[]): string[] {
  const bounds = [0, ...places.map((place) => place % (text.length + 1)).toSorted((a, b) => a - b), text.length]
  return bounds.slice(1).map((end, index) => text.slice(bounds[index], end))
}

test('thinking is split from text at its markers, however the answer is cut', () => {
  const places = fc.array(fc.nat(200), { maxLength: 12 })
  fc.assert(
    fc.property(places, (cuts) => {
      const begun = '\n<think>\nA < b, </thin or so.\n\n</think>\n\nThe <think> answer </think>.'
      assert.deepEqual(run(cut(begun, cuts), false), {
        thinking: '\nA < b, </thin or so.',
        text: '\n\nThe <think> answer </think>.',
      })
    }),
  )
})

test('thinking needs no opening marker after a prompt that opened the block', () => {
  assert.deepEqual(run(['Hm.', '</th', 'ink>Yes'], true), { thinking: 'Hm.', text: 'Yes' })
})

test('an answer without thinking stays text', () => {
  assert.deepEqual(run([' ', 'Just ', 'text <think>x</think>'], false), {
    thinking: '',
    text: ' Just text <think>x</think>',
  })
})

test('a thinking block without its end is thinking to the end, a half marker included', () => {
  assert.deepEqual(run(['on and ', 'on </thi'], true), { thinking: 'on and on </thi', text: '' })
})

test('a call ends the thinking that it follows from within, and its mark is a part of the answer', () => {
  const given = { ...tags, callOpen: '<call>' }
  const places = fc.array(fc.nat(60), { maxLength: 6 })
  fc.assert(
    fc.property(places, (cuts) => {
      const called = run(cut('<think>A <cal or </thin so. <call>{}</call>', cuts), false, given)
      assert.deepEqual(called, { thinking: 'A <cal or </thin so.', text: '<call>{}</call>' })
      const closed = run(cut('<think>A.</think><call>{}</call>', cuts), false, given)
      assert.deepEqual(closed, { thinking: 'A.', text: '<call>{}</call>' })
    }),
  )
})
