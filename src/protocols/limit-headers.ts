// One state, told to the clients of both formats: durations to those of chat completions,
// moments to those of messages. A limit that does not exist has no header.

import type { LimitSnapshot, LimitState } from '../core/limit.ts'

type Headers = Record<string, string>

/** Both families of rate limit headers, which go on every answer of both formats. */
export function limitHeaders(snapshot: LimitSnapshot, nowMs: number): Headers {
  const tokens = tighter(snapshot.inputTokens, snapshot.outputTokens)
  return {
    ...chatHeaders('requests', snapshot.requests),
    ...chatHeaders('tokens', tokens),
    ...messagesHeaders('requests', snapshot.requests, nowMs),
    ...messagesHeaders('tokens', tokens, nowMs),
    ...messagesHeaders('input-tokens', snapshot.inputTokens, nowMs),
    ...messagesHeaders('output-tokens', snapshot.outputTokens, nowMs),
  }
}

function tighter(one: LimitState | null, other: LimitState | null): LimitState | null {
  if (one === null || other === null) return one ?? other
  return other.remaining < one.remaining ? other : one
}

function chatHeaders(name: string, state: LimitState | null): Headers {
  if (state === null) return {}
  return {
    [`x-ratelimit-limit-${name}`]: String(state.limit),
    [`x-ratelimit-remaining-${name}`]: String(state.remaining),
    [`x-ratelimit-reset-${name}`]: formatDuration(state.fullInMs),
  }
}

function messagesHeaders(name: string, state: LimitState | null, nowMs: number): Headers {
  if (state === null) return {}
  // Whole seconds, rounded up: a client that comes back then must find it full.
  const reset = new Date(Math.ceil((nowMs + state.fullInMs) / 1_000) * 1_000)
  return {
    [`anthropic-ratelimit-${name}-limit`]: String(state.limit),
    [`anthropic-ratelimit-${name}-remaining`]: String(state.remaining),
    [`anthropic-ratelimit-${name}-reset`]: reset.toISOString().replace('.000Z', 'Z'),
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
