import type { LimitSnapshot, LimitState } from '../../core/limit.ts'
import { tightestTokens } from '../tightest-tokens.ts'

const kinds = ['requests', 'tokens', 'input-tokens', 'output-tokens'] as const
const parts = ['limit', 'remaining', 'reset'] as const
const nameOf = (part: (typeof parts)[number], kind: (typeof kinds)[number]) => `anthropic-ratelimit-${kind}-${part}`

export const limitHeaderNames: readonly string[] = kinds.flatMap((kind) => parts.map((part) => nameOf(part, kind)))

/** How the limits stand, with moments. A limit that does not exist has no header. */
export function limitHeaders(snapshot: LimitSnapshot, nowMs: number): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  const add = (kind: (typeof kinds)[number], state: LimitState | null) => {
    if (state === null) return
    headers[nameOf('limit', kind)] = String(state.limit)
    headers[nameOf('remaining', kind)] = String(state.remaining)
    // Whole seconds, rounded up: a client that comes back then must find it full.
    headers[nameOf('reset', kind)] = formatSecond(Math.ceil((nowMs + state.fullInMs) / 1_000))
  }
  add('requests', snapshot.requests)
  add('tokens', tightestTokens(snapshot))
  add('input-tokens', snapshot.inputTokens)
  add('output-tokens', snapshot.outputTokens)
  return headers
}

/** The seconds that the next answers will tell too, as text. */
const knownSeconds = new Map<number, string>()
const knownSecondsMax = 100

function formatSecond(second: number): string {
  const known = knownSeconds.get(second)
  if (known !== undefined) return known
  const text = new Date(second * 1_000).toISOString().replace('.000Z', 'Z')
  if (knownSeconds.size >= knownSecondsMax) knownSeconds.clear()
  knownSeconds.set(second, text)
  return text
}
