import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpParts } from '../parts.ts'
import { unenforcedHeader } from '../v1/tell-unenforced.ts'

/** A browser may remember the answer to a preflight for this long; none does for more than two hours. */
const preflightSeconds = 7_200
const methods = 'GET, POST'
const clientHeaders = ['content-type', 'x-client-request-id']
/** What a page may read of an answer besides its body and how the limits stand. */
const answerHeaders = [
  'request-id',
  'x-request-id',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  unenforcedHeader,
]

/**
 * Lets pages of other origins use the models, as far as the operator names their origins.
 *
 * CORS: where the answer is true, the request was a preflight, a browser's question whether it may ask, and is answered. Keys are in headers
 * that a page has to know, never in cookies, so credentials are not allowed for, and `*` gives no more than
 * knowing a key does. The management API is never open to other origins.
 */
export function createCrossOrigin({ corsOrigins, formats }: Pick<HttpParts, 'corsOrigins' | 'formats'>) {
  const exposed = [...answerHeaders, ...formats.flatMap(({ limitHeaderNames }) => limitHeaderNames)].join(', ')
  const names = new Set([...clientHeaders, ...formats.map(({ keyHeader }) => keyHeader.name)])
  const prefixes = formats.flatMap(({ clientHeaderPrefixes }) => clientHeaderPrefixes)
  const isClientHeader = (name: string) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
  const origins: Origins = { allowed: corsOrigins, exposed, isClientHeader }
  return (request: FastifyRequest, reply: FastifyReply): boolean => answerOtherOrigin(origins, request, reply)
}

type Origins = {
  readonly allowed: readonly string[]
  readonly exposed: string
  isClientHeader(name: string): boolean
}

function answerOtherOrigin(
  { allowed, exposed, isClientHeader }: Origins,
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
    'access-control-expose-headers': exposed,
  })
  const wanted = headers['access-control-request-method']
  if (method !== 'OPTIONS' || wanted === undefined) return false
  void reply.headers({
    'access-control-allow-methods': methods,
    'access-control-allow-headers': listAllowed(headers['access-control-request-headers'], isClientHeader),
    'access-control-max-age': preflightSeconds,
  })
  void reply.code(204).send()
  return true
}

/** Lists the wanted headers that clients have. They are named, since a wildcard would not cover `authorization`. */
function listAllowed(wanted: string | undefined, isClientHeader: Origins['isClientHeader']): string {
  const names = (wanted ?? '').split(',').map((name) => name.trim().toLowerCase())
  return names.filter(isClientHeader).join(', ')
}
