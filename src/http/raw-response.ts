import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'

/** Takes an answer over from the framework, whose raw response knows nothing of the headers set on the reply. */
export function takeOver(reply: FastifyReply): ServerResponse {
  reply.hijack()
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value)
  return reply.raw
}
