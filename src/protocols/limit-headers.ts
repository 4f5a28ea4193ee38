// One state, told to the clients of both formats: durations to those of chat completions,
// moments to those of messages. A limit that does not exist has no header.

import type { LimitSnapshot, LimitState } from '../core/limit.ts'

type Headers = Record<string, string>

/** Both families of rate limit headers, which go on every answer of both formats. */
export function limitHeaders(snapshot: LimitSnapshot, nowMs: number): Headers {
  const { requests, inputTokens, outputTokens } = snapshot
  const tokens = tighter(inputTokens, outputTokens)
  const headers: Headers = {}
  addForChat(headers, chatNames.requests, requests)
  addForChat(headers, chatNames.tokens, tokens)
  addForMessages(headers, messagesNames.requests, requests, nowMs)
  addForMessages(headers, messagesNames.tokens, tokens, nowMs)
  addForMessages(headers, messagesNames.inputTokens, inputTokens, nowMs)
  addForMessages(headers, messagesNames.outputTokens, outputTokens, nowMs)
  return headers
}

function tighter(one: LimitState | null, other: LimitState | null): LimitState | null {
  if (one === null || other === null) return one ?? other
  return other.remaining < one.remaining ? other : one
}

type Names = { readonly limit: string; readonly remaining: string; readonly reset: string }

const chatNames = { requests: namesForChat('requests'), tokens: namesForChat('tokens') }
const messagesNames = {
  requests: namesForMessages('requests'),
  tokens: namesForMessages('tokens'),
  inputTokens: namesForMessages('input-tokens'),
  outputTokens: namesForMessages('output-tokens'),
}

/** All names that limit headers may have. */
export const limitHeaderNames: readonly string[] = [
  ...Object.values(chatNames),
  ...Object.values(messagesNames),
].flatMap((names) => Object.values(names))

function namesForChat(name: string): Names {
  const prefix = 'x-ratelimit'
  return {
    limit: `${prefix}-limit-${name}`,
    remaining: `${prefix}-remaining-${name}`,
    reset: `${prefix}-reset-${name}`,
  }
}

function namesForMessages(name: string): Names {
  const prefix = `anthropic-ratelimit-${name}`
  return { limit: `${prefix}-limit`, remaining: `${prefix}-remaining`, reset: `${prefix}-reset` }
}

function addForChat(headers: Headers, names: Names, state: LimitState | null): void {
  if (state === null) return
  headers[names.limit] = String(state.limit)
  headers[names.remaining] = String(state.remaining)
  headers[names.reset] = formatDuration(state.fullInMs)
}

function addForMessages(headers: Headers, names: Names, state: LimitState | null, nowMs: number): void {
  if (state === null) return
  headers[names.limit] = String(state.limit)
  headers[names.remaining] = String(state.remaining)
  // Whole seconds, rounded up: a client that comes back then must find it full.
  headers[names.reset] = formatSecond(Math.ceil((nowMs + state.fullInMs) / 1_000))
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

/** `38ms`, `1.2s`, `6m0s`, `1h2m3s`; rounded up, so that nobody comes too early. */
export function formatDuration(durationMs: number): string {
  const milliseconds = Math.max(0, Math.ceil(durationMs))
  if (milliseconds < 1_000) return `${milliseconds}ms`
  if (milliseconds < 60_000) return `${milliseconds / 1_000}s`
  const seconds = Math.ceil(milliseconds / 1_000)
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)]
  return `${hours > 0 ? `${hours}h` : ''}${minutes}m${seconds % 60}s`
}
