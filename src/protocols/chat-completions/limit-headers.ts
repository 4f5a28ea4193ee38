import type { LimitSnapshot, LimitState } from '../../core/limit.ts'
import { formatDuration } from '../format-duration.ts'
import { tightestTokens } from '../tightest-tokens.ts'

const kinds = ['requests', 'tokens'] as const
const parts = ['limit', 'remaining', 'reset'] as const
const nameOf = (part: (typeof parts)[number], kind: (typeof kinds)[number]) => `x-ratelimit-${part}-${kind}`

export const limitHeaderNames: readonly string[] = kinds.flatMap((kind) => parts.map((part) => nameOf(part, kind)))

/** How the limits stand, as durations. A limit that does not exist has no header. */
export function limitHeaders(snapshot: LimitSnapshot): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  const add = (kind: (typeof kinds)[number], state: LimitState | null) => {
    if (state === null) return
    headers[nameOf('limit', kind)] = String(state.limit)
    headers[nameOf('remaining', kind)] = String(state.remaining)
    headers[nameOf('reset', kind)] = formatDuration(state.fullInMs)
  }
  add('requests', snapshot.requests)
  add('tokens', tightestTokens(snapshot))
  return headers
}
