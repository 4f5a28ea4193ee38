// The slots of one engine, and the requests on their way to one.
//
//     preparing ──→ waiting ──→ running ──→ gone
//         └────────────┴───────────────────↗  left, displaced, or waited too long
//
// Preparing costs no slot, so a prompt that does not fit is refused while others wait. A short one
// may take a free slot before it is prepared.
// What has not begun takes up room, by number and by bytes, and there is only so much.

import type { EngineStatus } from '../core/engine.ts'
import { ApiError } from '../core/error.ts'
import { zeroUsage, type EngineRequest, type Owner, type Usage } from '../core/generation.ts'
import type { Clock } from '../lib/clock.ts'
import { FairQueue, outputCost, serviceCost } from './fair-queue.ts'
import { makeRoom, requestBytes, type Room } from './make-room.ts'
import { SlotShares } from './slot-shares.ts'
import { describeTicket, type Ticket, type WaitingRequest } from './ticket.ts'

export type QueueLimits = {
  /** Requests that may be without a slot when all slots are taken, and the bytes of their texts. */
  readonly waitingMax: number
  readonly waitingBytesMax: number
  readonly waitMsMax: number
}

export type SlotQueueOptions = QueueLimits & {
  readonly clock: Clock
  /** From 0 up to 1, to spread the tries of those who are refused. */
  random(): number
  /**
   * How much the engine takes. Nobody but the engine knows which of the requests that it takes ahead wait: `begun` tells. The
   * guests' slots are for organizations that have none while others have taken all.
   */
  capacity(): Capacity
}

/** Of an engine that does not know its slots yet one is assumed. */
type Capacity = Pick<EngineStatus, 'slots' | 'lookAhead' | 'guestSlots'>

function slotsOf({ slots }: Capacity): number {
  return slots ?? 1
}

/** Requests that the engine takes at a time, whether it begins with them or not. */
function placesOf(capacity: Capacity): number {
  return slotsOf(capacity) + (capacity.lookAhead ?? 0)
}

export type QueueStatus = {
  readonly slots: number
  readonly running: number
  readonly waiting: number
  readonly oldestWaitMs: number
  /** The requests whose turns come first, in order. */
  readonly upcoming: readonly WaitingRequest[]
}

/** Nobody reads a longer list, and making it takes time from those who are in it. */
const upcomingMax = 200

export class SlotQueue {
  readonly #options: SlotQueueOptions
  readonly #order = new FairQueue<Ticket>()
  /** All that have no slot yet, in the order of their arrival. */
  readonly #waiting = new Set<Ticket>()
  /** Those that the engine has, and has not begun with. */
  readonly #ahead = new Set<Ticket>()
  readonly #shares = new SlotShares()
  readonly #runMs = new MovingMean()
  readonly #outputTokens = new MovingMean()
  #running = 0

  constructor(options: SlotQueueOptions) {
    this.#options = options
  }

  get running(): number {
    return this.#running - this.#ahead.size
  }

  get waiting(): number {
    return this.#waiting.size + this.#ahead.size
  }

  /**
   * Tells whether a slot is free that nobody else has a claim to.
   *
   * Where all are taken an organization that has none may be a guest beyond them. Its slot counts as one
   * of all others as soon as any of these is free, and then the next guest may come.
   */
  mayBegin(owner: Owner): boolean {
    const { clock } = this.#options
    const capacity = this.#options.capacity()
    const slots = placesOf(capacity)
    const { guestSlots = 0 } = capacity
    if (this.#running < slots) return this.#shares.mayBegin(owner, slots, clock.monotonicMs(), guestSlots)
    return this.#running < slots + guestSlots && this.#shares.runningOf(owner.organizationId) === 0
  }

  /** Makes room for a request, where it must be at the cost of others. Throws `overloaded` when there is none. */
  enqueue(request: EngineRequest): Ticket {
    const ticket = this.#createTicket(request)
    const room = this.#room()
    const displaced = makeRoom([...this.#waiting], ticket, room)
    if (displaced === null) throw this.#refusal(this.#waiting.size < room.requests ? 'memory' : 'full')
    for (const other of displaced) this.refuse(other, this.#refusal('full'))
    this.#waiting.add(ticket)
    const { clock, waitMsMax } = this.#options
    ticket.cancelDeadline = clock.after(waitMsMax, () => this.refuse(ticket, this.#refusal('late')))
    return ticket
  }

  /** The request's prompt is counted. Resolves when it may have a slot; asked again it gives the same answer. */
  slot(ticket: Ticket, inputTokens: number): Promise<void> {
    if (ticket.state === 'preparing') {
      ticket.state = 'waiting'
      ticket.inputTokens = inputTokens
      this.#order.push(ticket)
      this.#fill()
    }
    return ticket.decision.promise
  }

  /** Waits for something else that a request needs before it may have a slot, unless the request has to leave before. */
  async whileQueued<Result>(ticket: Ticket, needed: Promise<Result>): Promise<Result> {
    // Before a slot was asked for, nothing but a refusal is decided.
    await Promise.race([needed, ticket.decision.promise])
    return needed
  }

  /** Charges for what was used altogether instead of what was charged so far. */
  charge(ticket: Ticket, usage: Usage): void {
    if (ticket.state !== 'running') return
    const cost = serviceCost(usage)
    this.#order.charge(ticket.owner, cost - ticket.charged)
    ticket.charged = cost
  }

  /** The engine has begun with a request that it may have let wait by itself. A second call changes nothing. */
  begun(ticket: Ticket): void {
    this.#ahead.delete(ticket)
  }

  /** The answer is complete, though nobody may have read it yet: its slot is free. */
  finish(ticket: Ticket, outputTokens: number): void {
    if (ticket.state === 'running') this.#outputTokens.add(outputTokens)
    this.leave(ticket)
  }

  /** Takes back a request that has no slot yet. */
  refuse(ticket: Ticket, reason: Error): void {
    if (ticket.state === 'running' || ticket.state === 'gone') return
    ticket.decision.reject(reason)
    this.leave(ticket)
  }

  /** The request is over, however it ended; its slot or its room is free. A second call changes nothing. */
  leave(ticket: Ticket): void {
    const { state } = ticket
    if (state === 'gone') return
    ticket.state = 'gone'
    ticket.cancelDeadline()
    this.#waiting.delete(ticket)
    this.#ahead.delete(ticket)
    if (state === 'waiting') this.#order.remove(ticket)
    if (state !== 'running') return
    this.#order.end(ticket.owner)
    this.#shares.end(ticket.owner, this.#options.clock.monotonicMs())
    this.#runMs.add(this.#options.clock.monotonicMs() - ticket.startedMs)
    this.#running -= 1
    this.#fill()
  }

  status(): QueueStatus {
    const nowMs = this.#options.clock.monotonicMs()
    const [oldest] = this.#waiting
    const arrivedMs = Math.min(oldest?.arrivedMs ?? nowMs, ...[...this.#ahead].map((ticket) => ticket.arrivedMs))
    return {
      slots: slotsOf(this.#options.capacity()),
      running: this.running,
      waiting: this.waiting,
      oldestWaitMs: Math.round(nowMs - arrivedMs),
      upcoming: this.#upcoming().map((ticket) => describeTicket(ticket, nowMs)),
    }
  }

  /** What the engine has comes first. Requests that are still being prepared come last: nobody knows yet how long they are. */
  #upcoming(): Ticket[] {
    const ordered = this.#order.upcoming(upcomingMax, ({ inputTokens, outputTokensMax }) => {
      const outputTokens = Math.min(outputTokensMax, this.#outputTokens.value ?? 0)
      return (inputTokens ?? 0) + outputCost(outputTokens)
    })
    const preparing = [...this.#waiting].filter(({ state }) => state === 'preparing')
    return [...this.#ahead, ...ordered, ...preparing].slice(0, upcomingMax)
  }

  #fill(): void {
    for (;;) {
      const ticket = this.#order.take((owner) => this.mayBegin(owner))
      if (ticket === null) return
      this.#start(ticket)
    }
  }

  #start(ticket: Ticket): void {
    // With one answer to a request the whole request is begun, and its other answers may take their time.
    for (const other of this.#waiting) if (other.requestId === ticket.requestId) other.cancelDeadline()
    this.#waiting.delete(ticket)
    ticket.state = 'running'
    ticket.startedMs = this.#options.clock.monotonicMs()
    this.#running += 1
    if ((this.#options.capacity().lookAhead ?? 0) > 0) this.#ahead.add(ticket)
    this.#shares.begin(ticket.owner, ticket.startedMs)
    // The whole prompt, until the engine has told how much of it was there already.
    this.charge(ticket, { ...zeroUsage, inputUncached: ticket.inputTokens ?? 0 })
    ticket.decision.resolve()
  }

  #createTicket({ requestId, owner, model, outputTokensMax, ...request }: EngineRequest): Ticket {
    const decision = Promise.withResolvers<void>()
    // It may come before anybody asks for it.
    decision.promise.catch(() => {})
    return {
      requestId,
      owner,
      model,
      outputTokensMax,
      bytes: request.bytes ?? requestBytes(request),
      arrivedMs: this.#options.clock.monotonicMs(),
      decision,
      state: 'preparing',
      inputTokens: null,
      startedMs: 0,
      charged: 0,
      cancelDeadline() {},
    }
  }

  #room(): Room {
    const { capacity, waitingMax, waitingBytesMax } = this.#options
    return { requests: Math.max(0, placesOf(capacity()) - this.#running) + waitingMax, bytes: waitingBytesMax }
  }

  #refusal(why: keyof typeof refusals): ApiError {
    const { capacity, random } = this.#options
    const pace = { waiting: this.#waiting.size, slots: placesOf(capacity()), runMs: this.#runMs.value }
    return new ApiError({ code: 'overloaded', retryAfterMs: retryAfterMs(pace, random()) }, refusals[why])
  }
}

const refusals = {
  full: 'The model is at capacity. Please try again shortly.',
  memory: 'Too much text waits for the model already. Please try again shortly.',
  late: 'The model had no time for this request in a long while. Please try again.',
}

/** With this weight the last dozen or so values decide. */
const meanWeight = 1 / 8

/** An exponential moving average: each older value counts for less. */
export class MovingMean {
  #value: number | null = null

  /** Null before there is anything to tell of. */
  get value(): number | null {
    return this.#value
  }

  /** `kept` is the share of their weight that older values have kept until now. */
  add(value: number, kept = 1): void {
    const weight = 1 - (1 - meanWeight) * kept
    this.#value = this.#value === null ? value : this.#value + (value - this.#value) * weight
  }
}

/** The state of an engine's slots and queue. */
export type Pace = {
  readonly waiting: number
  readonly slots: number
  /** The time for which a request holds its slot of late; null before any did. */
  readonly runMs: number | null
}

/** Until there is something to go by. */
const freeSlotMsDefault = 2_000
const leastMs = 1_000
/** With the spread on top it stays below the minute that official clients obey. */
const mostMs = 35_000

/**
 * Says when to come back: when half of those who wait now will have had their turn.
 *
 * The time is spread by half to either side: those who were refused together must not come
 * back together. `random` is from 0 up to 1.
 */
export function retryAfterMs({ waiting, slots, runMs }: Pace, random: number): number {
  const freeSlotMs = runMs === null ? freeSlotMsDefault : runMs / Math.max(1, slots)
  const meanMs = Math.min(mostMs, Math.max(leastMs, freeSlotMs * Math.max(1, waiting / 2)))
  return Math.round(meanMs * (0.5 + random))
}
