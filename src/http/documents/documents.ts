import type { FastifyReply, FastifyRequest } from 'fastify'
import { findEquivalent, modelEquivalents } from '../../core/model-equivalents.ts'
import type { OpenFormat } from '../../protocols/format.ts'
import { sendJson } from '../api/compressed.ts'
import { describeErrors, errorCataloguePath } from './error-catalogue.ts'
import { describeWireFormats, wireOpenApiPath } from './wire-openapi.ts'

const equivalentsPath = '/api/v1/equivalents.json'

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** What anybody may read of the service: how its formats are spoken, and what its errors mean. Nothing here depends on who asks. */
export function documentRoutes(formats: readonly OpenFormat[]): Readonly<Record<string, { readonly GET: Handler }>> {
  return {
    [wireOpenApiPath]: { GET: once(() => describeWireFormats(formats)) },
    [errorCataloguePath]: { GET: once(() => describeErrors(formats)) },
    [equivalentsPath]: {
      GET: (request, reply) => sendDocument(request, reply, JSON.stringify(describeEquivalents(request))),
    },
  }
}

/** Which models stand in for those of other vendors, and for the one that is asked about by `name`. */
function describeEquivalents({ query }: FastifyRequest) {
  const { name } = query as { readonly name?: unknown }
  const found = typeof name === 'string' ? findEquivalent(name) : null
  const show = ({ kind, model, examples }: (typeof modelEquivalents)[number]) => ({ kind, model, examples })
  return { found: found === null ? null : show(found), equivalents: modelEquivalents.map(show) }
}

/** It takes some milliseconds to make, for which no start should wait. */
function once(describe: () => unknown): Handler {
  let text: string | null = null
  return (request, reply) => sendDocument(request, reply, (text ??= JSON.stringify(describe())))
}

async function sendDocument(request: FastifyRequest, reply: FastifyReply, text: string): Promise<void> {
  void reply.headers({ 'cache-control': 'public, max-age=300', 'x-content-type-options': 'nosniff' })
  await sendJson(text, request, reply)
}
