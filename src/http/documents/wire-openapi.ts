import { z } from 'zod'
import type { Generation } from '../../core/collect.ts'
import { modelIds } from '../../core/model.ts'
import type { FormatRoute, OpenFormat } from '../../protocols/format.ts'

export const wireOpenApiPath = '/v1/openapi.json'

type Node = { readonly [key: string]: unknown }

/**
 * The wire formats' description by OpenAPI 3.1.
 *
 * Bodies are described by the schemas that read them, and examples of answers come from the code that writes answers:
 * neither can say what the service does not do.
 */
export function describeWireFormats(formats: readonly OpenFormat[]): Node {
  const paths: Record<string, Node> = {}
  for (const format of formats) {
    for (const route of format.routes) paths[route.path] = { post: describeRoute(format, route) }
  }
  paths['/v1/models'] = { get: models }
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
    responses: { '200': isCount ? countAnswer(format) : generationAnswer(format, example), default: failure },
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
const generation: Generation = {
  blocks: [{ kind: 'text', text: 'Seven eight nine.', logprobs: null }],
  reason: { kind: 'end' },
  usage: {
    inputUncached: 31,
    inputCacheRead: 0,
    inputCacheWrite: 0,
    inputCacheWriteLong: 0,
    output: 6,
    outputThinking: 0,
  },
}

function generationAnswer({ protocol }: OpenFormat, example: object): Node {
  const answer = protocol.decode(example).encoder.encodeAnswer([generation], meta)
  const events = { schema: { type: 'string', description: 'Server-sent events, where `stream` is true.' } }
  return {
    description: 'The answer.',
    content: {
      'application/json': { schema: { type: 'object' }, example: answer },
      'text/event-stream': events,
    },
  }
}

function countAnswer({ protocol, rehearsal }: OpenFormat): Node {
  const { count } = protocol
  const example = count?.encode(31, count.decodeShaped(rehearsal(modelIds[0])).shape) ?? null
  return { description: 'The number.', content: { 'application/json': { schema: { type: 'object' }, example } } }
}

const failure = {
  description: 'An error in the format’s own shape; /docs/errors lists them all.',
  content: { 'application/json': { schema: { type: 'object' } } },
}

const models = {
  operationId: 'models',
  summary: 'List the models that the key may use',
  tags: ['models'],
  responses: {
    '200': {
      description: 'One list that the clients of all formats read.',
      content: { 'application/json': { schema: { type: 'object' } } },
    },
    default: failure,
  },
}
