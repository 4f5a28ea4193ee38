import { z } from 'zod'
import { statusOf, takesIdempotencyKey } from './carry-out.ts'
import { problemKinds } from './problem.ts'
import { bodyBytesMax } from './read-input.ts'
import type { Access, Route } from './route.ts'

export const openApiPath = '/api/v1/openapi.json'

type Node = { readonly [key: string]: unknown }

/** The API's description by OpenAPI 3.1, made of the table that is served. */
export function describeApi(routes: readonly Route[]): Node {
  const schemas: Record<string, unknown> = { Problem: problem }
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: describeRoute(route, schemas) }
  }
  paths[openApiPath] = { get: ownDescription }
  return {
    openapi: '3.1.1',
    info: { title: 'Odyssey management API', version: '1', description: introduction, license: { name: 'Apache-2.0' } },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { header: [] }, { cookie: [] }],
    paths,
    components: { schemas, responses, securitySchemes },
  }
}

const introduction = `Organizations, projects, members, keys, limits, budgets, prices, usage, the ledger and the audit.

Bodies are JSON of ${bodyBytesMax / 1_024} KiB at most, without fields that are not described here. Errors are problem
details (RFC 9457). What belongs to another organization is not found. Lists come in pages: \`next\` is given as
\`after\`. A POST with an Idempotency-Key is carried out once within 24 hours, however often it is sent; where the key is
not among the parameters it is refused.`

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A management key, which begins with sk-odym-.' },
  header: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The same key in another header.' },
  cookie: { type: 'apiKey', in: 'cookie', name: '__Host-odyssey', description: 'The session of a browser.' },
}

const problemSchema = z.strictObject({
  type: z.string().describe('A URN that names the kind of problem.'),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  instance: z.string().describe('The id of the request.'),
  errors: z
    .array(z.strictObject({ path: z.string(), message: z.string() }))
    .optional()
    .describe('The fields that are wrong.'),
})
const { $schema: _, ...problem } = z.toJSONSchema(problemSchema)

/** By status: what can go wrong anywhere. */
const errors: Readonly<Record<string, string>> = {
  '400': 'invalid-request',
  '401': 'unauthenticated',
  '403': 'permission-denied',
  '404': 'not-found',
  '409': 'conflict',
  '413': 'request-too-large',
  '415': 'unsupported-encoding',
  '429': 'rate-limited',
  '500': 'internal',
}
const withBodyOnly: ReadonlySet<string> = new Set(['413', '415'])
const withChangeOnly: ReadonlySet<string> = new Set(['409'])

const responses = Object.fromEntries(
  Object.entries(errors).map(([status, code]) => {
    const { title } = problemKinds[code as keyof typeof problemKinds]
    const example = {
      type: `urn:odyssey:problem:${code}`,
      title,
      status: Number(status),
      detail: title,
      instance: 'req_brPxwmjGdwhr0Xu2B6xb597A',
      ...(status === '400' && { errors: [{ path: 'name', message: 'There is no such field here.' }] }),
    }
    const schema = { $ref: '#/components/schemas/Problem' }
    return [`E${status}`, { description: title, content: { 'application/problem+json': { schema, example } } }]
  }),
)

const ownDescription = {
  operationId: 'getApiOpenapiJson',
  summary: 'This description. It needs no key.',
  security: [],
  responses: { '200': { description: 'OK', content: { 'application/json': { schema: { type: 'object' } } } } },
}

function describeRoute(route: Route, schemas: Record<string, unknown>): Node {
  const toSchema = (schema: z.ZodType, io: 'input' | 'output') => describeSchema(schema, io, schemas)
  const { body, example, permission, method, path, summary } = route
  const content = body && {
    'application/json': { schema: toSchema(body, 'input'), ...(example !== undefined && { example }) },
  }
  return {
    operationId: operationId(method, path),
    summary,
    description: accessWords(permission),
    ...accessScheme(permission),
    tags: [tagOf(route)],
    parameters: describeParameters(route, schemas),
    ...(content && { requestBody: { required: true, content } }),
    responses: describeResponses(route, toSchema),
  }
}

function accessWords(permission: Access): string {
  if (permission === 'public') return 'Needs nothing.'
  if (permission === 'self') return 'Needs a session, and is opened by no key.'
  return `Needs the permission \`${permission}\`.`
}

function accessScheme(permission: Access): Node {
  if (permission === 'public') return { security: [] }
  return permission === 'self' ? { security: [{ cookie: [] }] } : {}
}

/** What it is about: what the permission is for, or else the path. */
function tagOf({ permission, path }: Route): string {
  const words = permission.includes(':') ? permission.split(':') : path.replace('/api/v1/', '').split('/')
  return words[0] ?? ''
}

function describeResponses(
  route: Route,
  toSchema: (schema: z.ZodType, io: 'output') => unknown,
): Readonly<Record<string, unknown>> {
  const { answer, body, method } = route
  const refused = Object.keys(errors).filter((status) => {
    return (body !== null || !withBodyOnly.has(status)) && (method !== 'GET' || !withChangeOnly.has(status))
  })
  const references = refused.map((status) => [status, { $ref: `#/components/responses/E${status}` }] as const)
  return { [String(statusOf(route))]: describeAnswer(answer, toSchema), ...Object.fromEntries(references) }
}

function describeAnswer(answer: Route['answer'], toSchema: (schema: z.ZodType, io: 'output') => unknown): unknown {
  if (answer === 'nothing') return { description: 'Done.' }
  const text = { schema: { type: 'string' } }
  if (answer === 'export') {
    return { description: 'A file, as asked for.', content: { 'text/csv': text, 'application/jsonl': text } }
  }
  if (answer === 'bytes') {
    return { description: 'A file.', content: { 'application/octet-stream': text, 'text/plain': text } }
  }
  if (answer === 'events') return { description: 'A stream without an end.', content: { 'text/event-stream': text } }
  return { description: 'OK', content: { 'application/json': { schema: toSchema(answer, 'output') } } }
}

function describeParameters(route: Route, schemas: Record<string, unknown>): unknown[] {
  const { params, query } = route
  const idempotency = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Under the same key the same request is carried out once within 24 hours.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  }
  return [
    ...parametersOf(params, 'path', schemas),
    ...(query === null ? [] : parametersOf(query, 'query', schemas)),
    ...(takesIdempotencyKey(route) ? [idempotency] : []),
  ]
}

function parametersOf(schema: z.ZodObject, place: 'path' | 'query', schemas: Record<string, unknown>): unknown[] {
  const { properties = {}, required = [] } = describeSchema(schema, 'input', schemas) as {
    readonly properties?: Readonly<Record<string, { readonly description?: string }>>
    readonly required?: readonly string[]
  }
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description !== undefined && { description }),
    schema: rest,
  }))
}

/** Schemas that have a name of their own go to the components. */
function describeSchema(schema: z.ZodType, io: 'input' | 'output', schemas: Record<string, unknown>): unknown {
  const { $schema: __, $defs, ...described } = z.toJSONSchema(schema, { io, override: simplify })
  for (const [name, named] of Object.entries($defs ?? {})) schemas[name] = refer(named)
  return refer(described)
}

/** What the format of a time says need not be said again as a pattern. */
function simplify({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
}

function refer(described: unknown): unknown {
  return JSON.parse(JSON.stringify(described).replaceAll('"#/$defs/', '"#/components/schemas/')) as unknown
}

/** `postOrganizationsDisable` for `POST /api/v1/organizations/{organizationId}/disable`; unique, since paths are. */
function operationId(method: string, path: string): string {
  const words = path
    .replace('/api/v1/', '')
    .split(/[/-]/)
    .map((word) => (word.startsWith('{') ? `By${capital(word.slice(1, -1))}` : capital(word)))
  return `${method.toLowerCase()}${words.join('')}`
}

function capital(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`
}
