import { deepEqual, equal, ok } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createRandom } from '../../../../../test/campaigns/random.ts'
import { createDiskCache, type DiskCache } from './disk-cache.ts'
import type { PromptToPlace } from './find-candidates.ts'
import { PromptCache, type Placement } from './prompt-cache.ts'
import type { Checkpoint, SequenceMemory } from './sequence-memory.ts'
import { createSnapshotStore } from './snapshot-store.ts'
import { createStateRoom, type SavedState } from './state-room.ts'

/** A batch, for which a model with a window has room beside it. */
const batchTokens = 32

type Held = { readonly tokens: readonly number[]; readonly least: number }

/** A memory that knows which tokens it holds, and forgets as much as a model with a window does, or one with a running state. */
class FakeMemory implements SequenceMemory {
  readonly isWhole: boolean
  readonly reachTokens: number
  readonly held: number[][]
  readonly checkpoints = new Set<Checkpoint>()
  isFull = false
  readonly #window: number | null
  readonly #least: number[]
  readonly #states = new WeakMap<Checkpoint | SavedState, Held>()
  /** Those that nobody has dropped yet. */
  readonly states = new Set<SavedState>()

  /** A window of nothing is a running state. */
  constructor(slots: number, window: number | null) {
    this.isWhole = window === null
    this.reachTokens = window ?? Infinity
    this.#window = window
    this.held = Array.from({ length: slots }, () => [])
    this.#least = Array.from({ length: slots }, () => 0)
  }

  at(slot: number): number[] {
    return this.held[slot] ?? []
  }

  compute(slot: number, tokens: readonly number[]): void {
    this.at(slot).push(...tokens)
    if (this.#window === null) return
    const kept = this.#window === 0 ? 0 : this.#window + batchTokens
    this.#least[slot] = Math.max(this.#least[slot] ?? 0, this.at(slot).length - kept)
  }

  clear(slot: number): void {
    this.held[slot] = []
    this.#least[slot] = 0
  }

  canCutBack(slot: number, length: number): boolean {
    if (length > this.at(slot).length) return false
    if (this.#window === 0) return length === this.at(slot).length
    return (this.#least[slot] ?? 0) <= this.#leastFor(length)
  }

  cutBack(slot: number, length: number): boolean {
    if (!this.canCutBack(slot, length)) return false
    this.held[slot] = this.at(slot).slice(0, length)
    return true
  }

  copy(target: number, source: number): Promise<boolean> {
    if (this.isFull) return Promise.resolve(false)
    this.held[target] = [...this.at(source)]
    this.#least[target] = this.#least[source] ?? 0
    return Promise.resolve(true)
  }

  checkpoint(slot: number, length: number): Promise<Checkpoint> {
    const held = this.#reached(slot)
    ok(held.least <= this.#leastFor(length), 'a checkpoint is taken of what is out of reach')
    if (this.#window === 0) equal(length, this.at(slot).length)
    const checkpoint: Checkpoint = { length, bytes: 10, native: undefined as never }
    this.#states.set(checkpoint, { ...held, tokens: held.tokens.slice(0, length) })
    this.checkpoints.add(checkpoint)
    return Promise.resolve(checkpoint)
  }

  restore(slot: number, checkpoint: Checkpoint): Promise<boolean> {
    ok(this.checkpoints.has(checkpoint), 'a dropped checkpoint is used')
    // It holds what the windows forget; what looks at everything has to be there still.
    ok(this.at(slot).length >= checkpoint.length, 'a checkpoint is used on less than it was taken of')
    this.#fill(slot, checkpoint)
    return Promise.resolve(true)
  }

  drop(checkpoint: Checkpoint): void {
    ok(this.checkpoints.delete(checkpoint), 'a checkpoint is dropped twice')
  }

  save(slot: number, tokens: Uint32Array): Promise<SavedState> {
    deepEqual([...tokens], this.at(slot))
    if (this.isFull) return Promise.reject(new Error('no space left on device'))
    const state: SavedState = {
      bytes: tokens.length,
      copyTo: (target) => void target.fill(0),
      asFile: () => Promise.reject(new Error('Nobody reads it.')),
      drop: () => ok(this.states.delete(state), 'a state is dropped twice'),
    }
    this.states.add(state)
    this.#states.set(state, this.#reached(slot))
    return Promise.resolve(state)
  }

  load(slot: number, state: SavedState): Promise<boolean> {
    this.#fill(slot, state)
    return Promise.resolve(true)
  }

  /** The first token that has to be there for the one at `length` to be computed. */
  #leastFor(length: number): number {
    return this.#window === null ? 0 : Math.max(0, length - this.#window + 1)
  }

  /** What a state holds: what is out of reach from its end is left out, although it may be there still. */
  #reached(slot: number): Held {
    const tokens = [...this.at(slot)]
    const reached = this.#window === null ? 0 : Math.max(0, tokens.length - this.#window)
    return { tokens, least: Math.max(this.#least[slot] ?? 0, reached) }
  }

  #fill(slot: number, from: Checkpoint | SavedState): void {
    const { tokens = [], least = 0 } = this.#states.get(from) ?? {}
    this.held[slot] = [...tokens]
    this.#least[slot] = least
  }
}

function open({
  slots = 2,
  window = null as number | null,
  bytesMax = 1_000_000,
  disk = null as DiskCache | null,
} = {}) {
  const memory = new FakeMemory(slots, window)
  const clock = { nowMs: 0 }
  const store = createSnapshotStore(memory, bytesMax)
  const faults: string[] = []
  const onFault = (message: string) => faults.push(message)
  const cache = new PromptCache({ memory, store, disk, slots, nowMs: () => clock.nowMs, onFault })
  const all = new Set(Array.from({ length: slots }, (_, slot) => slot))

  /** Places a prompt and computes the rest of it, and an answer, as the decode loop does. */
  async function run(prompt: PromptToPlace, { free = all as ReadonlySet<number>, answer = [] as number[] } = {}) {
    const placement = await cache.place(prompt, free)
    ok(placement !== null, 'nothing is under way that could be waited for')
    const { slot, reused } = placement
    ok(free.has(slot))
    deepEqual(memory.at(slot), [...prompt.tokens.subarray(0, reused)])
    let steps = 0
    for (const part of [[...prompt.tokens.subarray(reused)], answer])
      for (let pending = part; pending.length > 0; steps += 1) {
        const share = Math.min(50, cache.untilCheckpoint(slot) ?? 50)
        ok(share > 0)
        memory.compute(slot, pending.slice(0, share))
        cache.extend(slot, Uint32Array.from(pending.slice(0, share)))
        await cache.takeDueCheckpoints(slot)
        pending = pending.slice(share)
      }
    return { ...placement, steps }
  }
  return { cache, all, memory, clock, store, run, faults }
}

const sequence = (start: number, length: number) => Array.from({ length }, (_, index) => start + index)

function prompt(tokens: readonly number[], changes: Partial<PromptToPlace> = {}): PromptToPlace {
  return {
    namespace: 'org_a',
    tokens: Uint32Array.from(tokens),
    breakpoints: [],
    conversationLength: tokens.length - 2,
    ...changes,
  }
}

const windows = [null, 100, 0]
const names = new Map([
  [null, 'a model that sees everything'],
  [100, 'a model with a window'],
  [0, 'a model with a running state'],
])
const named = (window: number | null) => names.get(window) ?? ''

for (const window of windows) {
  test(`${named(window)}: a conversation goes on in its slot and computes only what is new`, async () => {
    const { run } = open({ window })
    const first = sequence(0, 400)
    await run(prompt(first), { answer: sequence(9_000, 150) })
    const second = [...first.slice(0, 398), ...sequence(5_000, 60)]
    const { reused, source } = await run(prompt(second))
    deepEqual([reused, source], [398, 'slot'])
  })

  test(`${named(window)}: the same prompt again computes its last token alone, or from the last checkpoint`, async () => {
    const { run } = open({ window })
    await run(prompt(sequence(0, 300)))
    const { reused } = await run(prompt(sequence(0, 300)))
    equal(reused, window === 0 ? 298 : 299)
  })

  test(`${named(window)}: a prompt is computed in one go where a checkpoint at its end holds what each mark needs`, async () => {
    const { run } = open({ window })
    const { steps } = await run(prompt(sequence(0, 40), { breakpoints: [{ length: 20, lifetimeMs: 1_000 }] }))
    equal(steps, window === 0 ? 3 : 1)
    const longer = await run(prompt(sequence(1_000, 300), { breakpoints: [{ length: 290, lifetimeMs: 1_000 }] }))
    equal(longer.steps, window === null ? 6 : 8)
    const again = await run(prompt([...sequence(0, 38), ...sequence(2_000, 200)]))
    equal(again.reused, 38)
  })

  test(`${named(window)}: nothing is shared between organizations`, async () => {
    const { run } = open({ window })
    await run(prompt(sequence(0, 300)))
    const { reused, differsAt } = await run(prompt(sequence(0, 300), { namespace: 'org_b' }))
    deepEqual([reused, differsAt], [0, null])
  })

  test(`${named(window)}: what had to leave its slot comes back from memory`, async () => {
    const { run } = open({ window })
    for (const start of [0, 10_000, 20_000]) await run(prompt(sequence(start, 300)))
    const { reused, source } = await run(prompt([...sequence(0, 298), ...sequence(7_000, 40)]))
    deepEqual([reused, source], [298, 'memory'])
  })

  test(`${named(window)}: what cannot be put aside for lack of room is computed again, and that is all`, async () => {
    const { run, memory, faults } = open({ window, slots: 1 })
    await run(prompt(sequence(0, 300)))
    memory.isFull = true
    await run(prompt(sequence(10_000, 300)))
    equal((await run(prompt(sequence(0, 300)))).reused, 0)
    deepEqual([faults.length, memory.checkpoints.size], [2, window === null ? 0 : 1])
    memory.isFull = false
    await run(prompt(sequence(10_000, 300)))
    equal((await run(prompt(sequence(0, 300)))).source, 'memory')
  })

  test(`${named(window)}: a prompt that begins like one under way is copied from it`, async () => {
    const { run } = open({ window })
    const { slot } = await run(prompt(sequence(0, 300)))
    const { reused, source } = await run(prompt([...sequence(0, 298), ...sequence(7_000, 40)]), {
      free: new Set([1 - slot]),
    })
    deepEqual([reused, source], [298, 'copy'])
  })

  test(`${named(window)}: what cannot be copied for lack of room is computed`, async () => {
    const { run, memory } = open({ window })
    const { slot } = await run(prompt(sequence(0, 300)))
    memory.isFull = true
    const free = new Set([1 - slot])
    const { reused, source } = await run(prompt([...sequence(0, 298), ...sequence(7_000, 40)]), { free })
    deepEqual([reused, source], [0, 'none'])
  })

  test(`${named(window)}: a prefix a client asked to keep outlives ten times its size, until its lifetime ends`, async () => {
    const { run, clock } = open({ window, bytesMax: 2_600 })
    const pinned = { breakpoints: [{ length: 250, lifetimeMs: 300_000 }] }
    const again = () => run(prompt([...sequence(0, 250), ...sequence(clock.nowMs + 50_000, 20)], pinned))
    await run(prompt(sequence(0, 280), pinned))
    for (let other = 1; other <= 10; other += 1) await run(prompt(sequence(100_000 * other, 280)))
    clock.nowMs = 299_000
    equal((await again()).reused, 250)
    clock.nowMs = 598_000
    equal((await again()).reused, 250, 'a use begins the lifetime anew')
    clock.nowMs = 899_000
    equal((await again()).reused, 0)
  })

  test(`${named(window)}: of two lifetimes the longer one keeps its own prefix`, async () => {
    const { run, clock } = open({ window })
    const breakpoints = [
      { length: 100, lifetimeMs: 3_600_000 },
      { length: 250, lifetimeMs: 300_000 },
    ]
    await run(prompt(sequence(0, 280), { breakpoints }))
    clock.nowMs = 400_000
    equal((await run(prompt(sequence(0, 280), { breakpoints }))).reused, 100)
  })

  test(`${named(window)}: a long conversation is not given up for a short beginning that another shares with it`, async () => {
    const { run } = open({ window, slots: 1 })
    const long = sequence(0, 1_000)
    await run(prompt(long, { breakpoints: [{ length: 100, lifetimeMs: 300_000 }] }))
    const { reused } = await run(prompt([...sequence(0, 100), ...sequence(5_000, 50)]))
    equal(reused, 100)
    equal((await run(prompt([...long, ...sequence(6_000, 10)]))).reused, 1_000)
  })

  test(`${named(window)}: 3,000 prompts at random never meet a slot that holds something else`, async () => {
    const random = createRandom(31, window ?? 0)
    const { run, clock, memory, store } = open({ slots: 3, window, bytesMax: 5_000 })
    const conversations = Array.from({ length: 6 }, (_, index) => sequence(1_000_000 * (index >> 1), 120))
    const sources = new Map<Placement['source'], number>()
    for (let round = 0; round < 3_000; round += 1) {
      const index = random.integer(0, conversations.length - 1)
      const base = conversations[index] ?? []
      const cut = random.chance(0.2) ? random.integer(1, base.length) : base.length
      const tokens = [...base.slice(0, cut), ...sequence(random.integer(0, 1_000_000), random.integer(2, 80))]
      conversations[index] = tokens.length > 900 ? base.slice(0, 100) : tokens
      const breakpoints = random.chance(0.3)
        ? [{ length: random.integer(1, tokens.length - 2), lifetimeMs: random.pick([300_000, 3_600_000]) }]
        : []
      const free = new Set([0, 1, 2].filter(() => random.chance(0.7)))
      if (free.size === 0) free.add(random.integer(0, 2))
      const namespace = index % 2 === 0 ? 'org_a' : 'org_b'
      clock.nowMs += random.integer(0, 60_000)
      const answer = sequence(2_000_000, random.integer(0, 150))
      const { source } = await run(prompt(tokens, { namespace, breakpoints }), { free, answer })
      sources.set(source, (sources.get(source) ?? 0) + 1)
      ok(store.bytes <= 5_000)
    }
    for (const source of ['slot', 'copy', 'memory', 'none'] as const) ok((sources.get(source) ?? 0) > 20, source)
    ok(memory.checkpoints.size <= 40, `${memory.checkpoints.size} checkpoints are left`)
    equal(
      memory.states.size,
      ['org_a', 'org_b'].reduce((sum, namespace) => sum + store.of(namespace).length, 0),
    )
  })
}

const pins = [100, 200, 250].map((length) => ({ length, lifetimeMs: 300_000 }))

function openDisk(t: TestContext, nowMs: () => number): DiskCache {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-pins-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return createDiskCache({
    folder,
    bytesMax: 1e6,
    key: new Uint8Array(32),
    fingerprint: 'one',
    states: createStateRoom(false),
    nowMs,
  })
}

const lengthsOn = async (disk: DiskCache) =>
  (await disk.of('org_a')).map(({ tokens }) => tokens.length).toSorted((a, b) => a - b)

for (const window of windows) {
  test(`${named(window)}: beside a conversation on the disk lie its first pinned beginnings where those need a file of their own`, async (t) => {
    const time = { nowMs: 0 }
    const disk = openDisk(t, () => time.nowMs)
    const { run, cache, all, memory } = open({ window, disk, slots: 1 })
    await run(prompt(sequence(0, 300), { breakpoints: pins }))
    await cache.saveOne(all, () => false)
    deepEqual(await lengthsOn(disk), window === null ? [300] : [100, 200, 298])
    deepEqual([memory.at(0).length, cache.hasUnsaved(all)], [window === null ? 300 : 298, false])
    const kept = sequence(0, memory.at(0).length)
    await run(prompt([...kept, ...sequence(5_000, 40)], { breakpoints: pins }))
    await cache.saveOne(all, () => false)
    deepEqual(await lengthsOn(disk), window === null ? [340] : [100, 200, 336])
    equal(memory.states.size, 0)
  })
}

test('a model with a window: somebody who waits does not wait for pinned beginnings, which are written later', async (t) => {
  const disk = openDisk(t, () => 0)
  const { run, cache, all, memory } = open({ window: 100, disk, slots: 1 })
  await run(prompt(sequence(0, 300), { breakpoints: pins }))
  await cache.saveOne(all, () => true)
  deepEqual([await lengthsOn(disk), memory.at(0).length], [[298], 298])
  ok(cache.hasUnsaved(all))
  await cache.saveOne(all, () => false)
  deepEqual([await lengthsOn(disk), memory.at(0).length], [[100, 200, 298], 298])
})

test('a model with a window: a pinned beginning is written again when half of its lifetime there is over', async (t) => {
  const disk = openDisk(t, () => 0)
  const { run, cache, all, clock } = open({ window: 100, disk, slots: 1 })
  const untilMs = async () => (await disk.of('org_a')).map((entry) => entry.pins[0]?.untilMs)
  for (const [nowMs, expected] of [
    [0, 300_000],
    [100_000, 300_000],
    [200_000, 500_000],
  ] as const) {
    clock.nowMs = nowMs
    await run(prompt(sequence(0, 300 + nowMs / 1_000), { breakpoints: pins.slice(0, 1) }))
    await cache.saveOne(all, () => false)
    deepEqual([nowMs, new Set(await untilMs())], [nowMs, new Set([expected, nowMs + 300_000])])
  }
})
