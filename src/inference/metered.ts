import { toApiError } from '../core/error.ts'
import { GenerationAborted, zeroUsage, type GenerationEvent, type Usage } from '../core/generation.ts'
import type { Settlement } from './settlement.ts'

export type MeteredSource = {
  begin(signal: AbortSignal): AsyncIterator<GenerationEvent>
  readonly choiceCount: number
}

/**
 * Passes events through and keeps the account of them.
 *
 * When the reader stops early, the engine is told to stop and its last word on
 * the counts is waited for: tokens may have left it that nobody has read. It
 * begins at once, and is written by hand because a generator takes several
 * promises for every event.
 */
export function metered(
  { begin, choiceCount }: MeteredSource,
  settle: Settlement,
  signal: AbortSignal,
): AsyncGenerator<GenerationEvent> {
  const { stop, forget } = followSignal(signal)
  const source = begin(stop.signal)
  let finished = 0
  let isOver = false

  const end = () => {
    isOver = true
    forget()
  }
  const count = (result: IteratorResult<GenerationEvent>) => {
    if (result.done === true) return fail(new Error('The engine ended its stream without a finish event.'))
    settle.count(result.value)
    if (result.value.type !== 'finish') return result
    finished += 1
    return finished === choiceCount ? finish(result, result.value.reason.kind) : result
  }
  const finish = async (result: IteratorResult<GenerationEvent>, reason: string) => {
    end()
    try {
      // Nobody may read on after this, and a stream that is left half read never lets go of its place.
      await source.return?.(undefined)
      await settle.close('finished', reason)
      return result
    } catch (error) {
      return fail(error)
    }
  }
  const fail = async (error: unknown): Promise<never> => {
    end()
    if (error instanceof GenerationAborted) settle.correct(error.usage)
    const isAborted = signal.aborted || error instanceof GenerationAborted
    await settle.close(isAborted ? 'aborted' : 'failed', isAborted ? null : toApiError(error).code)
    throw error
  }
  const leave = async () => {
    if (isOver) return
    end()
    stop.abort()
    settle.correct(await usageAfterAbort(source))
    await settle.close('aborted', null)
  }

  return {
    next: () => (isOver ? Promise.resolve({ done: true, value: undefined }) : source.next().then(count, fail)),
    async return(value) {
      await leave()
      return { done: true, value }
    },
    async throw(error) {
      await leave()
      throw error
    },
    [Symbol.asyncIterator]() {
      return this
    },
    [Symbol.asyncDispose]: leave,
  }
}

/** A signal of its own, for what is stopped when the caller stops and also before; it is no composite, which every event would look through. */
function followSignal(signal: AbortSignal): { readonly stop: AbortController; forget(): void } {
  const stop = new AbortController()
  const stopToo = () => stop.abort(signal.reason)
  signal.addEventListener('abort', stopToo, { once: true })
  if (signal.aborted) stopToo()
  return { stop, forget: () => signal.removeEventListener('abort', stopToo) }
}

/** Reads an aborted engine's stream to its end, which the engine reaches within one decode step. */
async function usageAfterAbort(source: AsyncIterator<GenerationEvent>): Promise<Usage> {
  try {
    let last = zeroUsage
    for (let next = await source.next(); next.done !== true; next = await source.next()) {
      if (next.value.type === 'finish') last = next.value.usage
    }
    return last
  } catch (error) {
    return error instanceof GenerationAborted ? error.usage : zeroUsage
  }
}
