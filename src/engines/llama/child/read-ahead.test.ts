import { deepEqual, equal } from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createDiskCache } from './disk-cache.ts'
import type { PromptToPlace } from './find-candidates.ts'
import { PromptCache } from './prompt-cache.ts'
import type { SequenceMemory } from './sequence-memory.ts'
import { createSnapshotStore } from './snapshot-store.ts'

/** A memory that takes everything; a state is as long as its tokens. */
function createMemory() {
  const loaded: number[] = []
  const memory: SequenceMemory = {
    isWhole: true,
    clear: () => {},
    cutBack: () => true,
    canCutBack: () => true,
    copy: () => Promise.resolve(),
    checkpoint: () => Promise.reject(new Error('None is needed.')),
    restore: () => Promise.resolve(true),
    drop: () => {},
    save: (_, tokens) => Promise.resolve(Buffer.alloc(tokens.length)),
    load: (slot) => Promise.resolve(loaded.push(slot) > 0),
  }
  return { memory, loaded }
}

const key = new Uint8Array(32).fill(1)
const lengths = 300
const numbered = (number: number) => Uint32Array.from({ length: lengths }, (_, index) => number * 1_000 + index)

function prompt(number: number, namespace = 'org_a'): PromptToPlace {
  const tokens = Uint32Array.from([...numbered(number), 1, 2, 3])
  return { namespace, tokens, breakpoints: [], conversationLength: lengths + 2 }
}

/** Four prompts on the disk, of which the one with the highest number was used last, and a cache that begins with them. */
async function open(t: TestContext, bytesMax: number) {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-ahead-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const openDisk = () => createDiskCache({ folder, bytesMax: 1e6, key, fingerprint: 'one', nowMs: Date.now })
  const before = openDisk()
  for (const number of [1, 2, 3, 4]) {
    const held = { namespace: number === 3 ? 'org_b' : 'org_a', tokens: numbered(number), pins: [], checkpoints: [] }
    await before.write(held, Buffer.alloc(1_000))
    const newest = (await before.of(held.namespace)).at(-1)
    utimesSync(newest?.file ?? '', number, number)
  }
  const { memory, loaded } = createMemory()
  const store = createSnapshotStore(memory, bytesMax)
  const cache = new PromptCache({ memory, store, disk: openDisk(), slots: 2, nowMs: Date.now })
  const free = new Set([0, 1])
  async function readAll(): Promise<void> {
    for (let next = cache.readAhead(); next !== null; next = cache.readAhead()) {
      await next
      await cache.takeReadAhead(free)
    }
  }
  const place = async (asked: PromptToPlace) => {
    const placement = await cache.place(asked, free)
    return [placement?.source, placement?.reused]
  }
  return { folder, loaded, store, readAll, place }
}

test('what was used last is read into the slots, and what came before into memory', async (t) => {
  const { loaded, store, readAll, place } = await open(t, 1e6)
  await readAll()
  deepEqual(loaded, [0, 1])
  deepEqual(
    store.of('org_a').map(({ tokens }) => tokens[0]),
    [2_000, 1_000],
  )
  deepEqual(await place(prompt(4)), ['disk', lengths])
  deepEqual(await place(prompt(3, 'org_b')), ['disk', lengths])
  deepEqual(loaded, [0, 1], 'something was read again')
  deepEqual(await place(prompt(2)), ['memory', lengths])
})

test('no more is read than there is room for', async (t) => {
  const { store, readAll } = await open(t, 3_000)
  await readAll()
  deepEqual(
    store.of('org_a').map(({ tokens }) => tokens[0]),
    [2_000],
  )
})

test('what was read for one organization is nothing to another', async (t) => {
  const { readAll, place } = await open(t, 1e6)
  await readAll()
  deepEqual(await place(prompt(4, 'org_b')), ['none', 0])
})

test('a prompt that comes before its state was read ahead is not held twice', async (t) => {
  const { readAll, place, loaded } = await open(t, 0)
  deepEqual(await place(prompt(4)), ['disk', lengths])
  await readAll()
  // Into the one slot the prompt, into the other what was used next to last.
  equal(loaded.length, 2)
})

test('the first thing that a process writes is kept', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-ahead-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const disk = createDiskCache({ folder, bytesMax: 1e6, key, fingerprint: 'one', nowMs: Date.now })
  await disk.write({ namespace: 'org_a', tokens: numbered(1), pins: [], checkpoints: [] }, Buffer.alloc(10))
  equal(readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith('.state')).length, 1)
})
