import type { FastifyReply, FastifyRequest } from 'fastify'
import { limitHeaderNames } from '../../protocols/limit-headers.ts'

/** How long a browser may remember the answer to a preflight; more than two hours none does. */
const preflightSeconds = 7_200
const methods = 'GET, POST'
const clientHeaders = ['authorization', 'x-api-key', 'content-type', 'x-client-request-id']
/** What the SDKs of both formats send besides begins so. */
const clientHeaderPrefixes = ['x-stainless-', 'openai-', 'anthropic-']
/** What a page may read of an answer besides its body. */
const answerHeaders = [
  'request-id',
  'x-request-id',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  ...limitHeaderNames,
].join(', ')

/**
 * Lets pages of other origins use the models, as far as the operator names their origins.
 *
 * Where it returns true, the request was a browser's question whether it may ask, and is answered. Keys are in headers
 * that a page has to know, never in cookies, so credentials are not allowed for, and `*` gives no more than
 * knowing a key does. The management API is never open to other origins.
 */
export function answerOtherOrigins(
  allowed: readonly string[],
  { method, url, headers }: FastifyRequest,
  reply: FastifyReply,
): boolean {
  if (allowed.length === 0 || !url.startsWith('/v1/')) return false
  const { origin } = headers
  const isForAll = allowed.includes('*')
  if (!isForAll) void reply.header('vary', 'Origin')
  if (origin === undefined || !(isForAll || allowed.includes(origin))) return false
  void reply.headers({
    'access-control-allow-origin': isForAll ? '*' : origin,
    'access-control-expose-headers': answerHeaders,
  })
  const wanted = headers['access-control-request-method']
  if (method !== 'OPTIONS' || wanted === undefined) return false
  void reply.headers({
    'access-control-allow-methods': methods,
    'access-control-allow-headers': listAllowed(headers['access-control-request-headers']),
    'access-control-max-age': preflightSeconds,
  })
  void reply.code(204).send()
  return true
}

/** Those of the wanted headers that clients have. They are named, since a wildcard would not cover `authorization`. */
function listAllowed(wanted: string | undefined): string {
  const names = (wanted ?? '').split(',').map((name) => name.trim().toLowerCase())
  return names.filter(isClientHeader).join(', ')
}

function isClientHeader(name: string): boolean {
  return clientHeaders.includes(name) || clientHeaderPrefixes.some((prefix) => name.startsWith(prefix))
}
