import type { LimitSnapshot, LimitState } from '../core/limit.ts'
import type { Format } from './format.ts'

type Part = 'limit' | 'remaining' | 'reset'

/** `tokens` are those of prompts and answers together. */
const kinds = ['requests', 'tokens', 'input-tokens', 'output-tokens'] as const
type Kind = (typeof kinds)[number]

/** The way in which a format words the state of limits. */
export type LimitHeaderStyle = {
  nameOf(part: Part, kind: Kind): string
  /** Writes when all of a limit is there again. */
  formatReset(state: LimitState, nowMs: number): string
}

/** Makes the headers by which a format says how the limits stand. A limit that does not exist has no header. */
export function createLimitHeaders({
  nameOf,
  formatReset,
}: LimitHeaderStyle): Pick<Format, 'limitHeaders' | 'limitHeaderNames'> {
  const named = kinds.map((kind) => {
    return { kind, limit: nameOf('limit', kind), remaining: nameOf('remaining', kind), reset: nameOf('reset', kind) }
  })
  return {
    limitHeaderNames: named.flatMap(({ limit, remaining, reset }) => [limit, remaining, reset]),
    limitHeaders(snapshot, nowMs) {
      const headers: Record<string, string> = {}
      for (const { kind, limit, remaining, reset } of named) {
        const state = stateOf(snapshot, kind)
        if (state === null) continue
        headers[limit] = String(state.limit)
        headers[remaining] = String(state.remaining)
        headers[reset] = formatReset(state, nowMs)
      }
      return headers
    },
  }
}

function stateOf({ requests, inputTokens, outputTokens }: LimitSnapshot, kind: Kind): LimitState | null {
  switch (kind) {
    case 'requests':
      return requests
    case 'input-tokens':
      return inputTokens
    case 'output-tokens':
      return outputTokens
    case 'tokens':
      return sumOf(inputTokens, outputTokens)
  }
}

/**
 * How prompts and answers stand together, where both are limited.
 *
 * The vendors' limits of tokens are such sums. The tighter of the two in their
 * place would keep a client waiting for ever whose prompt is longer than answers
 * may be; and where only one is limited, there is no limit of all tokens.
 */
function sumOf(input: LimitState | null, output: LimitState | null): LimitState | null {
  if (input === null || output === null) return null
  return {
    limit: input.limit + output.limit,
    remaining: input.remaining + output.remaining,
    fullInMs: Math.max(input.fullInMs, output.fullInMs),
  }
}

/** `38ms`, `1.2s`, `6m0s`, `1h2m3s`; rounded up, so that nobody comes too early. */
export function formatDuration(durationMs: number): string {
  const milliseconds = Math.max(0, Math.ceil(durationMs))
  if (milliseconds < 1_000) return `${milliseconds}ms`
  if (milliseconds < 60_000) return `${milliseconds / 1_000}s`
  const seconds = Math.ceil(milliseconds / 1_000)
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)]
  return `${hours > 0 ? `${hours}h` : ''}${minutes}m${seconds % 60}s`
}

/** The texts of moments that the next answers will tell too, by their seconds. */
const knownMoments = new Map<number, string>()
const knownMomentsMax = 100

/** `2026-11-21T10:15:31Z`; rounded up to whole seconds: a client that comes back then must find its limit full. */
export function formatMoment(ms: number): string {
  const second = Math.ceil(ms / 1_000)
  const known = knownMoments.get(second)
  if (known !== undefined) return known
  const text = new Date(second * 1_000).toISOString().replace('.000Z', 'Z')
  if (knownMoments.size >= knownMomentsMax) knownMoments.clear()
  knownMoments.set(second, text)
  return text
}
