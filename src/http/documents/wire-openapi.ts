import { z } from 'zod'
import type { GeneratedBlock, Generation } from '../../core/collect.ts'
import { ApiError } from '../../core/error.ts'
import { features } from '../../core/feature.ts'
import { modelIds, type ServedModel } from '../../core/model.ts'
import { describeServedModel } from '../../models/served-models.ts'
import { errorExplanations } from '../../protocols/error-catalogue.ts'
import type { FormatRoute, OpenFormat } from '../../protocols/format.ts'
import { encodeSharedError } from '../../protocols/shared-error.ts'
import { encodeModel, encodeModelList } from '../v1/models.ts'

export const wireOpenApiPath = '/v1/openapi.json'

type Node = { readonly [key: string]: unknown }

/**
 * The wire formats' description by OpenAPI 3.1.
 *
 * Bodies are described by the schemas that read them, and answers by what the code that writes answers makes of
 * examples: neither can say what the service does not do.
 */
export function describeWireFormats(formats: readonly OpenFormat[]): Node {
  const paths: Record<string, Node> = {}
  for (const format of formats) {
    for (const route of format.routes) paths[route.path] = { post: describeRoute(format, route) }
  }
  paths['/v1/models'] = { get: models }
  paths['/v1/models/{id}'] = { get: oneModel }
  return {
    openapi: '3.1.1',
    info: { title: 'Odyssey models', version: '1', description: introduction, license: { name: 'Apache-2.0' } },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { header: [] }],
    paths,
    components: { securitySchemes },
  }
}

const introduction = `The models in each wire format that this service speaks. A key works in all of them, in either header.
Fields that would change an answer and cannot be honoured are refused by name. Errors: /docs/errors.`

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key, which begins with sk-ody-.' },
  header: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The same key in another header.' },
}

function describeRoute(format: OpenFormat, route: FormatRoute): Node {
  const { stream: _, ...example } = format.rehearsal(modelIds[0]) as { readonly stream?: unknown }
  const isCount = route.use === 'count'
  return {
    operationId: route.endpoint,
    summary: isCount ? 'Count the input tokens of a request' : `Answer in the format ${format.name}`,
    description: isCount ? 'Computes nothing else and costs nothing.' : 'With `stream` the answer comes as events.',
    tags: [format.name],
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: schemaOf(route.body), example: isCount ? withoutLimit(example) : example },
      },
    },
    responses: {
      '200': isCount ? countAnswer(format) : generationAnswer(format, example),
      default: failureOf((error) => format.protocol.encodeError(error, meta.requestId).body),
    },
  }
}

function schemaOf(body: z.ZodType): unknown {
  const { $schema: _, ...schema } = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' })
  // A bound that is none comes out as null, which no schema may have.
  const isNoBound = (key: string, value: unknown) => value === null && /^(?:minimum|maximum)$/.test(key)
  const text = JSON.stringify(schema, (key, value: unknown) => (isNoBound(key, value) ? undefined : value))
  return JSON.parse(text) as unknown
}

function withoutLimit(example: object): unknown {
  return Object.fromEntries(Object.entries(example).filter(([name]) => name !== 'max_tokens'))
}

const meta = {
  requestId: 'req_brPxwmjGdwhr0Xu2B6xb597A',
  model: modelIds[0],
  createdAtMs: Date.UTC(2026, 10, 5),
} as const
const usage = {
  inputUncached: 31,
  inputCacheRead: 0,
  inputCacheWrite: 0,
  inputCacheWriteLong: 0,
  output: 6,
  outputThinking: 0,
}
const text: GeneratedBlock = { kind: 'text', text: 'Seven eight nine.', logprobs: null }
const generation: Generation = { blocks: [text], reason: { kind: 'end' }, usage }

const token = { bytes: new TextEncoder().encode('Seven'), logprob: -0.1 }
/** Answers that have between them all that there may be in one. */
const generations: readonly Generation[] = [
  generation,
  {
    blocks: [
      { kind: 'thinking', text: 'Count on.', logprobs: null },
      { ...text, logprobs: [{ ...token, top: [token] }] },
      { kind: 'tool-call', id: 'call_1', name: 'count', text: '{}', logprobs: null },
    ],
    reason: { kind: 'tool-calls' },
    usage,
  },
  { blocks: [text], reason: { kind: 'stop-sequence', sequence: 'ten' }, usage },
  { blocks: [text], reason: { kind: 'refusal' }, usage },
]

function generationAnswer({ protocol }: OpenFormat, example: object): Node {
  const encode = (answer: Generation) => protocol.decode(example).encoder.encodeAnswer([answer], meta)
  const events = { schema: { type: 'string', description: 'Server-sent events, where `stream` is true.' } }
  return {
    description: 'The answer.',
    content: {
      'application/json': { schema: shapeOf(generations.map(encode)), example: encode(generation) },
      'text/event-stream': events,
    },
  }
}

function countAnswer({ protocol, rehearsal }: OpenFormat): Node {
  const { count } = protocol
  const example = count?.encode(31, count.decodeShaped(rehearsal(modelIds[0])).shape) ?? null
  return { description: 'The number.', content: { 'application/json': { schema: shapeOf([example]), example } } }
}

/** How a failure is told, by how all of them are. */
function failureOf(encode: (error: ApiError) => unknown): Node {
  const bodies = Object.values(errorExplanations).flatMap(({ examples }) =>
    examples
      .flatMap(({ chatCompletions, messages }) => [chatCompletions ?? [], messages ?? []].flat())
      .map(({ reason, text: said }) => encode(new ApiError(reason, said))),
  )
  return {
    description: 'An error in the format’s own shape; /docs/errors lists them all.',
    content: { 'application/json': { schema: shapeOf(bodies) } },
  }
}

/** The schema of what is written, by the fields and types of examples; a field that one of them lacks may be missing. */
function shapeOf(values: readonly unknown[]): Node {
  const types = [...new Set(values.map(typeOf))]
  const objects = values.filter((value) => typeOf(value) === 'object') as Readonly<Record<string, unknown>>[]
  const entries = values.flatMap((value): unknown[] => (Array.isArray(value) ? value : []))
  const names = [...new Set(objects.flatMap((value) => Object.keys(value)))]
  const properties = Object.fromEntries(
    names.map((name) => [name, shapeOf(objects.flatMap((value) => (name in value ? [value[name]] : [])))]),
  )
  return {
    type: types.length === 1 ? types[0] : types,
    ...(names.length > 0 && { properties, required: names.filter((name) => objects.every((value) => name in value)) }),
    ...(entries.length > 0 && { items: shapeOf(entries) }),
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

const kept = describeServedModel(modelIds[0], { thinking: 'off', outputTokensMax: 64_000 })
const lifecycle = { deprecatedAtMs: Date.UTC(2027, 0, 1), retiresAtMs: Date.UTC(2027, 6, 1) }
const announced: ServedModel = { ...kept, lifecycle }
const all = new Set(features)
const others = new Set(features.filter((feature) => feature !== 'generic-tools'))

function listOf(served: readonly ServedModel[]): unknown {
  return encodeModelList(served, {}, (model) => (model === announced ? all : others))
}

const sharedFailure = failureOf((error) => encodeSharedError(error, meta.requestId).body)

const models = {
  operationId: 'models',
  summary: 'List the models that the key may use',
  tags: ['models'],
  parameters: [
    {
      name: 'limit',
      in: 'query',
      description: 'How many of them at most.',
      schema: { type: 'integer', minimum: 1, maximum: 1_000, default: 20 },
    },
    { name: 'after_id', in: 'query', description: 'Those behind this model.', schema: { type: 'string' } },
    { name: 'before_id', in: 'query', description: 'Those before this model.', schema: { type: 'string' } },
    {
      name: 'lifecycle[]',
      in: 'query',
      description: 'Those in these stages; may be given several times.',
      schema: { enum: ['active', 'deprecated', 'retired'] },
    },
  ],
  responses: {
    '200': {
      description: 'One list that the clients of all formats read.',
      content: {
        'application/json': { schema: shapeOf([listOf([]), listOf([announced, kept])]), example: listOf([kept]) },
      },
    },
    default: sharedFailure,
  },
}

const oneModel = {
  operationId: 'model',
  summary: 'Read one of the models that the key may use',
  tags: ['models'],
  parameters: [{ name: 'id', in: 'path', required: true, description: 'Its name.', schema: { enum: modelIds } }],
  responses: {
    '200': {
      description: 'The model, as it is in the list.',
      content: {
        'application/json': {
          schema: shapeOf([encodeModel(announced, all), encodeModel(kept, others)]),
          example: encodeModel(kept, others),
        },
      },
    },
    default: sharedFailure,
  },
}
