import type { FastifyReply, FastifyRequest } from 'fastify'
import { findEquivalent, modelEquivalents } from '../../core/model-equivalents.ts'
import type { OpenFormat } from '../../protocols/format.ts'
import { sendJson } from '../api/compressed.ts'
import { describeWireFormats, wireOpenApiPath } from './wire-openapi.ts'
import { ApiError, type ApiErrorCode } from '../../core/error.ts'
import { type ErrorExample, errorExplanations, type ErrorFault } from '../../protocols/error-catalogue.ts'
import type { EncodedError } from '../../protocols/protocol.ts'
import { encodeProblem, problemKinds } from '../api/problem.ts'
import { listAuditKeys } from '../../accounts/transparency/signing-keys.ts'
import type { HttpParts } from '../parts.ts'

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

const errorCataloguePath = '/api/v1/errors.json'

const whose = { caller: 'yours', operator: 'the operator’s', load: 'nobody’s: it passes' } as const satisfies Record<
  ErrorFault,
  string
>

export type ErrorCatalogue = { readonly errors: readonly DocumentedError[] }
export type DocumentedError = {
  readonly code: string
  readonly title: string
  readonly means: string
  readonly whose: (typeof whose)[ErrorFault]
  readonly retry: 'no' | 'after a while'
  readonly todo: string
  /** By format, and as the management API tells it. */
  readonly shapes: readonly (Pick<EncodedError, 'status' | 'body' | 'headers'> & { readonly format: string })[]
}

const requestId = 'req_brPxwmjGdwhr0Xu2B6xb597A'

/** Lists every error with what it means, and how each wire format and the management API tell it. */
export function describeErrors(formats: readonly OpenFormat[]): ErrorCatalogue {
  const errors = Object.entries(errorExplanations).map(([code, { meaning, advice, fault, examples }]) => {
    const error = instanceOf(examples)
    const told = formats.map(({ name, protocol }) => ({ format: name, ...protocol.encodeError(error, requestId) }))
    const shapes = [...told, { format: 'management API', ...encodeProblem(error, requestId) }]
    const isFinal = shapes.every(({ headers }) => headers['x-should-retry'] === 'false')
    return {
      code,
      title: problemKinds[code as ApiErrorCode].title,
      means: toPlainText(meaning),
      whose: whose[fault],
      retry: isFinal ? 'no' : 'after a while',
      todo: toPlainText(advice),
      shapes,
    } as const
  })
  return { errors }
}

/** Each format words a wrong field in its own way, so an example without one is the same in all of them. */
function instanceOf(examples: readonly ErrorExample[]): ApiError {
  const said = examples.flatMap(({ chatCompletions, messages }) => chatCompletions ?? messages ?? [])
  const shown = said.find(({ reason }) => !('path' in reason) || reason.path === null) ?? said[0]
  if (shown === undefined) throw new Error('An error has no example.')
  return new ApiError(shown.reason, shown.text)
}

/** The table is written for pages in Markdown. */
function toPlainText(text: string): string {
  return text.replaceAll('`', '')
}

export const auditKeysPath = '/.well-known/odyssey-audit-keys'

/** Anybody may ask, and the database is asked no more often than this for all of them. */
const keptMs = 10_000

type KeyParts = {
  readonly inference: Pick<HttpParts['inference'], 'clock'>
  readonly management: { readonly accounts: Pick<HttpParts['management']['accounts'], 'db'> }
}

/**
 * `GET /.well-known/odyssey-audit-keys`: the keys that sign the audit's checkpoints, the newest first.
 *
 * Without the names of logs, in which organizations stand: whoever has a checkpoint reads the name in its first line.
 */
export function auditKeysRoute({ inference: { clock }, management }: KeyParts) {
  let kept: { readonly text: Promise<string>; readonly untilMs: number } | null = null
  return async (_request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const nowMs = clock.monotonicMs()
    if (kept === null || kept.untilMs <= nowMs) {
      kept = { text: describeKeys(management.accounts), untilMs: nowMs + keptMs }
      // What could not be read is asked for again by the next one.
      kept.text.catch(() => (kept = null))
    }
    const text = await kept.text
    await reply.header('cache-control', 'public, max-age=10').type('application/json').send(text)
  }
}

async function describeKeys({ db }: KeyParts['management']['accounts']): Promise<string> {
  const keys = (await listAuditKeys(db)).toReversed().map(({ publicKey, createdAtMs }) => {
    return {
      algorithm: 'Ed25519',
      publicKey: Buffer.from(publicKey).toString('base64'),
      createdAt: new Date(createdAtMs).toISOString(),
    }
  })
  return JSON.stringify({ keys })
}
