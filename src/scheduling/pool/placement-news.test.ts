import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { blockTokens, hashBlocks } from './block-index.ts'
import { OwnedSlots } from './owned-slots.ts'
import { PlacementNews } from './placement-news.ts'
import { PoolQueue } from './pool-queue.ts'
import { ReplicaLoad } from './replica-load.ts'

const never = new AbortController().signal
const settle = () => new Promise((resolve) => setImmediate(resolve))

function prompt(start: number, blocks: number): Uint32Array {
  return Uint32Array.from({ length: blocks * blockTokens }, (_, at) => start * 1_000 + at)
}

/** Gateways that hear of each other as soon as something is told. */
function openGateways({ count = 2, runningMax = 100, replicas: replicaCount = 4 } = {}) {
  const clock = createManualClock()
  const told: string[] = []
  const hearers = new Set<(text: string) => void>()
  let isCut = false
  const state = { isAway: false }
  const channel = {
    send: (news: readonly string[]) => {
      if (state.isAway) return Promise.reject(new Error('The database is away.'))
      told.push(...news)
      if (!isCut) for (const text of news) for (const hear of hearers) hear(text)
      return Promise.resolve()
    },
    subscribe(hear: (text: string) => void) {
      hearers.add(hear)
      return () => hearers.delete(hear)
    },
  }
  const gateways = Array.from({ length: count }, (_, number) => {
    const replicas = Array.from({ length: replicaCount }, (_one, at) => {
      const load = new ReplicaLoad({ id: `http://r${at}`, clock, runningMax, heldTokensMax: 10_000_000 })
      load.share = 1
      return load
    })
    const gatewayId = `gateway ${number}`
    const news = new PlacementNews({
      pool: 'p',
      gatewayId,
      clock,
      channel,
      queue: () => queue,
      replicas: () => replicas,
    })
    const queue: PoolQueue = new PoolQueue({ clock, replicas: () => replicas, observer: news })
    const ask = (tokens: Uint32Array, organizationId = 'a', signal = never) =>
      queue.place(
        {
          owner: { organizationId, apiKeyId: 'k' },
          tokens: tokens.length,
          chain: hashBlocks(tokens, organizationId),
          excluded: new Set(),
        },
        signal,
      )
    return { replicas, news, queue, ask }
  })
  const [first, second] = gateways
  if (first === undefined || second === undefined) throw new Error('There are two.')
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      clock.advance(50)
      await settle()
    }
  }
  const tell = (text: string) => {
    for (const hear of hearers) hear(text)
  }
  return { clock, told, tell, first, second, pass, cut: () => (isCut = true), channel: state }
}

describe('gateways that use the same replicas', () => {
  it('send a prompt to where another of them has sent its beginning', async () => {
    const { first, second, pass } = openGateways()
    const placed = await first.ask(prompt(1, 1_500))
    placed.prefilled(0)
    placed.end(1)
    await pass(100)
    const next = await second.ask(Uint32Array.from([...prompt(1, 1_500), ...prompt(9, 3)]))
    equal(next.replica.id, placed.replica.id)
    equal(next.reason.matchedTokens, 1_500 * blockTokens)
  })

  it('count what another one has under way at a replica, until that is over or the other is gone', async () => {
    const { first, second, pass, cut } = openGateways({ replicas: 1 })
    const one = await first.ask(prompt(1, 20))
    const two = await first.ask(prompt(2, 20))
    await pass(100)
    equal(second.replicas[0]?.outstanding, 40 * blockTokens)
    one.prefilled(0)
    one.end(5)
    await pass(100)
    equal(second.replicas[0]?.outstanding, 20 * blockTokens)
    await pass(3_000)
    equal(second.replicas[0]?.outstanding, 20 * blockTokens)
    cut()
    await pass(1_300)
    equal(second.replicas[0]?.outstanding, 0)
    two.end(1)
  })

  it('give a replica no more answers together than it makes at a time', async () => {
    const { first, second, pass } = openGateways({ replicas: 1, runningMax: 2 })
    const one = await first.ask(prompt(1, 1))
    await first.ask(prompt(2, 1))
    await pass(100)
    let isPlaced = false
    void second.ask(prompt(3, 1)).then(() => (isPlaced = true))
    await pass(100)
    equal(isPlaced, false)
    one.end(1)
    await pass(200)
    equal(isPlaced, true)
  })

  it('leave room to a request that has waited longer at another one, and take it when that one does not', async () => {
    const { first, second, pass, cut } = openGateways({ replicas: 1, runningMax: 1 })
    const running = await first.ask(prompt(1, 1))
    const order: string[] = []
    void first.ask(prompt(2, 1)).then(() => order.push('first'))
    await pass(100)
    void second.ask(prompt(3, 1)).then(() => order.push('second'))
    await pass(100)
    running.end(1)
    await settle()
    deepEqual(order, ['first'])

    const others = openGateways({ replicas: 1, runningMax: 1 })
    await others.first.ask(prompt(1, 1))
    void others.first.ask(prompt(2, 1))
    await others.pass(100)
    let isPlaced = false
    void others.second.ask(prompt(3, 1)).then(() => (isPlaced = true))
    await others.pass(100)
    others.cut()
    await others.pass(1_500)
    equal(isPlaced, true)
    cut()
  })

  it('think nothing of a request that has left another one, although the news of that were lost', async () => {
    const { first, second, pass, channel } = openGateways({ replicas: 1, runningMax: 1 })
    const running = await first.ask(prompt(1, 1))
    const controller = new AbortController()
    // All the room that there is would be left to it.
    const left = first.ask(prompt(2, 80), 'a', controller.signal)
    await pass(100)
    channel.isAway = true
    controller.abort(new Error('left'))
    await rejects(left, /left/)
    await pass(150)
    channel.isAway = false
    await pass(2_000)
    let isPlaced = false
    void second.ask(prompt(3, 1)).then(() => (isPlaced = true))
    await pass(100)
    running.end(1)
    await pass(100)
    equal(isPlaced, true)
  })

  it('say of a thousand requests that they wait still, and none of them is taken to be gone', async () => {
    const { first, second, told, pass } = openGateways({ replicas: 1, runningMax: 1 })
    await first.ask(prompt(1, 1))
    for (let number = 2; number < 1_202; number++) void first.ask(prompt(number, 1))
    await pass(3_000)
    ok(told.some((text) => (JSON.parse(text) as { still: unknown[] }).still.length > 1))
    for (const text of told) ok(Buffer.byteLength(text) < 8_000, String(text.length))
    const [replica] = second.replicas
    ok(replica !== undefined)
    replica.runningMax = 2
    let isPlaced = false
    void second.ask(prompt(5_000, 1)).then(() => (isPlaced = true))
    await settle()
    // All the room that there is is left to those that have waited for longer.
    equal(isPlaced, false)
  })

  it('learn how fast a replica is although others keep it busy as well', async () => {
    const { first, second, clock, pass } = openGateways({ replicas: 1 })
    // Both give it a prompt of 1,280 tokens at once, which takes it 640 ms, one behind the other.
    const [one, two] = [await first.ask(prompt(1, 20)), await second.ask(prompt(2, 20))]
    await pass(640)
    one.prefilled(0)
    await pass(640)
    two.prefilled(0)
    await pass(200)
    const [three, four] = [await first.ask(prompt(3, 20)), await second.ask(prompt(4, 20))]
    await pass(640)
    three.prefilled(0)
    await pass(640)
    four.prefilled(0)
    await pass(200)
    const last = await second.ask(prompt(5, 20))
    clock.advance(640)
    last.prefilled(0)
    const pace = second.replicas[0]?.tokensPerSecond ?? 0
    ok(pace > 1_900 && pace <= 2_000, String(pace))
  })

  it('choose no slot that another one uses, and go on from nothing that another one has put there', async () => {
    const { first, second, pass, cut } = openGateways({ replicas: 1, runningMax: 2 })
    const [one, two] = [new OwnedSlots(2), new OwnedSlots(2)]
    Object.assign(first.replicas[0] ?? {}, { slots: one })
    Object.assign(second.replicas[0] ?? {}, { slots: two })
    const use = async (gateway: typeof first, slots: OwnedSlots, organizationId = 'a') => {
      const placement = await gateway.ask(prompt(1, 9))
      const slot = slots.take(organizationId, hashBlocks(prompt(1, 9), organizationId))
      ok(slot !== null)
      await pass(150)
      const leave = async () => {
        slots.release(slot)
        placement.end(1)
        await pass(150)
      }
      return { slot, leave }
    }
    const both = [await use(first, one), await use(second, two)]
    deepEqual(
      both.map(({ slot }) => slot.id),
      [0, 1],
    )
    for (const { leave } of both) await leave()
    const again = await use(first, one)
    deepEqual(again.slot, { id: 0, mayReuse: true })
    await again.leave()
    const other = await use(second, two, 'b')
    deepEqual(other.slot, { id: 0, mayReuse: false })
    await other.leave()
    const last = await use(first, one)
    equal(last.slot.mayReuse, false)
    await last.leave()
    // What a gateway has used that is gone is free.
    const { slot: lost } = await use(second, two)
    cut()
    await pass(1_500)
    const taken = [one.take('a', hashBlocks(prompt(1, 9), 'a')), one.take('a', hashBlocks(prompt(1, 9), 'a'))]
    ok(taken.some((slot) => slot?.id === lost.id))
  })

  it('write no notice that PostgreSQL would not carry, however long prompts are and however many', async () => {
    const { first, second, told, pass } = openGateways({ replicas: 30, runningMax: 2 })
    for (let number = 0; number < 90; number++) void first.ask(prompt(number, number % 3 === 0 ? 700 : 9))
    await pass(300)
    ok(told.length > 10)
    for (const text of told) ok(Buffer.byteLength(text) < 8_000, String(text.length))
    const sum = (gateway: typeof first) => gateway.replicas.reduce((all, { outstanding }) => all + outstanding, 0)
    equal(sum(second), sum(first))
    for (const [at, replica] of first.replicas.entries()) equal(second.replicas[at]?.index.size, replica.index.size)
  })

  it('say nothing while nothing is under way', async () => {
    const { first, told, pass } = openGateways()
    const placed = await first.ask(prompt(1, 3))
    await pass(1_000)
    placed.end(1)
    await pass(500)
    const before = told.length
    await pass(5_000)
    equal(told.length, before)
  })

  it('hear nothing of what is no notice, or not one of their pool', async () => {
    const { first, second, told, tell, pass } = openGateways({ replicas: 1 })
    await first.ask(prompt(1, 5))
    await pass(100)
    const notice = JSON.parse(told[0] ?? '') as Record<string, unknown>
    const loads = [[0, 999_999, 9, null]]
    for (const changes of [{ pool: 'other' }, { gateway: 'gateway 1' }, { replicas: 5 }, { computed: null }])
      tell(JSON.stringify({ ...notice, loads, ...changes }))
    for (const text of ['', 'null', '[]', '{', '{}', '"x"']) tell(text)
    equal(second.replicas[0]?.outstanding, 5 * blockTokens)
    tell(JSON.stringify({ ...notice, loads }))
    equal(second.replicas[0]?.outstanding, 999_999)
  })
})
