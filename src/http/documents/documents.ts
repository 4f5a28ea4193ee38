import type { FastifyReply, FastifyRequest } from 'fastify'
import type { OpenFormat } from '../../protocols/format.ts'
import { describeErrors, errorCataloguePath } from './error-catalogue.ts'
import { describeWireFormats, wireOpenApiPath } from './wire-openapi.ts'

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** What anybody may read of the service: how its formats are spoken, and what its errors mean. Nothing here depends on who asks. */
export function documentRoutes(formats: readonly OpenFormat[]): Readonly<Record<string, { readonly GET: Handler }>> {
  return {
    [wireOpenApiPath]: { GET: once(() => describeWireFormats(formats)) },
    [errorCataloguePath]: { GET: once(() => describeErrors(formats)) },
  }
}

/** It takes some milliseconds to make, for which no start should wait. */
function once(describe: () => unknown): Handler {
  let text: string | null = null
  return async (_request, reply) => {
    text ??= JSON.stringify(describe())
    await reply
      .headers({ 'cache-control': 'public, max-age=300', 'x-content-type-options': 'nosniff' })
      .type('application/json')
      .send(text)
  }
}
