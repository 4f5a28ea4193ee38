import type { Engine } from '../../../src/core/engine.ts'
import type { EngineRequest, GenerationEvent } from '../../../src/core/generation.ts'
import { Answer } from '../../../src/inference/answer.ts'
import { AnswerStream, withSeedOf } from '../../../src/inference/generate.ts'
import { Meter } from '../../../src/inference/settlement.ts'
import type { WorstCase } from '../../../src/inference/worst-case.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { Lane } from '../../../src/models/catalog.ts'
import { SlotQueue, type SlotQueueOptions } from '../../../src/scheduling/slot-queue.ts'

/** An engine behind the queue for its slots. */
export type QueuedEngine = Lane & {
  /** One answer that is let in as the service lets it in, without limits unless some are given. */
  generate(request: EngineRequest, signal: AbortSignal, worstCase?: WorstCase): AsyncGenerator<GenerationEvent>
  /** Answers with seeds of their own, one after the other. */
  generateSeveral(request: EngineRequest, count: number, signal: AbortSignal): AsyncGenerator<GenerationEvent>
  close(): Promise<void>
}

/** What a worst case has where no limit of output tokens applies. */
export const withoutOutputLimit: Pick<WorstCase, 'outputSlices' | 'growOutput'> = {
  outputSlices: () => ({ first: Infinity, slice: Infinity }),
  growOutput: () => 0,
}

const overLimit = { clock: systemClock, overLimit: 'pause' } as const

const unlimited: WorstCase = {
  ...withoutOutputLimit,
  reserve: () => Promise.resolve(Infinity),
  reserveOptimistically: () => Infinity,
  counted() {},
}

export function queueEngine(engine: Engine, options: Partial<SlotQueueOptions> = {}): QueuedEngine {
  const queue = new SlotQueue({
    waitingMax: 64,
    waitingBytesMax: 2 ** 26,
    waitMsMax: 300_000,
    clock: systemClock,
    random: () => 0.5,
    capacity: () => engine.status(),
    ...options,
  })
  const lane = { engine, queue }
  return {
    ...lane,
    generate: (request, signal, worstCase = unlimited) => readAnswer(lane, request, signal, worstCase),
    generateSeveral: (request, choiceCount, signal) => {
      const meter = new Meter(choiceCount, () => 0)
      const settlement = { price: null, meter, close: () => Promise.resolve(), refuse: () => {} }
      const begin = (index: number, stop: AbortSignal) => {
        const parts = { lane, worstCase: unlimited, meter: meter.of(index), ...overLimit, signal: stop }
        return new Answer(parts, withSeedOf(request, index))
      }
      return new AnswerStream({ choiceCount, begin, settlement, signal })
    },
    close: () => engine.close(),
  }
}

async function* readAnswer(
  lane: Lane,
  request: EngineRequest,
  signal: AbortSignal,
  worstCase: WorstCase,
): AsyncGenerator<GenerationEvent> {
  const stop = new AbortController()
  const meter = new Meter(1, () => 0).of(0)
  const answer = new Answer(
    { lane, worstCase, meter, ...overLimit, signal: AbortSignal.any([signal, stop.signal]) },
    request,
  )
  try {
    for (let next = await answer.next(); next.done !== true; next = await answer.next()) yield next.value
  } finally {
    stop.abort()
    await answer.end()
  }
}
