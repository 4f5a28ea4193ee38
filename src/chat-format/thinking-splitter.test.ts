import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createThinkingSplitter } from './thinking-splitter.ts'

const tags = { open: '<think>', close: '</think>' }

function run(pieces: readonly string[], startsInside: boolean) {
  const splitter = createThinkingSplitter(tags, startsInside)
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
