// The addresses of SCIM 2.0 (RFC 7644), at which directories tell who the members of their organization are.

import type { FastifyInstance, HTTPMethods } from 'fastify'
import { createGroup, deleteGroup, updateGroup } from '../../accounts/directory/groups.ts'
import { listGroups, readGroup } from '../../accounts/directory/read-groups.ts'
import { listUsers, readUser } from '../../accounts/directory/read-users.ts'
import { ScimFault } from '../../accounts/directory/scim/fault.ts'
import { countMax, type Listed, type ListRequest } from '../../accounts/directory/scim/list.ts'
import { applyPatch } from '../../accounts/directory/scim/patch.ts'
import {
  project,
  readOwn,
  readResource,
  type Projection,
  type Resource,
} from '../../accounts/directory/scim/resource.ts'
import {
  describeAttribute,
  groups,
  resourceTypes,
  schemas,
  users,
  type ResourceType,
  type Schema,
} from '../../accounts/directory/scim/schema.ts'
import { createUser, deleteUser, updateUser, type UserChange } from '../../accounts/directory/users.ts'
import { FailedAttempts } from '../api/failed-attempts.ts'
import { httpMethods, methodNotAllowed } from '../methods.ts'
import type { Door } from '../parts.ts'
import {
  answerScim,
  askingOf,
  readListRequest,
  readProjection,
  type AskedScim,
  type Asking,
  type ScimAnswer,
  type ScimWork,
} from './scim-exchange.ts'

const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'

type Works = Partial<Record<HTTPMethods, ScimWork>>

/** What is done with users and with groups. */
type Kind = {
  readonly type: ResourceType
  create(asked: AskedScim, resource: Resource): Promise<Resource>
  read(asked: AskedScim): Promise<Resource>
  update(asked: AskedScim, change: UserChange['change']): Promise<Resource>
  remove(asked: AskedScim): Promise<void>
  list(asked: AskedScim, request: ListRequest, projection: Projection): Promise<Listed>
}

const kinds: readonly Kind[] = [
  {
    type: users,
    create: ({ parts, directory, baseUrl }, resource) => createUser(parts, directory, { resource, baseUrl }),
    read: ({ parts, directory, ...asked }) => readUser(parts, directory, asked),
    update: ({ parts, directory, ...asked }, change) => updateUser(parts, directory, { ...asked, change }),
    remove: ({ parts, directory, ...asked }) => deleteUser(parts, directory, asked),
    list: ({ parts, directory, baseUrl }, request) => listUsers(parts, directory, { ...request, baseUrl }),
  },
  {
    type: groups,
    create: ({ parts, directory, baseUrl }, resource) => createGroup(parts, directory, { resource, baseUrl }),
    read: ({ parts, directory, ...asked }) => readGroup(parts, directory, asked),
    update: ({ parts, directory, ...asked }, change) => updateGroup(parts, directory, { ...asked, change }),
    remove: ({ parts, directory, ...asked }) => deleteGroup(parts, directory, asked),
    list: ({ parts, directory, baseUrl }, request, projection) =>
      listGroups(parts, directory, { ...request, baseUrl, hasMembers: hasMembers(projection) }),
  },
]

/** Large groups are told without their members to whom does not ask for them, and cost no more than small ones then. */
function hasMembers({ only, without }: Projection): boolean {
  const isMembers = (name: string) => /(?:^|:)members(?:\.|$)/i.test(name)
  return (only === null || only.some(isMembers)) && !without.some((name) => /(?:^|:)members$/i.test(name))
}

export function addScimRoutes(app: FastifyInstance, door: Door): void {
  const { clock, db } = door.management.accounts
  const attempts = new FailedAttempts(clock, db)
  const add = (path: string, works: Works) =>
    addPath(app, `/scim/v2${path}`, works, (work) => answerScim(door, attempts, work))
  for (const kind of kinds) addKind(add, kind)
  add('/.search', { POST: searchAll })
  add('/ServiceProviderConfig', { GET: describeService })
  add('/ResourceTypes', { GET: (asked) => tell(resourceTypes.map((type) => describeType(asked, type))) })
  add('/ResourceTypes/:id', {
    GET: (asked) =>
      tellOne(
        resourceTypes.find(({ name }) => name === asked.id),
        (type) => describeType(asked, type),
      ),
  })
  add('/Schemas', { GET: (asked) => tell(schemas.map((schema) => describeSchema(asked, schema))) })
  add('/Schemas/:id', {
    GET: (asked) =>
      tellOne(
        schemas.find(({ id }) => id === asked.id),
        (schema) => describeSchema(asked, schema),
      ),
  })
  const refuse: ScimWork = () => Promise.reject(new ScimFault(501, null, 'This part of SCIM is not spoken here.'))
  add('/Bulk', { POST: refuse })
  add('/Me', { GET: refuse, POST: refuse, PUT: refuse, PATCH: refuse, DELETE: refuse })
}

function addPath(
  app: FastifyInstance,
  url: string,
  works: Works,
  answer: (work: ScimWork) => ReturnType<typeof answerScim>,
): void {
  const allowed = Object.keys(works)
  const refuse: ScimWork = ({ request }) => Promise.reject(methodNotAllowed(request.method, allowed))
  for (const method of httpMethods) app.route({ method, url, handler: answer(works[method] ?? refuse) })
}

function addKind(add: (path: string, works: Works) => void, kind: Kind): void {
  const { type } = kind
  const answer = (status: number, resource: Resource, { request }: AskedScim): ScimAnswer => {
    return { status, body: project(type, resource, readProjection(askingOf(request))), meta: resource['meta'] }
  }
  add(type.endpoint, {
    GET: (asked) => list(kind, asked, askingOf(asked.request)),
    POST: async (asked) => {
      const resource = readResource(type, await asked.readBody())
      return answer(201, await kind.create(asked, resource), asked)
    },
  })
  add(`${type.endpoint}/.search`, { POST: async (asked) => list(kind, asked, askingIn(await asked.readBody())) })
  add(`${type.endpoint}/:id`, {
    GET: async (asked) => answer(200, await kind.read(asked), asked),
    PUT: async (asked) => {
      const given = readResource(type, await asked.readBody())
      const replaced = await kind.update(asked, ({ active }) => ({ ...(active !== undefined && { active }), ...given }))
      return answer(200, replaced, asked)
    },
    PATCH: async (asked) => {
      const body = await asked.readBody()
      const patched = await kind.update(asked, (resource) => applyPatch(type, resource, body))
      const { only, without } = readProjection(askingOf(asked.request))
      const isQuiet = type === groups && only === null && without.length === 0 && isEntra(asked, body)
      return isQuiet ? { status: 204, meta: patched['meta'] } : answer(200, patched, asked)
    },
    DELETE: async (asked) => {
      await kind.remove(asked)
      return { status: 204 }
    },
  })
}

/** Entra writes what is to be done in capitals or says that it does not any more, and expects no answer of a group. */
function isEntra({ request }: AskedScim, body: unknown): boolean {
  const operations = readOwn(body, 'Operations')
  const isCapital = (operation: unknown) => /^[A-Z]/.test(String(readOwn(operation, 'op')))
  const isSaid = readOwn(request.query, 'aadOptscim062020') !== undefined
  return isSaid || (Array.isArray(operations) && operations.some(isCapital))
}

function askingIn(body: unknown): Asking {
  return (name) => readOwn(body, name)
}

async function list(kind: Kind, asked: AskedScim, asking: Asking): Promise<ScimAnswer> {
  const projection = readProjection(asking)
  const found = await kind.list(asked, readListRequest(kind.type, asking), projection)
  return toList({ ...found, resources: found.resources.map((one) => project(kind.type, one, projection)) })
}

/** Searches users, and groups behind them. */
async function searchAll(asked: AskedScim): Promise<ScimAnswer> {
  const asking = askingIn(await asked.readBody())
  const projection = readProjection(asking)
  const resources: Resource[] = []
  let totalResults = 0
  let startIndex = 1
  for (const kind of kinds) {
    const request = readListRequest(kind.type, asking)
    startIndex = request.startIndex
    const rest = {
      ...request,
      startIndex: Math.max(1, request.startIndex - totalResults),
      count: request.count - resources.length,
    }
    const found = await kind.list(asked, rest, projection)
    resources.push(...found.resources.map((one) => project(kind.type, one, projection)))
    totalResults += found.totalResults
  }
  return toList({ totalResults, startIndex, resources })
}

function toList({ totalResults, startIndex, resources }: Listed): ScimAnswer {
  const page = { totalResults, startIndex, itemsPerPage: resources.length }
  return { status: 200, body: { schemas: [listSchema], ...page, Resources: resources } }
}

function tell(resources: readonly Resource[]): Promise<ScimAnswer> {
  return Promise.resolve(toList({ totalResults: resources.length, startIndex: 1, resources }))
}

function tellOne<One>(found: One | undefined, describe: (one: One) => Resource): Promise<ScimAnswer> {
  if (found === undefined) return Promise.reject(new ScimFault(404, null, 'There is no such resource.'))
  return Promise.resolve({ status: 200, body: describe(found) })
}

function describeType({ baseUrl }: AskedScim, { name, endpoint, schema, extensions }: ResourceType): Resource {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id: name,
    name,
    description: schema.description,
    endpoint,
    schema: schema.id,
    ...(extensions.length > 0 && { schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })) }),
    meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${name}` },
  }
}

function describeSchema({ baseUrl }: AskedScim, { id, name, description, attributes }: Schema): Resource {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    id,
    name,
    description,
    attributes: attributes.map(describeAttribute),
    meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${id}` },
  }
}

function describeService({ baseUrl }: AskedScim): Promise<ScimAnswer> {
  const body = {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: countMax },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'A token of a directory, which begins with sk-odyd-.',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/ServiceProviderConfig` },
  }
  return Promise.resolve({ status: 200, body })
}
