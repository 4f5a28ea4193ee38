import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { ApiError, invalidRequest } from '../../core/error.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { notFound } from '../../core/permission.ts'
import type { Bodies } from '../bodies/bodies.ts'
import { formatPath, InvalidFields } from './problem.ts'
import type { Route } from './route.ts'
import { organizationId } from './schemas.ts'

export const bodyBytesMax = 65_536
/** Under this name all bodies of the management API share the budget of one key. */
const managementKey = 'management'

/** An id that cannot be one is told like one that is nobody's. */
export function readParams({ params }: Pick<Route, 'params'>, request: FastifyRequest): Record<string, unknown> {
  const { '*': rest, ...named } = request.params as Record<string, unknown>
  const result = params.safeParse(rest === undefined ? named : { ...named, tile: rest })
  if (result.success && areIds(request)) return result.data
  throw notFound()
}

/** The organization that the query of a route of one's own names. An id that cannot be one is told as in a path. */
export function readAskedOrganization(
  { scope, query }: Pick<Route, 'scope' | 'query'>,
  request: FastifyRequest,
): { readonly organizationId?: OrganizationId } {
  const { organizationId: text } = request.query as Readonly<Record<string, unknown>>
  const isTaken = scope === 'own' && query !== null && Object.hasOwn(query.shape, 'organizationId')
  if (!isTaken || text === undefined) return {}
  const id = organizationId.safeParse(text)
  if (!id.success) throw notFound()
  return { organizationId: id.data }
}

/** Whether what a path names can be anybody's: no id has a character that PostgreSQL could not even be asked for. */
export function areIds({ params }: FastifyRequest): boolean {
  return findNul(params) === null
}

/** Query parameters are text; whole numbers and lists are read as what the schema asks for. */
export function createQueryReader({ query }: Pick<Route, 'query'>): (request: FastifyRequest) => unknown {
  const schema = query ?? z.strictObject({})
  let properties: JsonSchema['properties']
  return (request) => {
    // No start should wait for what most routes never need.
    const known = (properties ??= z.toJSONSchema(schema, { io: 'input' }).properties ?? {})
    const texts = request.query as Readonly<Record<string, string | readonly string[]>>
    const values = Object.entries(texts).map(([name, text]) => [name, readValue(text, known[name])] as const)
    return parse(schema, Object.fromEntries(values))
  }
}

type JsonSchema = z.core.JSONSchema.JSONSchema

function readValue(text: string | readonly string[], property: JsonSchema | boolean | undefined): unknown {
  const type = typeof property === 'object' ? property.type : undefined
  if (type === 'array') return typeof text === 'string' ? [text] : text
  return type === 'integer' && typeof text === 'string' && /^-?\d{1,15}$/.test(text) ? Number(text) : text
}

export async function readBody(
  { body }: Pick<Route, 'body'>,
  request: FastifyRequest,
  bodies: Bodies,
): Promise<unknown> {
  if (body === null) {
    if (hasBody(request)) throw invalidRequest(null, null, 'This request takes no body.')
    return undefined
  }
  requireJson(request)
  const open = bodies.open(request.raw, managementKey)
  try {
    return parse(body, await open.readJson(bodyBytesMax))
  } finally {
    open.release()
  }
}

function hasBody({ raw: { headers } }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** A browser sends JSON to other sites only after it has asked them; what it sends without asking is refused here. */
export function requireJson({ raw: { rawHeaders } }: FastifyRequest): void {
  // The door takes the type away before this, as the routes for models do not go by it.
  const index = rawHeaders.findIndex((name, place) => place % 2 === 0 && name.toLowerCase() === 'content-type')
  const type = index < 0 ? '' : (rawHeaders[index + 1] ?? '')
  if (/^application\/(?:[\w.-]+\+)?json *(?:;|$)/i.test(type.trim())) return
  throw new ApiError({ code: 'unsupported-encoding' }, 'The body must be JSON, with content-type: application/json.')
}

function parse<Output>(schema: z.ZodType<Output>, value: unknown): Output {
  const result = schema.safeParse(value)
  if (!result.success) throw new InvalidFields(result.error.issues.flatMap(describeIssue))
  const nul = findNul(value)
  if (nul === null) return result.data
  throw new InvalidFields([{ path: formatPath(nul), message: 'The character U+0000 cannot stand in a text.' }])
}

/** The path of a text, or of a field's name, with the one character that PostgreSQL keeps in no text; null where there is none. */
function findNul(value: unknown): (string | number)[] | null {
  if (typeof value === 'string') return value.includes('\0') ? [] : null
  if (typeof value !== 'object' || value === null) return null
  for (const [key, inner] of Object.entries(value)) {
    const path = key.includes('\0') ? [] : findNul(inner)
    if (path !== null) return [Array.isArray(value) ? Number(key) : key.replaceAll('\0', ''), ...path]
  }
  return null
}

function describeIssue(issue: z.core.$ZodIssue): { path: string; message: string }[] {
  const path = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key))
  if (issue.code !== 'unrecognized_keys') return [{ path: formatPath(path), message: issue.message }]
  return issue.keys.slice(0, 20).map((key) => {
    return { path: formatPath([...path, key.slice(0, 100)]), message: 'There is no such field here.' }
  })
}
