// The slots of one engine, and the requests on their way to one.
//
//     preparing ──→ waiting ──→ running ──→ gone
//         └────────────┴───────────────────↗  left, displaced, or waited too long
//
// Preparing costs no slot, so a prompt that does not fit is refused while others wait. A short one
// may take a free slot before it is prepared.
// What has not begun takes up room, by number and by bytes, and there is only so much.

import { ApiError } from '../core/error.ts'
import { zeroUsage, type EngineRequest, type GenerationEvent, type Tenant } from '../core/generation.ts'
import type { Clock } from '../lib/clock.ts'
import { FairQueue } from './fair-queue.ts'
import { makeRoom, type Room } from './make-room.ts'
import { MovingMean } from './moving-mean.ts'
import { describePlace, type Place, type WaitingRequest } from './place.ts'
import { requestBytes } from './request-bytes.ts'
import { retryAfterMs } from './retry-after.ts'
import { outputCost, serviceCost } from './service-cost.ts'
import { SlotShares } from './slot-shares.ts'

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
  slots(): number
}

export type QueueStatus = {
  readonly slots: number
  readonly running: number
  readonly waiting: number
  readonly oldestWaitMs: number
  /** Those whose turns come first, in order. */
  readonly upcoming: readonly WaitingRequest[]
}

/** Nobody reads a longer list, and making it takes time from those who are in it. */
const upcomingMax = 200

export class SlotQueue {
  readonly #options: SlotQueueOptions
  readonly #order = new FairQueue<Place>()
  /** All that have no slot yet, in the order of their arrival. */
  readonly #waiting = new Set<Place>()
  readonly #shares = new SlotShares()
  readonly #runMs = new MovingMean()
  readonly #outputTokens = new MovingMean()
  #running = 0

  constructor(options: SlotQueueOptions) {
    this.#options = options
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Whether a slot is free that nobody else has a claim to. */
  mayBegin(tenant: Tenant): boolean {
    const { slots, clock } = this.#options
    return this.#running < slots() && this.#shares.mayBegin(tenant, slots(), clock.monotonicMs())
  }

  /** Makes a place for a request, where it must be at the cost of others. Throws `overloaded` when there is none. */
  enter(request: EngineRequest): Place {
    const place = this.#createPlace(request)
    const room = this.#room()
    const displaced = makeRoom([...this.#waiting], place, room)
    if (displaced === null) throw this.#refusal(this.#waiting.size < room.requests ? 'memory' : 'full')
    for (const other of displaced) this.refuse(other, this.#refusal('full'))
    this.#waiting.add(place)
    const { clock, waitMsMax } = this.#options
    place.cancelDeadline = clock.after(waitMsMax, () => this.refuse(place, this.#refusal('late')))
    return place
  }

  /** The request is prepared. Resolves when it may have a slot; asked again it gives the same answer. */
  begin(place: Place, inputTokens: number): Promise<void> {
    if (place.state === 'preparing') {
      place.state = 'waiting'
      place.inputTokens = inputTokens
      this.#order.push(place)
      this.#fill()
    }
    return place.decision.promise
  }

  /** Charges for an event, and frees the slot at the last one. */
  count(place: Place, event: GenerationEvent): void {
    if (event.type === 'start' || event.type === 'finish') this.settle(place, event.usage)
    if (event.type === 'delta') this.settle(place, { ...place.usage, output: place.usage.output + event.tokens })
    if (event.type !== 'finish') return
    if (place.state === 'running') this.#outputTokens.add(event.usage.output)
    this.leave(place)
  }

  /** Charges for what was used altogether instead of what was charged so far. */
  settle(place: Place, usage: Place['usage']): void {
    if (place.state !== 'running') return
    place.usage = usage
    const cost = serviceCost(usage)
    this.#order.charge(place.tenant, cost - place.charged)
    place.charged = cost
  }

  /** Takes back a request that has no slot yet. */
  refuse(place: Place, reason: Error): void {
    if (place.state === 'running' || place.state === 'gone') return
    place.decision.reject(reason)
    this.leave(place)
  }

  /** The request is over, however it ended; its slot or its room is free. A second call changes nothing. */
  leave(place: Place): void {
    const { state } = place
    if (state === 'gone') return
    place.state = 'gone'
    place.cancelDeadline()
    this.#waiting.delete(place)
    if (state === 'waiting') this.#order.remove(place)
    if (state !== 'running') return
    this.#order.end(place.tenant)
    this.#shares.end(place.tenant, this.#options.clock.monotonicMs())
    this.#runMs.add(this.#options.clock.monotonicMs() - place.startedMs)
    this.#running -= 1
    this.#fill()
  }

  status(): QueueStatus {
    const nowMs = this.#options.clock.monotonicMs()
    const [oldest] = this.#waiting
    return {
      slots: this.#options.slots(),
      running: this.#running,
      waiting: this.#waiting.size,
      oldestWaitMs: oldest === undefined ? 0 : Math.round(nowMs - oldest.arrivedMs),
      upcoming: this.#upcoming().map((place) => describePlace(place, nowMs)),
    }
  }

  /** What is still being prepared comes last: nobody knows yet how long it is. */
  #upcoming(): Place[] {
    const ordered = this.#order.upcoming(upcomingMax, ({ inputTokens, outputTokensMax }) => {
      const outputTokens = Math.min(outputTokensMax, this.#outputTokens.value ?? 0)
      return (inputTokens ?? 0) + outputCost(outputTokens)
    })
    const preparing = [...this.#waiting].filter(({ state }) => state === 'preparing')
    return [...ordered, ...preparing].slice(0, upcomingMax)
  }

  #fill(): void {
    for (;;) {
      const place = this.#order.take((tenant) => this.mayBegin(tenant))
      if (place === null) return
      this.#start(place)
    }
  }

  #start(place: Place): void {
    // With one answer to a request the whole request is begun, and its other answers may take their time.
    for (const other of this.#waiting) if (other.requestId === place.requestId) other.cancelDeadline()
    this.#waiting.delete(place)
    place.state = 'running'
    place.startedMs = this.#options.clock.monotonicMs()
    this.#running += 1
    this.#shares.begin(place.tenant, place.startedMs)
    // The whole prompt, until the engine has told how much of it was there already.
    this.settle(place, { ...zeroUsage, inputUncached: place.inputTokens ?? 0 })
    place.decision.resolve()
  }

  #createPlace({ requestId, tenant, model, outputTokensMax, ...request }: EngineRequest): Place {
    const decision = Promise.withResolvers<void>()
    // It may come before anybody asks for it.
    decision.promise.catch(() => {})
    return {
      requestId,
      tenant,
      model,
      outputTokensMax,
      bytes: request.bytes ?? requestBytes(request),
      arrivedMs: this.#options.clock.monotonicMs(),
      decision,
      state: 'preparing',
      inputTokens: null,
      startedMs: 0,
      usage: zeroUsage,
      charged: 0,
      cancelDeadline() {},
    }
  }

  #room(): Room {
    const { slots, waitingMax, waitingBytesMax } = this.#options
    return { requests: Math.max(0, slots() - this.#running) + waitingMax, bytes: waitingBytesMax }
  }

  #refusal(why: keyof typeof refusals): ApiError {
    const { random, slots } = this.#options
    const pace = { waiting: this.#waiting.size, slots: slots(), runMs: this.#runMs.value }
    return new ApiError({ code: 'overloaded', retryAfterMs: retryAfterMs(pace, random()) }, refusals[why])
  }
}

const refusals = {
  full: 'The model is at capacity. Please try again shortly.',
  memory: 'Too much text waits for the model already. Please try again shortly.',
  late: 'The model had no time for this request in a long while. Please try again.',
}
