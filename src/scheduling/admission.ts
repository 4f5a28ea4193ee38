import type { Engine, Turn } from '../core/engine.ts'
import { GenerationAborted, zeroUsage, type GenerationEvent } from '../core/generation.ts'
import { around } from '../lib/around.ts'
import type { Clock } from '../lib/clock.ts'
import type { Place } from './place.ts'
import { SlotQueue, type QueueLimits, type QueueStatus } from './slot-queue.ts'

export type AdmissionOptions = QueueLimits & {
  readonly clock: Clock
  /** From 0 up to 1. */
  random(): number
}

type Asked = Parameters<Engine['generate']>

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

  function generateIn(place: Place, [request, signal, turn]: Asked): AsyncIterable<GenerationEvent> {
    return engine.generate(request, signal, {
      begin: (inputTokens) => beginInTurn(place, inputTokens, turn),
      beginUncounted(inputTokensMax) {
        if (!queue.mayBegin(request.tenant)) return null
        const terms = turn?.beginUncounted?.(inputTokensMax) ?? null
        if (terms !== null) void queue.begin(place, inputTokensMax)
        return terms
      },
      counted(inputTokens) {
        queue.settle(place, { ...zeroUsage, inputUncached: inputTokens })
        turn?.counted?.(inputTokens)
      },
      made(event) {
        queue.count(place, event)
        turn?.made(event)
      },
    })
  }

  function generate(...asked: Asked): AsyncGenerator<GenerationEvent> {
    const [request, signal] = asked
    let place: Place
    const leave = () => queue.refuse(place, new GenerationAborted(zeroUsage))
    return around({
      begin() {
        place = queue.enter(request)
        signal.addEventListener('abort', leave, { once: true })
        return generateIn(place, asked)
      },
      end(failure) {
        if (failure instanceof GenerationAborted) queue.settle(place, failure.usage)
        signal.removeEventListener('abort', leave)
        queue.leave(place)
      },
    })
  }

  return {
    generate,
    countTokens: (request, signal) => engine.countTokens(request, signal),
    status: () => ({ ...engine.status(), running: queue.running, waiting: queue.waiting }),
    queue: () => queue.status(),
    close: () => engine.close(),
  }
}
