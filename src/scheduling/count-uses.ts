import type { Engine } from '../core/engine.ts'
import { around } from '../lib/around.ts'

/** An engine that can be waited for until nobody uses it any more. */
export type CountedEngine = Engine & {
  readonly uses: number
  /** Resolves when no generation and no count is under way or waits for its turn. */
  whenUnused(): Promise<void>
}

/** Counts who uses an engine, so that one whose place another has taken can end without failing anyone. */
export function countUses(engine: Engine): CountedEngine {
  let uses = 0
  let waiters: (() => void)[] = []

  function end(): void {
    uses -= 1
    if (uses > 0) return
    for (const wake of waiters) wake()
    waiters = []
  }

  return {
    generate: (...asked) =>
      around({
        begin() {
          uses += 1
          return engine.generate(...asked)
        },
        end,
      }),
    async countTokens(request, signal) {
      uses += 1
      try {
        return await engine.countTokens(request, signal)
      } finally {
        end()
      }
    },
    status: () => engine.status(),
    close: () => engine.close(),
    get uses() {
      return uses
    },
    whenUnused: () => (uses === 0 ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
  }
}
