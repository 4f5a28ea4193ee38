import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random } from '../random.ts'
import { forPractice, toolRequests } from './tool-prompt.ts'

const plain = (name: string) => name.toLowerCase().replace(/[_-]/g, '')
const practised = new Set(forPractice.map(({ key }) => plain(key)))

/** The names of all tools that so many prompts declare. */
function declared(split: 'train' | 'held-out', prompts: number): Set<string> {
  const names = Array.from({ length: prompts }, (_, index) =>
    toolRequests(new Random(`${split} ${index}`), split, 3, 1),
  )
  return new Set(names.flatMap((requests) => requests.flatMap(({ tools }) => tools.map(({ name }) => plain(name)))))
}

test('no two tools for practice have one name', () => {
  assert.equal(practised.size, forPractice.length)
})

test('tools for practice are practised, and never declared in the evaluation', () => {
  const [train, heldOut] = [declared('train', 3_000), declared('held-out', 3_000)]
  // One in eight is held out by its name, as any tool is.
  const missing = [...practised].filter((name) => !train.has(name))
  assert.ok(missing.length < practised.size / 5, missing.join(', '))
  assert.deepEqual(
    [...practised].filter((name) => heldOut.has(name)),
    [],
  )
})

test('every way to ask for a tool for practice names what it requires', () => {
  for (const { key, asks, parameters } of forPractice) {
    for (const { names } of parameters.filter(({ optional }) => !optional)) {
      for (const ask of asks) assert.ok(ask.includes(`{${names[0]}}`), `${key}: ${ask}`)
    }
  }
})
