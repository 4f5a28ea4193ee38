import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import fc from 'fast-check'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import type { Priority } from '../../core/tier.ts'
import { BlockIndex, blockTokens, hashBlocks } from './block-index.ts'
import { OwnedSlots } from './owned-slots.ts'
import { PoolQueue, type Placement } from './pool-queue.ts'
import { ReplicaHealth } from './replica-health.ts'
import { ReplicaLoad } from './replica-load.ts'
import { RetryBudget } from './retry-budget.ts'

const never = new AbortController().signal

function prompt(start: number, blocks: number): Uint32Array {
  return Uint32Array.from({ length: blocks * blockTokens }, (_, at) => start + Math.floor(at / blockTokens))
}

describe('the index of blocks', () => {
  it('finds how much of a prompt is held, and nothing for another organization', () => {
    const index = new BlockIndex(1_000_000)
    const held = prompt(1, 20)
    index.add(hashBlocks(held, 'a'))
    equal(index.depth(hashBlocks(held, 'a')), 20)
    equal(index.depth(hashBlocks(Uint32Array.from([...held.slice(0, 7 * blockTokens), ...prompt(99, 5)]), 'a')), 7)
    equal(index.depth(hashBlocks(held, 'b')), 0)
    equal(index.depth(hashBlocks(held.slice(0, 63), 'a')), 0)
  })

  it('forgets the ends of what was used longest ago first', () => {
    const index = new BlockIndex(10 * blockTokens)
    const [old, recent] = [hashBlocks(prompt(1, 6), 'a'), hashBlocks(prompt(100, 6), 'a')]
    index.add(old)
    index.add(recent)
    deepEqual([index.depth(recent), index.depth(old), index.size], [6, 4, 10])
  })

  it('gives up a part of what it believes when the replica has forgotten something', () => {
    const index = new BlockIndex(1_000_000)
    const chain = hashBlocks(prompt(1, 10), 'a')
    index.add(chain)
    index.forgetOldest()
    equal(index.depth(chain), 8)
  })
})

test('further tries are a fifth of what is under way, and sixteen at the least', () => {
  const budget = new RetryBudget()
  const take = () => Array.from({ length: 100 }, () => budget.take()).filter(Boolean).length
  equal(take(), 16)
  for (let request = 0; request < 200; request++) budget.begin()
  equal(take(), 24)
  budget.give()
  equal(take(), 1)
})

describe('slots of a replica that does not keep organizations apart', () => {
  const [chain, other] = [hashBlocks(prompt(1, 8), ''), hashBlocks(prompt(50, 8), '')]

  it('are gone on from by the organization whose they are, and by nobody else', () => {
    const slots = new OwnedSlots(2)
    const first = slots.take('a', chain)
    deepEqual(first, { id: 0, mayReuse: false })
    slots.release(first!)
    deepEqual(slots.take('b', chain), { id: 1, mayReuse: false })
    deepEqual(slots.take('a', chain), { id: 0, mayReuse: true })
    equal(slots.take('a', other), null)
  })

  it('are chosen by what of the prompt they hold', () => {
    const slots = new OwnedSlots(3)
    const taken = [slots.take('a', chain)!, slots.take('a', other)!]
    for (const slot of taken) slots.release(slot)
    deepEqual(slots.take('a', other), { id: 1, mayReuse: true })
  })
})

describe('the health of a replica', () => {
  const open = (random = 0) => {
    const clock = createManualClock()
    const health = new ReplicaHealth({ clock, random: () => random })
    health.proved()
    return { clock, health }
  }

  it('is given up at the first refused connection, and at the third failure in a row otherwise', () => {
    for (const kind of ['refused', 'lied'] as const) {
      const { health } = open()
      ok(health.failed(kind, 'x'))
      equal(health.state, 'ejected')
    }
    const { health } = open()
    deepEqual(
      [1, 2].map(() => health.failed('timeout', 'x')),
      [false, false],
    )
    health.succeeded()
    deepEqual(
      [1, 2, 3].map(() => health.failed('status', 'x')),
      [false, false, true],
    )
    const late = open().health
    deepEqual(
      [1, 2, 3].map(() => late.failed('unconnected', 'x')),
      [false, false, true],
    )
    ok(late.isUnreachable)
  })

  it('comes back with its first good check and at once where it is alone, unless it lies', () => {
    for (const kind of ['refused', 'unwell', 'unconnected', 'lied'] as const) {
      const { health } = open()
      while (!health.failed(kind, 'x'));
      deepEqual([health.checked(false, true), health.checked(true, true)], [false, kind !== 'lied'])
      health.proved(true)
      equal(health.share, 1)
    }
  })

  it('comes back after its pause and two good checks in a row, and then slowly', () => {
    const { clock, health } = open()
    health.failed('refused', 'x')
    deepEqual([health.checked(true), health.checked(true)], [false, false])
    clock.advance(5_001)
    equal(health.checked(false), false)
    deepEqual([health.checked(true), health.checked(true)], [false, true])
    health.proved()
    ok(Math.abs(health.share - 0.1) < 0.01)
    clock.advance(15_000)
    ok(Math.abs(health.share - 0.55) < 0.01)
    clock.advance(15_000)
    equal(health.share, 1)
  })

  it('stays away longer each time, a quarter spread, and five minutes at the most', () => {
    const { clock, health } = open(1)
    for (const pauseMs of [6_250, 12_500, 18_750]) {
      health.failed('refused', 'x')
      health.checked(true)
      clock.advance(pauseMs - 1)
      equal(health.checked(true), false)
      clock.advance(1)
      ok(health.checked(true))
      health.proved()
    }
    for (let time = 0; time < 100; time++) {
      health.failed('refused', 'x')
      clock.advance(375_000)
      health.checked(true)
      ok(health.checked(true))
      health.proved()
    }
  })
})

type Setting = { readonly replicas?: number; readonly runningMax?: number }

function openQueue({ replicas: count = 2, runningMax = 100 }: Setting = {}) {
  const clock = createManualClock()
  const replicas = Array.from({ length: count }, (_, number) => {
    const load = new ReplicaLoad({ id: `replica-${number}`, clock, runningMax, heldTokensMax: 1_000_000 })
    load.share = 1
    return load
  })
  const queue = new PoolQueue({ clock, replicas: () => replicas })
  const ask = (tokens: Uint32Array, organizationId = 'a', excluded: readonly string[] = []) =>
    queue.place(
      {
        owner: { organizationId, apiKeyId: 'k' },
        tokens: tokens.length,
        chain: hashBlocks(tokens, organizationId),
        excluded: new Set(excluded),
      },
      never,
    )
  return { clock, replicas, queue, ask }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('the queue of a pool', () => {
  it('sends a prompt to the replica that holds its beginning', async () => {
    const { ask, clock } = openQueue({ replicas: 8 })
    const first = await ask(prompt(1, 20))
    first.prefilled(0)
    first.end(10)
    for (let turn = 0; turn < 5; turn++) {
      clock.advance(10)
      const next = await ask(Uint32Array.from([...prompt(1, 20), ...prompt(1_000 + turn, 2)]))
      equal(next.replica, first.replica)
      equal(next.reason.matchedTokens, 20 * blockTokens)
      next.end(1)
    }
  })

  it('keeps what no replica has room for, and places it when one has', async () => {
    const { ask, queue } = openQueue({ replicas: 1, runningMax: 1 })
    const first = await ask(prompt(1, 1))
    let second: Placement | null = null
    void ask(prompt(2, 1)).then((placement) => (second = placement))
    await settle()
    deepEqual([second, queue.waiting], [null, 1])
    first.end(0)
    await settle()
    ok(second !== null)
    equal(queue.waiting, 0)
  })

  it('gives no replica more prompts than it has computed in half a second', async () => {
    const { ask, queue, replicas } = openQueue({ replicas: 1 })
    for (let request = 0; request < 5; request++) void ask(prompt(request * 1_000, 40))
    await settle()
    equal(queue.waiting, 3)
    ok((replicas[0]?.outstanding ?? 0) >= 4_096)
  })

  it('waits a moment for the replica that holds a prompt, and no longer than computing it anew takes', async () => {
    const { ask, clock, replicas } = openQueue({ replicas: 2, runningMax: 1 })
    const first = await ask(prompt(1, 30))
    first.prefilled(0)
    let second: Placement | null = null
    void ask(prompt(1, 30)).then((placement) => (second = placement))
    await settle()
    equal(second, null)
    clock.advance(200)
    await settle()
    equal(second, null)
    clock.advance(40)
    await settle()
    equal(
      (second as Placement | null)?.replica,
      replicas.find((replica) => replica !== first.replica),
    )
  })

  it('keeps requests that begin alike for the replica that computes their beginning, until others would have it sooner', async () => {
    const { ask, clock } = openQueue({ replicas: 4 })
    const first = await ask(prompt(1, 100))
    const placed: Placement[] = []
    const askAlike = (number: number) => {
      const alike = Uint32Array.from([...prompt(1, 100), ...prompt(1_000 + number * 10, 10)])
      void ask(alike).then((placement) => placed.push(placement))
    }
    clock.advance(400)
    for (let number = 0; number < 3; number++) askAlike(number)
    await settle()
    // It has 380 ms to go and 80 for each of them, where another would take 860.
    equal(placed.length, 0)
    for (let number = 3; number < 12; number++) askAlike(number)
    await settle()
    ok(placed.length > 0 && placed.every(({ replica }) => replica !== first.replica))
    const elsewhere = placed.length
    clock.advance(381)
    first.prefilled(0)
    await settle()
    ok(placed.slice(elsewhere).some(({ replica }) => replica === first.replica))
  })

  it('does not let one prompt that is held by few replicas wait for them for ever', async () => {
    const { ask, clock, queue } = openQueue({ replicas: 2, runningMax: 1 })
    const first = await ask(prompt(1, 30))
    first.prefilled(0)
    let placed = 0
    for (let request = 0; request < 200; request++)
      void ask(prompt(1, 30)).then((placement) => {
        placed += 1
        placement.prefilled(null)
        setImmediate(() => placement.end(0))
      })
    clock.advance(300)
    for (let turn = 0; turn < 500 && placed < 200; turn++) await settle()
    equal(placed, 200)
    equal(queue.waiting, 0)
  })

  it('takes from a replica that says it only at the end how much of a prompt it had', async () => {
    const { ask, replicas } = openQueue({ replicas: 1 })
    for (const cached of [0, 640]) {
      const placement = await ask(prompt(1, 20))
      placement.prefilled(null)
      placement.held(cached)
      placement.end(1)
    }
    equal(replicas[0]?.hitRate, 0.25)
    // It had less than it was believed to have, so the last blocks of what it was given first are given up.
    equal((await ask(prompt(1, 20))).reason.matchedTokens, 16 * blockTokens)
  })

  it('measures how fast a replica computes, one prompt behind another', async () => {
    const { ask, clock, replicas } = openQueue({ replicas: 1 })
    const placements = [await ask(prompt(1, 20)), await ask(prompt(1_000, 20)), await ask(prompt(2_000, 20))]
    for (const placement of placements) {
      clock.advance(640)
      placement.prefilled(0)
    }
    equal(replicas[0]?.tokensPerSecond, 2_000)
  })

  it('tries a replica again whose first prompts took a hundred times as long as its later ones do', async () => {
    const { ask, clock, replicas } = openQueue()
    const [slow] = replicas
    let start = 1
    const run = async () => {
      const placement = await ask(prompt((start += 1_000), 20))
      const isSlow = placement.replica === slow
      clock.advance(isSlow && slow?.tokensPerSecond === null ? 4_000 : 40)
      placement.prefilled(0)
      placement.end(0)
      clock.advance(1_000)
      return isSlow
    }
    const given: boolean[] = []
    for (let request = 0; request < 600; request++) given.push(await run())
    const first = given.indexOf(true)
    const silence = given.indexOf(true, first + 1) - first
    ok(silence > 60 && silence < 450, `tried again after ${silence} requests`)
    ok((slow?.tokensPerSecond ?? 0) > 5_000, `${slow?.tokensPerSecond} tokens a second are believed`)
    const share = given.slice(-100).filter(Boolean).length
    ok(share > 20, `${share} of the last hundred`)
  })

  it('places a better class first, and a batch that has waited long before what comes later', async () => {
    const { clock, queue, ask } = openQueue({ replicas: 1, runningMax: 1 })
    const order: string[] = []
    const first = await ask(prompt(1, 1))
    const come = (priority: Priority, start: number) =>
      void queue
        .place(
          {
            owner: { organizationId: 'a', apiKeyId: priority, priority },
            tokens: 64,
            chain: hashBlocks(prompt(start, 1), 'a'),
            excluded: new Set(),
          },
          never,
        )
        .then((placement) => {
          order.push(priority)
          setImmediate(() => placement.end(0))
        })
    come('batch', 10)
    clock.advance(4_000)
    come('standard', 20)
    come('interactive', 30)
    first.end(0)
    for (let turn = 0; turn < 20; turn++) await settle()
    deepEqual(order, ['interactive', 'standard', 'batch'])
    order.length = 0
    const second = await ask(prompt(1, 1))
    come('batch', 40)
    clock.advance(7_000)
    come('interactive', 50)
    second.end(0)
    for (let turn = 0; turn < 20; turn++) await settle()
    deepEqual(order, ['batch', 'interactive'])
  })

  it('never gives a request to a replica that has failed it', async () => {
    const { ask, replicas } = openQueue({ replicas: 3 })
    for (let request = 0; request < 20; request++) {
      const placed = await ask(prompt(request * 100, 2), 'a', ['replica-0', 'replica-2'])
      equal(placed.replica, replicas[1])
      placed.end(0)
    }
  })

  it('lets one organization that asks for little pass by another that floods it', async () => {
    const { ask, clock } = openQueue({ replicas: 1, runningMax: 1 })
    const order: string[] = []
    const run = async (organizationId: string, start: number) => {
      const placed = await ask(prompt(start, 30), organizationId)
      order.push(organizationId)
      clock.advance(10)
      placed.prefilled(0)
      setImmediate(() => placed.end(20))
    }
    const flood = Array.from({ length: 30 }, (_, number) => run('flood', number * 1_000))
    await settle()
    const quiet = Array.from({ length: 3 }, (_, number) => run('quiet', 900_000 + number * 1_000))
    await Promise.all([...flood, ...quiet])
    ok(order.lastIndexOf('quiet') < 14, order.join(' '))
  })

  it('places its own behind any number of requests that another gateway lets wait and does not place', async () => {
    const { queue, ask, clock } = openQueue({ replicas: 1 })
    for (let number = 0; number < 200; number++)
      queue.waitsElsewhere({
        tokens: blockTokens,
        chain: hashBlocks(prompt(number * 10, 1), 'b'),
        organizationId: 'b',
        arrivedMs: clock.monotonicMs(),
        creditMs: 0,
      })
    clock.advance(10)
    const placed = ask(prompt(9_000, 1))
    for (let time = 0; time < 20; time++) clock.advance(100)
    equal(queue.waiting, 0)
    await placed
  })

  it('lets go of whoever leaves', async () => {
    const { queue, ask } = openQueue({ replicas: 1, runningMax: 1 })
    await ask(prompt(1, 1))
    const controller = new AbortController()
    const owner = { organizationId: 'a', apiKeyId: 'k' }
    const waiting = queue.place({ owner, tokens: 1, chain: new Float64Array(), excluded: new Set() }, controller.signal)
    controller.abort(new Error('left'))
    await rejects(waiting, /left/)
    equal(queue.waiting, 0)
  })

  it('loses and doubles no request, whatever comes and goes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(4), fc.nat(5), fc.nat(30)), { maxLength: 60 }), async (steps) => {
        const { ask, clock, replicas, queue } = openQueue({ replicas: 3, runningMax: 2 })
        const running: Placement[] = []
        let asked = 0
        let placed = 0
        for (const [what, which, size] of steps) {
          const replica = replicas[which % 3]
          if (what <= 1) {
            asked += 1
            void ask(prompt(which * 10, size), `org-${which % 2}`).then((placement) => {
              placed += 1
              running.push(placement)
            })
          } else if (what === 2) running.splice(which % Math.max(1, running.length), 1)[0]?.end(size)
          else if (replica !== undefined) replica.share = what === 3 ? 0 : 1
          clock.advance(size)
          queue.changed()
          await settle()
          for (const { running: count } of replicas) ok(count <= 2)
          equal(placed + queue.waiting, asked)
        }
        for (const replica of replicas) replica.share = 1
        for (let turn = 0; turn < 200 && (running.length > 0 || queue.waiting > 0); turn++) {
          running.pop()?.end(1)
          clock.advance(100)
          queue.changed()
          await settle()
        }
        deepEqual(
          [placed, queue.waiting, ...replicas.flatMap((one) => [one.running, one.outstanding])],
          [asked, 0, 0, 0, 0, 0, 0, 0],
        )
      }),
      { numRuns: 40 },
    )
  })
})
