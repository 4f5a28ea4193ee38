import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { createManualClock, type ManualClock } from '../../test/harness/manual-clock.ts'
import { engineRequest } from '../../test/harness/requests.ts'
import { ApiError } from '../core/error.ts'
import { GenerationAborted, zeroUsage, type Usage } from '../core/generation.ts'
import type { Ticket } from './ticket.ts'
import { SlotQueue, type SlotQueueOptions } from './slot-queue.ts'

let clock: ManualClock
beforeEach(() => {
  clock = createManualClock()
})

function createQueue(changes: Partial<SlotQueueOptions> = {}): SlotQueue {
  const limits = { waitingMax: 1_000, waitingBytesMax: 2 ** 30, waitMsMax: 1e9 }
  return new SlotQueue({ ...limits, clock, random: () => 0.5, capacity: () => ({ slots: 2 }), ...changes })
}

const requestOf = (key: string, text = 'x', organizationId = 'org') =>
  engineRequest({
    requestId: `req_${key}`,
    owner: { organizationId, apiKeyId: `key_${key}` },
    messages: [{ role: 'user', content: [{ kind: 'text', text }] }],
  })

/** A request that is prepared at once. */
function enter(queue: SlotQueue, key: string, { inputTokens = 10, text = 'x', organizationId = 'org' } = {}): Ticket {
  const ticket = queue.enqueue(requestOf(key, text, organizationId))
  void queue.slot(ticket, inputTokens).catch(() => {})
  return ticket
}

const usageOf = (inputUncached: number, output = 0): Usage => ({ ...zeroUsage, inputUncached, output })
const isOverloaded = (error: unknown) => error instanceof ApiError && error.code === 'overloaded'
const statesOf = (tickets: readonly Ticket[]) => tickets.map(({ state }) => state)
const idOf = (ticket: Ticket) => ticket.requestId

test('no more requests run than there are slots, and the next begins when one has finished, read or not', () => {
  const queue = createQueue()
  const tickets = ['a', 'b', 'c'].map((key) => enter(queue, key))
  assert.deepEqual(statesOf(tickets), ['running', 'running', 'waiting'])
  assert.deepEqual([queue.running, queue.waiting], [2, 1])
  queue.finish(tickets[0]!, 3)
  assert.deepEqual(statesOf(tickets), ['gone', 'running', 'running'])
  queue.leave(tickets[0]!)
  assert.deepEqual([queue.running, queue.waiting], [2, 0])
})

test('what an engine takes beyond its slots waits until the engine has begun with it', () => {
  const queue = createQueue({ capacity: () => ({ slots: 1, lookAhead: 2 }) })
  const tickets = ['a', 'b', 'c', 'd'].map((key) => enter(queue, key))
  assert.deepEqual(statesOf(tickets), ['running', 'running', 'running', 'waiting'])
  queue.begun(tickets[1]!)
  clock.advance(2_000)
  const { upcoming, ...rest } = queue.status()
  assert.deepEqual(rest, { slots: 1, running: 1, waiting: 3, oldestWaitMs: 2_000 })
  assert.deepEqual(
    upcoming.map(({ requestId }) => requestId),
    ['req_a', 'req_c', 'req_d'],
  )
  queue.leave(tickets[0]!)
  assert.deepEqual(statesOf(tickets), ['gone', 'running', 'running', 'running'])
  for (const ticket of tickets) queue.leave(ticket)
  assert.deepEqual([queue.running, queue.waiting], [0, 0])
})

test('a request that is being prepared takes no slot', () => {
  const queue = createQueue({ capacity: () => ({ slots: 1 }) })
  const slow = queue.enqueue(requestOf('slow'))
  assert.equal(enter(queue, 'fast').state, 'running')
  void queue.slot(slow, 10)
  assert.equal(slow.state, 'waiting')
})

test('a ticket that asks for its slot again gets the same answer', async () => {
  const queue = createQueue({ capacity: () => ({ slots: 1 }) })
  const [first, second] = [enter(queue, 'a'), enter(queue, 'b')]
  const again = queue.slot(second, 10)
  assert.equal(queue.status().upcoming.length, 1)
  queue.leave(first)
  await again
  await queue.slot(second, 10)
})

test('a flood displaces its own newest requests and keeps nobody else out', async () => {
  const queue = createQueue({ waitingMax: 4 })
  const flood = Array.from({ length: 6 }, () => enter(queue, 'flood'))
  assert.throws(() => enter(queue, 'flood'), isOverloaded)
  const quiet = enter(queue, 'quiet')
  assert.deepEqual(statesOf(flood), ['running', 'running', 'waiting', 'waiting', 'waiting', 'gone'])
  await assert.rejects(queue.slot(flood[5]!, 10), isOverloaded)
  const [other] = [enter(queue, 'other', { organizationId: 'org_other' }), enter(queue, 'more')]
  assert.deepEqual(statesOf([...flood.slice(2), quiet, other]), [
    'waiting',
    'gone',
    'gone',
    'gone',
    'waiting',
    'waiting',
  ])
  // Whoever holds as much as the others is the one to go.
  assert.throws(() => enter(queue, 'quiet'), isOverloaded)
  assert.equal(queue.waiting, 4)
})

test('what waits is bounded by the bytes of its texts too, and a single request is never too large', () => {
  const queue = createQueue({ capacity: () => ({ slots: 1 }), waitingBytesMax: 10_000 })
  enter(queue, 'running', { text: 'x'.repeat(50_000) })
  const large = enter(queue, 'a', { text: 'é'.repeat(20_000) })
  assert.throws(() => enter(queue, 'a'), /Too much text/)
  enter(queue, 'b', { text: 'x'.repeat(4_000) })
  assert.equal(large.state, 'gone')
  enter(queue, 'b', { text: 'x'.repeat(4_000) })
  assert.throws(() => enter(queue, 'b', { text: 'x'.repeat(4_000) }), /Too much text/)
  assert.equal(queue.waiting, 2)
})

test('a request that waited too long is refused before it is begun; one that runs may take its time', async () => {
  const queue = createQueue({ capacity: () => ({ slots: 1 }), waitMsMax: 300_000 })
  const first = enter(queue, 'a')
  const late = enter(queue, 'b')
  clock.advance(200_000)
  const deadline = enter(queue, 'c')
  clock.advance(100_000)
  await assert.rejects(queue.slot(late, 10), isOverloaded)
  assert.deepEqual(statesOf([first, late, deadline]), ['running', 'gone', 'waiting'])
  queue.leave(first)
  assert.equal(deadline.state, 'running')
  clock.advance(1e6)
  assert.equal(deadline.state, 'running')
})

test('the further answers to a request that is begun may take their time', () => {
  const queue = createQueue({ capacity: () => ({ slots: 1 }), waitMsMax: 1_000 })
  const answers = ['a', 'a', 'a'].map((key) => queue.enqueue(requestOf(key)))
  for (const answer of answers) void queue.slot(answer, 10)
  clock.advance(5_000)
  assert.deepEqual(statesOf(answers), ['running', 'waiting', 'waiting'])
})

test('whoever leaves while waiting leaves no trace, neither room nor ticket nor charge', async () => {
  const queue = createQueue({ capacity: () => ({ slots: 1 }), waitingMax: 2 })
  const running = enter(queue, 'a')
  for (let round = 0; round < 100; round++) {
    const [prepared, preparing] = [enter(queue, 'b'), queue.enqueue(requestOf('c'))]
    queue.refuse(prepared, new GenerationAborted(zeroUsage))
    queue.refuse(preparing, new GenerationAborted(zeroUsage))
    await assert.rejects(queue.slot(preparing, 10), GenerationAborted)
  }
  assert.deepEqual([queue.running, queue.waiting, queue.status().oldestWaitMs], [1, 0, 0])
  const [later, first] = [enter(queue, 'a'), enter(queue, 'b')]
  assert.deepEqual(statesOf([later, first]), ['waiting', 'waiting'])
  queue.leave(running)
  assert.deepEqual(statesOf([later, first]), ['waiting', 'running'])
})

test('one that was stopped before anything was computed is charged nothing, and what was cached a tenth', () => {
  const queue = createQueue({ capacity: () => ({ slots: 1 }) })
  const blocking = enter(queue, 'z')
  const next = () => queue.status().upcoming.map(({ requestId }) => requestId)
  const stopped = enter(queue, 'a', { inputTokens: 5_000 })
  queue.leave(blocking)
  queue.charge(stopped, zeroUsage)
  assert.equal(stopped.charged, 0)
  queue.charge(stopped, { ...zeroUsage, inputCacheRead: 5_000 })
  assert.equal(stopped.charged, 500)
  enter(queue, 'a', { inputTokens: 1 })
  enter(queue, 'b', { inputTokens: 1 })
  assert.deepEqual(next(), ['req_b', 'req_a'])
})

test('waiting requests are listed with position, size and time, in the order in which they begin', () => {
  const queue = createQueue({ capacity: () => ({ slots: 1 }) })
  let running = enter(queue, 'a')
  const waiting = ['a', 'a', 'b', 'c', 'a', 'b'].map((key) => enter(queue, key))
  const preparing = queue.enqueue(requestOf('d'))
  clock.advance(1_500)
  const { upcoming, ...rest } = queue.status()
  assert.deepEqual(rest, { slots: 1, running: 1, waiting: 7, oldestWaitMs: 1_500 })
  const { requestId, ...others } = upcoming[0]!
  assert.deepEqual(others, {
    model: 'clarke-1.0',
    organizationId: 'org',
    apiKeyId: requestId.replace('req', 'key'),
    inputTokens: 10,
    waitedMs: 1_500,
  })
  assert.deepEqual([upcoming.at(-1)?.requestId, upcoming.at(-1)?.inputTokens], [idOf(preparing), null])
  const began = waiting.map(() => {
    queue.leave(running)
    running = waiting.find(({ state }) => state === 'running')!
    return running.requestId
  })
  assert.deepEqual(
    began,
    upcoming.slice(0, -1).map((request) => request.requestId),
  )
})

test('those who are refused are told to come back as fast as the queue moves', () => {
  const queue = createQueue({ capacity: () => ({ slots: 1 }), waitingMax: 10 })
  let running = enter(queue, 'a')
  const retryAfter = () => {
    try {
      queue.enqueue(requestOf('a'))
    } catch (error) {
      if (error instanceof ApiError && error.reason.code === 'overloaded') return error.reason.retryAfterMs
    }
    return assert.fail('It is not refused.')
  }
  const waiting = Array.from({ length: 10 }, () => enter(queue, 'a'))
  assert.equal(retryAfter(), 10_000)
  clock.advance(500)
  queue.leave(running)
  enter(queue, 'a')
  assert.equal(retryAfter(), 2_500)
  running = waiting.find(({ state }) => state === 'running')!
  clock.advance(3_600_000)
  queue.leave(running)
  enter(queue, 'a')
  assert.equal(retryAfter(), 35_000)
})

type Size = { readonly input: number; readonly output: number }

/** Two slots; a prompt's token takes a tenth of a millisecond and an answer's one. */
const durationOf = ({ input, output }: Size) => input / 10 + output

const quietSize: Size = { input: 100, output: 200 }

/**
 * Nine keys ask now and then, for half of what two slots can do, and one floods.
 * Returns the longest wait of the nine.
 */
function longestQuietWaitMs(flood: Size | null): number {
  clock = createManualClock()
  const queue = createQueue({ waitingMax: 64 })
  const sizeOf = ({ requestId }: Ticket) => (requestId === 'req_flood' ? (flood ?? quietSize) : quietSize)
  let waiting: Ticket[] = []
  let running: { readonly ticket: Ticket; readonly endMs: number }[] = []
  let longestMs = 0
  const ask = (key: string, { input }: Size) => {
    try {
      waiting.push(enter(queue, key, { inputTokens: input }))
    } catch {
      assert.equal(key, 'flood', 'a quiet key is refused')
    }
  }
  const begin = () => {
    for (const ticket of waiting.filter(({ state }) => state === 'running')) {
      if (ticket.requestId !== 'req_flood') longestMs = Math.max(longestMs, ticket.startedMs - ticket.arrivedMs)
      running.push({ ticket, endMs: ticket.startedMs + durationOf(sizeOf(ticket)) })
    }
    waiting = waiting.filter(({ state }) => state === 'waiting')
  }
  for (let ms = 0; ms < 60_000; ms++) {
    // Fifty times as often as one of the others.
    if (flood !== null && ms % 36 === 0) ask('flood', flood)
    if (ms % 200 === 0) ask(`quiet${(ms / 200) % 9}`, quietSize)
    begin()
    for (const { ticket, endMs } of running) {
      const { input, output } = sizeOf(ticket)
      const usage = usageOf(input, Math.max(0, output - Math.ceil(endMs - ms)))
      queue.charge(ticket, usage)
      if (ms >= endMs) queue.finish(ticket, usage.output)
    }
    running = running.filter(({ ticket }) => ticket.state === 'running')
    clock.advance(1)
  }
  return longestMs
}

for (const [what, flood] of [
  ['as large as the others', quietSize],
  ['that are long prompts', { input: 2_000, output: 1 }],
  ['that are short', { input: 10, output: 10 }],
  ['with long answers', { input: 10, output: 1_000 }],
] as const) {
  test(`a flood of requests ${what} does not hold quiet keys up`, () => {
    assert.equal(longestQuietWaitMs(null), 0)
    const waitMs = longestQuietWaitMs(flood)
    // Nothing that runs is stopped: one has to end first, and the flood may be owed one turn.
    const turnMs = Math.max(durationOf(flood), durationOf(quietSize))
    assert.ok(waitMs <= 2 * turnMs, `a quiet key waited ${waitMs} ms, where a turn takes ${turnMs} ms`)
  })
}

test('an organization that has no slot is a guest beyond those that a flood has taken, one at a time', () => {
  const queue = createQueue({ capacity: () => ({ slots: 4, guestSlots: 1 }) })
  const flood = Array.from({ length: 8 }, () => enter(queue, 'flood', { organizationId: 'org_flood' }))
  assert.equal(queue.running, 4)
  const [quiet, second] = ['a', 'b'].map((key) => enter(queue, key, { organizationId: 'org_quiet' }))
  const third = enter(queue, 'c', { organizationId: 'org_third' })
  assert.deepEqual(statesOf([quiet!, second!, third]), ['running', 'waiting', 'waiting'])
  // The guest has one of all slots as soon as there is one for it, and the next guest may come.
  queue.leave(flood[0]!)
  assert.deepEqual(statesOf([third, flood[4]!]), ['running', 'waiting'])
  assert.equal(queue.running, 5)
})

test('a flood keeps every slot where a guest beyond them serves who asks now and then', () => {
  const queue = createQueue({ capacity: () => ({ slots: 4, guestSlots: 1 }) })
  const flood = Array.from({ length: 12 }, () => enter(queue, 'flood', { organizationId: 'org_flood' }))
  const quiet = enter(queue, 'quiet', { organizationId: 'org_quiet' })
  queue.finish(quiet, 3)
  assert.equal(queue.running, 4)
  queue.finish(flood[0]!, 3)
  assert.deepEqual([queue.running, flood[4]!.state], [4, 'running'])
  assert.equal(enter(queue, 'quiet', { organizationId: 'org_quiet' }).state, 'running')
})
