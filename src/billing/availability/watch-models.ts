import { every, type Clock } from '../../lib/clock.ts'
import type { LifeSigns } from './life-signs.ts'

/** A model that has shown nothing for nearly half a minute is asked with the next tick. */
const tickMs = 10_000
const silenceMsMax = 25_000

export type WatchedModels = {
  readonly clock: Clock
  readonly models: readonly string[]
  /** What became of a question: `answered`, `busy` or `asleep` where that says nothing, or the code of an error. */
  ask(model: string): Promise<string>
  /** Whether the service is about to stop, and lets nobody in any more. */
  isStopping(): boolean
}

/** Asks the models that nobody asks. Returns the way to stop. */
export function watchModels(
  signs: Pick<LifeSigns, 'seen' | 'failed' | 'silentMs'>,
  { clock, models, ask, isStopping }: WatchedModels,
): () => Promise<void> {
  const isAsked = new Set<string>()

  async function look(model: string): Promise<void> {
    isAsked.add(model)
    const verdict = await ask(model).catch(() => 'internal')
    isAsked.delete(model)
    if (verdict === 'answered') signs.seen(model)
    // What breaks off because the service stops says nothing about the model.
    else if (verdict !== 'busy' && verdict !== 'asleep' && !isStopping()) signs.failed(model, verdict)
  }

  function lookAround(): void {
    if (isStopping()) return
    for (const model of models) {
      if (signs.silentMs(model) >= silenceMsMax && !isAsked.has(model)) void look(model)
    }
  }

  lookAround()
  return every(clock, tickMs, lookAround)
}
