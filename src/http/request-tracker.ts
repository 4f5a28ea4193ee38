import { RequestEnded } from '../core/request-ended.ts'

/** The generations under way, so that a stopping service can wait for them and then end those that are left. */
export interface RequestTracker {
  /** Throws `overloaded` when the service is stopping. */
  begin(): TrackedRequest
  isDraining(): boolean
  /** From now on the service says that it is not ready, and still takes what comes. */
  giveNotice(): void
  /** Whether the service is about to stop, from the notice on. */
  isLeaving(): boolean
  /** From now on new requests are refused. Resolves when the last one under way has ended. */
  drain(): Promise<void>
  /** Ends what is under way; each client is told that the service stops. */
  abortAll(): void
  readonly size: number
}

export type TrackedRequest = {
  /** Fires with a RequestEnded, when the service will not wait any longer or when it is aborted. */
  readonly signal: AbortSignal
  abort(reason: RequestEnded): void
  end(): void
}

export function createRequestTracker(): RequestTracker {
  const underWay = new Set<AbortController>()
  let isLeaving = false
  let isDraining = false
  let onEmpty = () => {}
  return {
    begin() {
      if (isDraining) throw stopping()
      const controller = new AbortController()
      underWay.add(controller)
      return {
        signal: controller.signal,
        abort: (reason) => controller.abort(reason),
        end() {
          underWay.delete(controller)
          if (underWay.size === 0) onEmpty()
        },
      }
    },
    isDraining: () => isDraining,
    giveNotice() {
      isLeaving = true
    },
    isLeaving: () => isLeaving,
    drain() {
      isLeaving = true
      isDraining = true
      if (underWay.size === 0) return Promise.resolve()
      return new Promise((resolve) => {
        onEmpty = resolve
      })
    },
    abortAll() {
      for (const controller of underWay) controller.abort(stopping())
    },
    get size() {
      return underWay.size
    },
  }
}

function stopping(): RequestEnded {
  return new RequestEnded(
    'service-stopping',
    { code: 'overloaded', retryAfterMs: 2_000 },
    'The service is restarting. Please try again shortly.',
  )
}
