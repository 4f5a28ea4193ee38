import type { OutgoingHttpHeader, ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'

export type RawResponse = {
  readonly raw: ServerResponse
  /** Those set on the reply, for the head: the raw response knows nothing of them. */
  readonly headers: Readonly<Record<string, OutgoingHttpHeader | undefined>>
}

/** Takes an answer over from the framework. */
export function takeOver(reply: FastifyReply): RawResponse {
  reply.hijack()
  return { raw: reply.raw, headers: reply.getHeaders() }
}
