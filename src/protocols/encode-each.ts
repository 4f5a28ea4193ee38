import type { GenerationEvent } from '../core/generation.ts'
import type { SseMessage } from './protocol.ts'

/** Makes a format's frames of the events of a stream. */
export type EventEncoder = {
  encode(event: GenerationEvent): Iterable<SseMessage>
  /** For when the events have ended, the success terminator included. Throws where they should not have. */
  end(): Iterable<SseMessage>
}

/**
 * Yields the frames of a stream, each as soon as its event has come.
 *
 * It is what a generator with a loop in it would be, and takes a promise for an
 * event where that takes several for every frame.
 */
export function encodeEach(events: AsyncIterable<GenerationEvent>, encoder: EventEncoder): AsyncGenerator<SseMessage> {
  const ready: SseMessage[] = []
  let source: AsyncIterator<GenerationEvent> | null = null
  let isOver = false

  const next = (): Promise<IteratorResult<SseMessage>> => {
    const frame = ready.shift()
    if (frame !== undefined) return Promise.resolve({ done: false, value: frame })
    if (isOver) return Promise.resolve({ done: true, value: undefined })
    source ??= events[Symbol.asyncIterator]()
    return source.next().then(take, fail)
  }
  const take = (result: IteratorResult<GenerationEvent>) => {
    try {
      if (result.done === true) isOver = true
      ready.push(...(result.done === true ? encoder.end() : encoder.encode(result.value)))
    } catch (error) {
      return close().then(() => fail(error))
    }
    return next()
  }
  const fail = (error: unknown): never => {
    isOver = true
    throw error
  }
  const close = async () => {
    const isLeft = !isOver
    isOver = true
    ready.length = 0
    if (isLeft) await source?.return?.()
  }

  return {
    next,
    async return(value) {
      await close()
      return { done: true, value }
    },
    async throw(error) {
      await close()
      throw error
    },
    [Symbol.asyncIterator]() {
      return this
    },
    [Symbol.asyncDispose]: close,
  }
}
