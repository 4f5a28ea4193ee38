import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalidRequest } from '../../core/error.ts'
import type { Feature } from '../../core/feature.ts'
import type { Lifecycle, ServedModel } from '../../core/model.ts'
import type { Json } from '../../protocols/protocol.ts'
import { authenticate, mayUse, unknownModel } from '../middleware/authenticate.ts'
import type { HttpParts } from '../parts.ts'

/** `GET /v1/models`: one answer that the clients of both formats read. */
export function listModelsRoute(parts: HttpParts) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { access } = await authenticate(parts, request, 'models')
    const entries = parts.inference.catalog.list().filter(({ model }) => mayUse(access, model.id))
    const featuresOf = ({ id }: ServedModel) => parts.inference.catalog.find(id).engine.status().features
    const models = entries.map(({ model }) => model)
    await reply
      .type('application/json')
      .send(JSON.stringify(encodeModelList(models, request.query as ModelListQuery, featuresOf)))
  }
}

export function retrieveModelRoute(parts: HttpParts) {
  return async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply): Promise<void> => {
    const { access } = await authenticate(parts, request, 'models')
    const { id } = request.params
    const entry = parts.inference.catalog.list().find(({ model }) => model.id === id)
    // To a key that may not use a model there is none.
    if (entry === undefined || !mayUse(access, entry.model.id)) throw unknownModel(access, id)
    const { model, engine } = entry
    await reply.type('application/json').send(JSON.stringify(encodeModel(model, engine.status().features)))
  }
}

/** A query string as parsed by the door: a key given more than once holds a list. */
export type ModelListQuery = Readonly<Record<string, string | readonly string[] | undefined>>

const limitDefault = 20
const limitMax = 1000

/** One entry that the clients of both formats read; each ignores the other's keys. */
export function encodeModel(model: ServedModel, features: ReadonlySet<Feature>): Json {
  const created = Math.floor(model.createdAtMs / 1000)
  return {
    id: model.id,
    object: 'model',
    type: 'model',
    created,
    created_at: new Date(created * 1000).toISOString().replace('.000Z', 'Z'),
    owned_by: 'organization',
    display_name: model.displayName,
    description: model.description,
    shutdown_date: timeOf(model.lifecycle?.retiresAtMs),
    lifecycle: stageOf(model),
    deprecated_at: timeOf(model.lifecycle?.deprecatedAtMs),
    retires_at: timeOf(model.lifecycle?.retiresAtMs),
    line: null,
    // One token of the window is left to the answer.
    max_input_tokens: model.windowTokens - 1,
    max_tokens: model.outputTokensMax,
    // No name for the window has prevailed; these are the ones that clients look for.
    context_length: model.windowTokens,
    context_window: model.windowTokens,
    max_model_len: model.windowTokens,
    max_output_tokens: model.outputTokensMax,
    capabilities: encodeCapabilities(features),
    // Said only where the model's template has no place for tools.
    ...(features.has('generic-tools') && { tool_format: 'generic' }),
  }
}

/** A model whose end is announced is deprecated, also before the day from which on it counts as that. */
function stageOf({ lifecycle }: ServedModel): string {
  return lifecycle === null || lifecycle === undefined ? 'active' : 'deprecated'
}

function timeOf(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : new Date(ms).toISOString().replace('.000Z', 'Z')
}

function encodeCapabilities(features: ReadonlySet<Feature>): Json {
  const yes = { supported: true }
  const no = { supported: false }
  return {
    batch: no,
    citations: no,
    code_execution: no,
    context_management: { ...no, clear_thinking_20251015: no, clear_tool_uses_20250919: no, compact_20260112: no },
    effort: { ...yes, low: yes, medium: yes, high: yes, xhigh: yes, max: yes },
    image_input: { supported: features.has('images') },
    pdf_input: no,
    server_tools: { ...no, code_execution: no, web_search: no },
    structured_outputs: { supported: features.has('json-output') },
    thinking: { ...yes, types: { adaptive: yes, between_tools: yes, disabled: yes, enabled: yes } },
  }
}

/** One page of `models`, in the order given. */
export function encodeModelList(
  models: readonly ServedModel[],
  query: ModelListQuery,
  featuresOf: (model: ServedModel) => ReadonlySet<Feature>,
): Json {
  const limit = readLimit(query)
  const after = readCursor(models, query, 'after_id')
  const before = readCursor(models, query, 'before_id')
  const isWanted = readStages(query)
  const candidates = models.slice((after ?? -1) + 1, before ?? models.length).filter(isWanted)
  // A page before a cursor is the one that touches it.
  const page = before !== null && after === null ? candidates.slice(-limit) : candidates.slice(0, limit)
  return {
    object: 'list',
    data: page.map((model) => encodeModel(model, featuresOf(model))),
    has_more: page.length < candidates.length,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  }
}

function readLimit(query: ModelListQuery): number {
  const text = lastOf(query['limit'])
  if (text === undefined) return limitDefault
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= limitMax) return limit
  throw invalidRequest(['limit'], 'value', `limit: expected an integer from 1 to ${limitMax}`)
}

function readCursor(models: readonly ServedModel[], query: ModelListQuery, name: 'after_id' | 'before_id') {
  const id = lastOf(query[name])
  if (id === undefined) return null
  const index = models.findIndex((model) => model.id === id)
  if (index === -1) throw invalidRequest([name], 'value', `${name}: no model has this id`)
  return index
}

/** Tells which models are in the stages that are asked for; without any, all are. */
function readStages(query: ModelListQuery): (model: ServedModel) => boolean {
  const stages = [query['lifecycle[]'] ?? query['lifecycle'] ?? []].flat()
  for (const stage of stages) {
    if (['active', 'deprecated', 'retired'].includes(stage)) continue
    throw invalidRequest(['lifecycle[]'], 'value', 'lifecycle[]: expected active, deprecated or retired')
  }
  return (model) => stages.length === 0 || stages.includes(stageOf(model))
}

function lastOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value.at(-1) : value
}

/** Where the operator has announced a model's end: since when (RFC 9745), and until when it answers (RFC 8594). */
export function lifecycleHeaders(lifecycle: Lifecycle | null | undefined): Record<string, string> {
  if (lifecycle === null || lifecycle === undefined) return {}
  const { deprecatedAtMs, retiresAtMs } = lifecycle
  return {
    deprecation: `@${Math.floor(deprecatedAtMs / 1_000)}`,
    ...(retiresAtMs !== null && { sunset: new Date(retiresAtMs).toUTCString() }),
  }
}
