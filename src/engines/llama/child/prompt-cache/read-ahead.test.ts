import { deepEqual, equal } from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createDiskCache, type DiskCache } from './disk-cache.ts'
import type { PromptToPlace } from './find-candidates.ts'
import { PromptCache } from './prompt-cache.ts'
import { ReadAhead } from './read-ahead.ts'
import type { SequenceMemory } from './sequence-memory.ts'
import { createSnapshotStore } from './snapshot-store.ts'
import { createStateRoom, type SavedState } from './state-room.ts'

const states = createStateRoom(false)

function zeros(bytes: number): Promise<SavedState> {
  return states.collect(bytes, async (add) => add(new Uint8Array(bytes)))
}

/** A memory that takes everything; a state is as long as its tokens. */
function createMemory() {
  const loaded: number[] = []
  const memory: SequenceMemory = {
    isWhole: true,
    reachTokens: Infinity,
    clear: () => {},
    cutBack: () => true,
    canCutBack: () => true,
    copy: () => Promise.resolve(true),
    checkpoint: () => Promise.reject(new Error('None is needed.')),
    restore: () => Promise.resolve(true),
    drop: () => {},
    save: (_, tokens) => zeros(tokens.length),
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

/** Notes the numbers of the prompts whose states are read, and begins to read them when `mayRead` says so. */
function noteReads(disk: DiskCache, reads: number[], mayRead: () => Promise<void>): DiskCache {
  return {
    ...disk,
    async read(entry) {
      reads.push((entry.tokens[0] ?? 0) / 1_000)
      await mayRead()
      return disk.read(entry)
    },
  }
}

/** Four prompts on the disk, of which the one with the highest number was used last, and a cache that begins with them. */
async function open(t: TestContext, bytesMax: number, mayRead = () => Promise.resolve()) {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-ahead-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const openDisk = () => createDiskCache({ folder, bytesMax: 1e6, key, fingerprint: 'one', states, nowMs: Date.now })
  const before = openDisk()
  for (const number of [1, 2, 3, 4]) {
    const held = { namespace: number === 3 ? 'org_b' : 'org_a', tokens: numbered(number), pins: [], checkpoints: [] }
    await before.write(held, await zeros(1_000), true)
    const newest = (await before.of(held.namespace)).at(-1)
    utimesSync(newest?.file ?? '', number, number)
  }
  const { memory, loaded } = createMemory()
  const store = createSnapshotStore(memory, bytesMax)
  const reads: number[] = []
  const disk = noteReads(openDisk(), reads, mayRead)
  const readAhead = new ReadAhead(disk)
  const cache = new PromptCache({ memory, store, disk, readAhead, slots: 2, nowMs: Date.now })
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
  return { folder, loaded, reads, store, begin: () => readAhead.next(), readAll, place }
}

test('prompts used last are read into the slots, and earlier ones into memory', async (t) => {
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

test('a state read for one organization is not used for another', async (t) => {
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

test('a state that is being read is not read again for the prompt that asks for it', async (t) => {
  const { begin, reads, place } = await open(t, 1e6)
  void begin()
  while (reads.length === 0) await setImmediate()
  deepEqual(await place(prompt(4)), ['disk', lengths])
  deepEqual(reads, [4])
})

test('a prompt whose state turns out to be damaged is not given the next one that is read', async (t) => {
  const gate = Promise.withResolvers<void>()
  const { folder, begin, reads, place } = await open(t, 1e6, () => gate.promise)
  const files = readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)))
  const newest = files.find((file) => file.endsWith('.state') && statSync(file).mtimeMs === 4_000)
  truncateSync(newest ?? '', statSync(newest ?? '').size - 1)
  utimesSync(newest ?? '', 4, 4)
  void begin()
  while (reads.length === 0) await setImmediate()
  const placed = place(prompt(4))
  // It is waiting for the state when that is found to be damaged.
  for (let turn = 0; turn < 100; turn += 1) await setImmediate()
  gate.resolve()
  deepEqual(await placed, ['none', 0])
})

test('a prompt that a slot holds already is not read from the disk', async (t) => {
  const { readAll, place, reads } = await open(t, 1e6)
  deepEqual(await place(prompt(4)), ['disk', lengths])
  deepEqual(await place(prompt(3, 'org_b')), ['disk', lengths])
  await readAll()
  deepEqual(reads, [4, 3, 2, 1])
})

test('the first thing that a process writes is kept', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-ahead-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const disk = createDiskCache({ folder, bytesMax: 1e6, key, fingerprint: 'one', states, nowMs: Date.now })
  await disk.write({ namespace: 'org_a', tokens: numbered(1), pins: [], checkpoints: [] }, await zeros(10), true)
  equal(readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith('.state')).length, 1)
})
