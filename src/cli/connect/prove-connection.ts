import { systemClock } from '../../lib/clock.ts'
import type { Format } from '../../clients/connection.ts'
import type { Reach } from '../../clients/reach.ts'

/** The service lets a request wait for as long, and needs some time to answer it. */
const answerMsMax = 320_000

/** Enough to see that there is an answer, too little to wait for. */
const outputTokens = 16

/**
 * Asks one small question just as the client will, and says what came of it.
 *
 * Throws what is wrong, as far as it can be told from outside.
 */
export async function proveConnection(reach: Reach, { key, model }: { key: string; model: string }): Promise<string> {
  const url = `${reach.baseAddress}${reach.appended}`
  const startedMs = systemClock.monotonicMs()
  const body = { model, max_tokens: outputTokens, messages: [{ role: 'user', content: 'Say hello.' }] }
  const response = await send(url, { method: 'POST', headers: headersOf(reach, key), body: JSON.stringify(body) })
  const text = await readText(response, url)
  if (!response.ok) throw new Error(describeRefusal(response.status, text, url))
  if (!isAnswer(reach.format, parse(text))) {
    throw new Error(`${url} answers, but not in the ${reach.format} format. Is it the address of Odyssey?`)
  }
  const seconds = ((systemClock.monotonicMs() - startedMs) / 1_000).toFixed(1)
  return `${model} answered at ${url} in ${seconds} s.`
}

function headersOf({ authorization, version }: Reach, key: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    ...(authorization === 'bearer' ? { authorization: `Bearer ${key}` } : { 'x-api-key': key }),
    ...(version !== null && { 'anthropic-version': version }),
  }
}

async function send(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...request, redirect: 'manual', signal: AbortSignal.timeout(answerMsMax) })
  } catch (error) {
    throw new Error(describeFailure(error, url), { cause: error })
  }
}

async function readText(response: Response, url: string): Promise<string> {
  try {
    return await response.text()
  } catch (error) {
    throw new Error(describeFailure(error, url), { cause: error })
  }
}

/** `fetch` itself says nothing but that it failed; the reason is the cause. */
function describeFailure(error: unknown, url: string): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `There was no answer from ${url} for too long.`
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const { origin, hostname } = new URL(url)
  if (code === 'ECONNREFUSED')
    return `Nothing listens at ${origin}. Does the service run? It starts with: npx odyssey serve`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `There is no machine by the name of ${hostname}.`
  return `${url} cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`
}

function describeRefusal(status: number, text: string, url: string): string {
  const message = messageOf(parse(text)) ?? text.trim().slice(0, 200)
  if (status === 401 || status === 403) return `${url} refuses the key (${status}): ${message}`
  if (status >= 300 && status < 400) return `${url} leads elsewhere (${status}), and clients do not follow.`
  return `${url} answers ${status}: ${message}`
}

function messageOf(body: unknown): string | null {
  const { error } = (body ?? {}) as { readonly error?: { readonly message?: unknown } | null }
  return typeof error?.message === 'string' ? error.message : null
}

function isAnswer(format: Format, body: unknown): boolean {
  const { object, type } = (body ?? {}) as { readonly object?: unknown; readonly type?: unknown }
  return format === 'chat' ? object === 'chat.completion' : type === 'message'
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
