import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { GenerationAborted } from '../core/generation.ts'
import { CountTurns } from './count-turns.ts'

const never = new AbortController().signal
const owner = (organization: number, key = 1) => ({
  organizationId: `org_${organization}`,
  apiKeyId: `key_${organization}_${key}`,
})

type Count = { readonly name: string; end: (() => void) | null }

/** Asks for turns, and notes in which order they come. */
function open() {
  const turns = new CountTurns()
  const begun: string[] = []
  const ask = (name: string, of: ReturnType<typeof owner>, characters = 100, signal = never): Count => {
    const count: Count = { name, end: null }
    turns.take(of, characters, signal).then(
      (end) => {
        begun.push(name)
        count.end = end
      },
      () => {},
    )
    return count
  }
  return { turns, begun, ask }
}

test('an organization that counts much does not keep another one waiting', async () => {
  const { begun, ask } = open()
  for (let number = 0; number < 16; number += 1) ask(`much ${number}`, owner(1))
  ask('little', owner(2))
  await turn()
  deepEqual(begun, ['much 0', 'little'])
})

test('a key that counts much does not keep another key of its organization waiting for all of it', async () => {
  const { begun, ask } = open()
  const counts = Array.from({ length: 8 }, (_, number) => ask(`much ${number}`, owner(1), 1_000_000))
  const little = ask('little', owner(1, 2))
  await turn()
  counts[0]?.end?.()
  await turn()
  little.end?.()
  await turn()
  deepEqual(begun, ['much 0', 'little', 'much 1'])
})

test('four organizations count at once, and the next one begins when one of them has ended', async () => {
  const { begun, ask } = open()
  const counts = [1, 2, 3, 4, 5].map((number) => ask(String(number), owner(number)))
  await turn()
  equal(begun.length, 4)
  counts[2]?.end?.()
  await turn()
  deepEqual(begun, ['1', '2', '3', '4', '5'])
})

test('a count whose client leaves gives its turn up, before it came and after', async () => {
  const { turns, begun, ask } = open()
  const first = ask('first', owner(1))
  const leaving = new AbortController()
  const waiting = turns.take(owner(1), 100, leaving.signal)
  leaving.abort()
  await rejects(waiting, GenerationAborted)
  await rejects(turns.take(owner(1), 100, leaving.signal), GenerationAborted)
  ask('third', owner(1))
  await turn()
  first.end?.()
  await turn()
  deepEqual(begun, ['first', 'third'])
})

test('an organization that has 256 counts waiting is refused more of them, and no other one is', async () => {
  const { turns, begun, ask } = open()
  ask('first', owner(1))
  await turn()
  for (let number = 0; number < 256; number += 1) ask(String(number), owner(1))
  await rejects(turns.take(owner(1, 2), 1, never), /Too many prompts of this organization wait/)
  ask('other', owner(2))
  await turn()
  deepEqual(begun, ['first', 'other'])
})
