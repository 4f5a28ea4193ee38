import type { Engine, Turn } from '../core/engine.ts'
import { GenerationAborted, zeroUsage, type GenerationEvent } from '../core/generation.ts'
import type { Clock } from '../lib/clock.ts'
import type { Place } from './place.ts'
import { SlotQueue, type QueueLimits, type QueueStatus } from './slot-queue.ts'

export type AdmissionOptions = QueueLimits & {
  readonly clock: Clock
  /** From 0 up to 1. */
  random(): number
}

/** An engine whose slots are handed out in a fair order. */
export type AdmittedEngine = Engine & {
  /** Who waits, in which order. Takes longer than `status`. */
  queue(): QueueStatus
}

/**
 * Stands before an engine and decides who gets a slot next, and who has to come back later.
 *
 * A client that is told at once can go elsewhere or come back; one that waits
 * behind hundreds of others would give up after its answer was paid for.
 */
export function withAdmission(engine: Engine, options: AdmissionOptions): AdmittedEngine {
  const queue = new SlotQueue({ ...options, slots: () => engine.status().slots ?? 1 })

  /** A request enters the line for a slot when whoever asked lets it; it may have to leave before. */
  async function beginInTurn(place: Place, inputTokens: number, turn: Turn | undefined) {
    const leaving = place.decision.promise.then(() => undefined)
    const terms = await Promise.race([turn?.begin(inputTokens), leaving])
    await queue.begin(place, inputTokens)
    return terms
  }

  async function* generate(
    ...[request, signal, turn]: Parameters<Engine['generate']>
  ): AsyncGenerator<GenerationEvent> {
    const place = queue.enter(request)
    const leave = () => queue.refuse(place, new GenerationAborted(zeroUsage))
    signal.addEventListener('abort', leave, { once: true })
    try {
      yield* engine.generate(request, signal, {
        begin: (inputTokens) => beginInTurn(place, inputTokens, turn),
        made(event) {
          queue.count(place, event)
          turn?.made(event)
        },
      })
    } catch (error) {
      if (error instanceof GenerationAborted) queue.settle(place, error.usage)
      throw error
    } finally {
      signal.removeEventListener('abort', leave)
      queue.leave(place)
    }
  }

  return {
    generate,
    countTokens: (request, signal) => engine.countTokens(request, signal),
    status: () => ({ ...engine.status(), running: queue.running, waiting: queue.waiting }),
    queue: () => queue.status(),
    close: () => engine.close(),
  }
}
