import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Deliveries } from '../billing/deliveries/deliveries.ts'
import type { RequestOrigin } from '../billing/ledger/ledger-entry.ts'
import type { RequestId } from '../core/ids.ts'
import type { ApiKeyPrincipal } from '../core/principal.ts'
import type { HttpParts } from './parts.ts'

const clientRequestIdLengthMax = 128

export type Received = {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly principal: ApiKeyPrincipal
  readonly protocol: RequestOrigin['protocol']
  readonly isStream: boolean
  readonly body: Uint8Array
}

/**
 * Notes how a request came in, for its ledger row.
 *
 * One that its client repeats by itself has the charge for an answer that did
 * not arrive voided first; and it is followed until its own answer has left.
 */
export async function noteOrigin(parts: HttpParts, received: Received): Promise<RequestOrigin> {
  const { request, protocol, isStream } = received
  const clientRequestId = shortHeader(request, 'x-client-request-id')
  const bodyHash = parts.deliveries === undefined ? null : await followDelivery(parts, parts.deliveries, received)
  return { protocol, isStream, clientRequestId, bodyHash }
}

async function followDelivery(
  { log }: HttpParts,
  deliveries: Deliveries,
  { request, reply, principal, body }: Received,
): Promise<string> {
  const bodyHash = deliveries.hashBody(principal.apiKeyId, body)
  if (Number(shortHeader(request, 'x-stainless-retry-count')) >= 1) {
    await deliveries.voidUndelivered(principal, bodyHash).catch((error: unknown) => {
      log.warn({ error }, 'it is not known whether an earlier answer arrived')
    })
  }
  const end = deliveries.begin(request.id as RequestId)
  const response = reply.raw
  if (response.closed) end(false)
  else response.once('close', () => end(response.writableFinished))
  return bodyHash
}

function shortHeader({ headers }: FastifyRequest, name: string): string | null {
  const value = headers[name]
  return typeof value === 'string' && value !== '' ? value.slice(0, clientRequestIdLengthMax) : null
}
