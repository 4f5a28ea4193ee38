import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../test/campaigns/random.ts'
import type { Owner } from '../core/generation.ts'
import { priorities } from '../core/tier.ts'
import { FairQueue } from './fair-queue.ts'

type Entry = { readonly owner: Owner; readonly cost: number }

const entryOf = (organizationId: string, apiKeyId: string, cost = 1): Entry => ({
  owner: { organizationId, apiKeyId },
  cost,
})

/** Takes so many, one at a time, each charged when it begins. Returns how often each got its turn. */
function serve(queue: FairQueue<Entry>, count: number, nameOf: (owner: Owner) => string): Record<string, number> {
  const turns: Record<string, number> = {}
  for (let turn = 0; turn < count; turn++) {
    const entry = queue.take()
    assert.ok(entry !== null)
    queue.charge(entry.owner, entry.cost)
    queue.end(entry.owner)
    const name = nameOf(entry.owner)
    turns[name] = (turns[name] ?? 0) + 1
  }
  return turns
}

test('a hundred keys of one organization get no more than the single one of another', () => {
  const queue = new FairQueue<Entry>()
  for (let round = 0; round < 10; round++) {
    for (let key = 0; key < 100; key++) queue.push(entryOf('org_many', `key_${key}`))
  }
  for (let round = 0; round < 100; round++) queue.push(entryOf('org_one', 'key_one'))
  assert.deepEqual(
    serve(queue, 200, ({ organizationId }) => organizationId),
    { org_many: 100, org_one: 100 },
  )
})

test('classes have turns as 4 : 1 : a quarter while all of them wait, between organizations and between the keys of one', () => {
  for (const ids of [
    ['org_a', 'org_b', 'org_c'],
    ['org', 'org', 'org'],
  ]) {
    const queue = new FairQueue<Entry>()
    for (const [index, priority] of priorities.entries())
      for (let round = 0; round < 300; round++)
        queue.push({ owner: { organizationId: ids[index] ?? '', apiKeyId: `key_${priority}`, priority }, cost: 1 })
    const turns = serve(queue, 210, ({ priority = '' }) => priority)
    assert.ok(Math.abs((turns['interactive'] ?? 0) - 160) <= 2, JSON.stringify(turns))
    assert.ok(Math.abs((turns['standard'] ?? 0) - 40) <= 2, JSON.stringify(turns))
    assert.ok(Math.abs((turns['batch'] ?? 0) - 10) <= 2, JSON.stringify(turns))
  }
})

test('the keys of one organization share alike, by cost and not by number', () => {
  const queue = new FairQueue<Entry>()
  for (let round = 0; round < 300; round++) {
    queue.push(entryOf('org', 'key_small', 1))
    queue.push(entryOf('org', 'key_large', 9))
  }
  const turns = serve(queue, 200, ({ apiKeyId }) => apiKeyId)
  assert.deepEqual(turns, { key_small: 180, key_large: 20 })
})

test('within a key the order is that of arrival, and one that gives up leaves no gap', () => {
  const queue = new FairQueue<Entry>()
  const entries = [1, 2, 3].map((cost) => entryOf('org', 'key', cost))
  for (const entry of entries) queue.push(entry)
  queue.remove(entries[1]!)
  queue.remove(entries[1]!)
  assert.deepEqual([queue.take(), queue.take(), queue.take()], [entries[0], entries[2], null])
})

test('idling earns no credit, and what was served too much is not forgiven by a pause', () => {
  const queue = new FairQueue<Entry>()
  const busy = () => queue.push(entryOf('org', 'key_busy', 10))
  for (let round = 0; round < 200; round++) busy()
  serve(queue, 100, ({ apiKeyId }) => apiKeyId)
  for (let round = 0; round < 100; round++) queue.push(entryOf('org', 'key_idle', 10))
  // It had nothing while the other was served a hundred times, and gets its half from now on.
  assert.deepEqual(
    serve(queue, 20, ({ apiKeyId }) => apiKeyId),
    { key_busy: 10, key_idle: 10 },
  )
  queue.push(entryOf('org', 'key_large', 1_000))
  serve(queue, 3, ({ apiKeyId }) => apiKeyId)
  queue.push(entryOf('org', 'key_large', 1_000))
  assert.equal(serve(queue, 150, ({ apiKeyId }) => apiKeyId)['key_large'], undefined)
})

test('the order in which entries are foretold is the one that comes about', () => {
  const random = createRandom(7)
  const queue = new FairQueue<Entry>()
  for (let count = 0; count < 60; count++) {
    queue.push(entryOf(`org_${random.integer(1, 3)}`, `key_${random.integer(1, 3)}`, random.integer(1, 50)))
  }
  const foretold = queue.upcoming(60, ({ cost }) => cost)
  const came = foretold.map(() => {
    const entry = queue.take()
    if (entry !== null) queue.charge(entry.owner, entry.cost)
    return entry
  })
  assert.deepEqual(came, foretold)
  assert.equal(queue.take(), null)
})

// A model of what an engine does to the queue: requests come and give up, several run at a
// time, prompts turn out to be cached, answers grow and end whenever they like.

const slots = 4
const inputMax = 2_000
const outputMax = 400
/** Neither of two who wait all the time is ever further ahead than a prompt and what all slots can still put out. */
const bound = 2 * (inputMax + slots * outputMax)

type Run = { readonly owner: Owner; output: number; isCached: boolean; readonly input: number }

/** The claimants whose service is compared, and since when both of two have been waiting. */
class Comparison {
  readonly #served = new Map<string, number>()
  readonly #since = new Map<string, number>()
  worst = 0

  serve(id: string, cost: number): void {
    this.#served.set(id, (this.#served.get(id) ?? 0) + cost)
  }

  check(ids: readonly string[], isWaiting: (id: string) => boolean): void {
    for (const [index, a] of ids.entries()) for (const b of ids.slice(index + 1)) this.#checkPair(a, b, isWaiting)
  }

  #checkPair(a: string, b: string, isWaiting: (id: string) => boolean): void {
    const pair = `${a} ${b}`
    if (!isWaiting(a) || !isWaiting(b)) return void this.#since.delete(pair)
    const difference = (this.#served.get(a) ?? 0) - (this.#served.get(b) ?? 0)
    const since = this.#since.get(pair) ?? difference
    this.#since.set(pair, since)
    this.worst = Math.max(this.worst, Math.abs(difference - since))
  }
}

for (const seed of [1, 2, 3]) {
  test(`no two who both wait drift apart in 100,000 random steps (seed ${seed})`, () => {
    const random = createRandom(seed)
    const queue = new FairQueue<Entry>()
    const owners = ['a 1', 'a 2', 'a 3', 'a 4', 'b 1', 'c 1', 'c 2'].map((name) => {
      const [organization = '', key = ''] = name.split(' ')
      return { organizationId: organization, apiKeyId: organization + key }
    })
    const waiting = new Map<string, Entry[]>(owners.map(({ apiKeyId }) => [apiKeyId, []]))
    const [organizations, keys] = [new Comparison(), new Comparison()]
    let running: Run[] = []

    const charge = (owner: Owner, cost: number) => {
      queue.charge(owner, cost)
      organizations.serve(owner.organizationId, cost)
      keys.serve(owner.apiKeyId, cost)
    }
    const arrive = () => {
      // Some keys always have more to ask; the others come now and then, with requests of another size.
      const owner = random.pick(owners)
      const isGreedy = owner.apiKeyId.endsWith('1')
      const line = waiting.get(owner.apiKeyId)!
      if (line.length >= (isGreedy ? 30 : 3)) return
      const entry = { owner, cost: random.integer(1, isGreedy ? 100 : inputMax) }
      line.push(entry)
      queue.push(entry)
    }
    const giveUp = () => {
      const line = waiting.get(random.pick(owners).apiKeyId)!
      if (line.length === 0) return
      const [entry] = line.splice(random.integer(0, line.length - 1), 1)
      queue.remove(entry!)
    }
    const grow = () => {
      if (running.length === 0) return
      const run = random.pick(running)
      if (!run.isCached && run.output === 0 && random.chance(0.3)) {
        run.isCached = true
        charge(run.owner, -Math.round(run.input * 0.9))
      }
      const more = Math.min(outputMax - run.output, random.integer(0, 100))
      run.output += more
      charge(run.owner, more)
    }
    const end = () => {
      if (running.length === 0) return
      const run = random.pick(running)
      running = running.filter((other) => other !== run)
      queue.end(run.owner)
    }
    const fill = () => {
      while (running.length < slots) {
        const entry = queue.take()
        if (entry === null) return
        const line = waiting.get(entry.owner.apiKeyId)!
        assert.equal(line.shift(), entry)
        running.push({ owner: entry.owner, input: entry.cost, output: 0, isCached: false })
        charge(entry.owner, entry.cost)
      }
    }

    const keyIsWaiting = (key: string) => waiting.get(key)!.length > 0
    const organizationIsWaiting = (id: string) =>
      owners.some(({ organizationId, apiKeyId }) => organizationId === id && keyIsWaiting(apiKeyId))
    for (let step = 0; step < 100_000; step++) {
      random.pick([arrive, arrive, arrive, grow, grow, grow, end, giveUp])()
      fill()
      assert.equal(running.length === slots || queue.upcoming(1, () => 0).length === 0, true, 'a slot is idle')
      organizations.check(['a', 'b', 'c'], organizationIsWaiting)
      for (const id of ['a', 'b', 'c']) {
        const own = owners.filter(({ organizationId }) => organizationId === id).map(({ apiKeyId }) => apiKeyId)
        keys.check(own, keyIsWaiting)
      }
    }
    assert.ok(organizations.worst <= bound, `organizations drift apart by ${organizations.worst} of ${bound}`)
    assert.ok(keys.worst <= bound, `keys drift apart by ${keys.worst} of ${bound}`)
  })
}
