import type { Engine } from '../core/engine.ts'
import {
  addAnswer,
  GenerationAborted,
  zeroUsage,
  type EngineRequest,
  type GenerationEvent,
  type Usage,
} from '../core/generation.ts'

/**
 * The answers to one request, one stream after the other.
 *
 * The engine works on all of them at the same time; the later ones wait for
 * their turn to be read, which the engine's own back-pressure bounds.
 */
export async function* generateSeveral(
  engine: Pick<Engine, 'generate'>,
  request: EngineRequest,
  count: number,
  signal: AbortSignal,
): AsyncGenerator<GenerationEvent> {
  const streams = Array.from({ length: count }, (_, index) =>
    engine.generate(withSeedOf(request, index), signal)[Symbol.asyncIterator](),
  )
  // Asking for the first event is what makes an engine begin.
  const firsts = streams.map((stream) => capture(stream.next()))
  let position = 0
  try {
    for (; position < count; position++) yield* readOut(streams[position], firsts[position])
  } catch (error) {
    if (!(error instanceof GenerationAborted)) throw error
    const others = streams
      .slice(position + 1)
      .map((stream, index) => usageOfAborted(stream, firsts[position + 1 + index]))
    throw new GenerationAborted((await Promise.all(others)).reduce(addAnswer, error.usage))
  } finally {
    await Promise.all(streams.flatMap((stream) => stream.return?.() ?? []))
  }
}

type First = Promise<() => IteratorResult<GenerationEvent>>

/** Keeps a failure until someone asks, so that it is not taken for an unhandled one. */
function capture(first: Promise<IteratorResult<GenerationEvent>>): First {
  return first.then(
    (result) => () => result,
    (error: unknown) => () => {
      throw error
    },
  )
}

async function* readOut(
  stream: AsyncIterator<GenerationEvent> | undefined,
  first: First | undefined,
): AsyncGenerator<GenerationEvent> {
  if (stream === undefined || first === undefined) return
  for (let next = (await first)(); next.done !== true; next = await stream.next()) {
    yield next.value
    if (next.value.type === 'finish') return
  }
  throw new Error('The engine ended its stream without a finish event.')
}

async function usageOfAborted(stream: AsyncIterator<GenerationEvent>, first: First | undefined): Promise<Usage> {
  try {
    await first?.then((result) => result())
    while ((await stream.next()).done !== true) continue
    return zeroUsage
  } catch (error) {
    return error instanceof GenerationAborted ? error.usage : zeroUsage
  }
}

/** With one seed for all, all answers would be one. */
function withSeedOf(request: EngineRequest, index: number): EngineRequest {
  const { seed } = request.sampling
  if (seed === null || index === 0) return request
  return { ...request, sampling: { ...request.sampling, seed: (seed + index) % 2 ** 32 } }
}
