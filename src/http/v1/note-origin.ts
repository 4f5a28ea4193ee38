import type { FastifyReply, FastifyRequest } from 'fastify'
import { attribute } from '../../billing/attribution/attribute.ts'
import type { Deliveries } from '../../billing/deliveries/deliveries.ts'
import type { RequestOrigin } from '../../billing/ledger/ledger-entry.ts'
import type { Attribution } from '../../core/generation.ts'
import type { RequestId } from '../../core/ids.ts'
import type { ApiKeyPrincipal } from '../../core/principal.ts'
import type { HttpParts } from '../parts.ts'

/** What its client calls a request is kept in the ledger, up to this many characters. */
const clientRequestIdLengthMax = 128

type Received = {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly principal: ApiKeyPrincipal
  readonly protocol: RequestOrigin['protocol']
  readonly isStream: boolean
  readonly attribution: Attribution
  readonly body: Uint8Array
}

/**
 * Notes how a request came in, for its ledger row.
 *
 * It is followed until its answer has left. Where its client repeats it by itself, the charges for answers that did not
 * arrive are voided then.
 */
export function noteOrigin(parts: HttpParts, received: Received): RequestOrigin {
  const { request, protocol, isStream } = received
  const clientRequestId = shortHeader(request, 'x-client-request-id')
  const bodyHash = parts.deliveries === undefined ? null : followDelivery(parts.deliveries, received)
  return { protocol, isStream, clientRequestId, bodyHash, ...attributed(parts, received) }
}

function attributed(
  { hashEndUser }: HttpParts,
  { principal, attribution }: Received,
): Pick<RequestOrigin, 'attributed'> {
  const { organizationId, attribution: rules } = principal
  if (rules === undefined || hashEndUser === undefined) return {}
  return { attributed: attribute(attribution, { organizationId, rules, hash: hashEndUser }) }
}

function followDelivery(deliveries: Deliveries, { request, reply, principal, body }: Received): string {
  const bodyHash = deliveries.hashBody(principal.apiKeyId, body)
  const isRepeated = Number(shortHeader(request, 'x-stainless-retry-count')) >= 1
  const end = deliveries.begin(request.id as RequestId, isRepeated ? { principal, bodyHash } : null)
  const response = reply.raw
  // A refusal that arrives is no answer: it neither was charged nor is what the client had asked for again.
  if (response.closed) void end(false)
  else response.once('close', () => void end(response.writableFinished && response.statusCode < 300))
  return bodyHash
}

function shortHeader({ headers }: FastifyRequest, name: string): string | null {
  const value = headers[name]
  return typeof value === 'string' && value !== '' ? value.slice(0, clientRequestIdLengthMax) : null
}
