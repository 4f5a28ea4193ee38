import { createManagementKey } from '../../../src/accounts/management-keys.ts'
import type { Permission } from '../../../src/core/permission.ts'
import { routes } from '../../../src/http/api/routes.ts'
import type { Route } from '../../../src/http/api/route.ts'
import { operatorKey } from '../../harness/management.ts'
import type { Ask, ManagementService } from '../../harness/management-service.ts'
import { providerKey } from './sso-things.ts'
import type { Things } from './things.ts'

/** The routes that a permission opens, for keys as for people. */
export type PermittedRoute = Route & { readonly permission: Permission }
export const permittedRoutes = routes.filter(
  (route): route is PermittedRoute => route.permission !== 'self' && route.permission !== 'public',
)
/** The routes of people alone: for their own account, and to sign in. */
export const peoplesRoutes = routes.filter(({ permission }) => permission === 'self' || permission === 'public')

export const nameOf = ({ method, path }: Route) => `${method} ${path}`

/** A key that may use the route: what no key of the installation may is left to the operator. */
export function keyFor(service: ManagementService, { permission }: Route): string {
  return /^(weights|recordings):/.test(permission) ? operatorKey : service.key
}

let count = 0

/** A request that the route accepts, about these things. */
export async function requestFor(service: ManagementService, route: Route, things: Things): Promise<Ask> {
  const body = bodyFor(route, things)
  const path = await fillPath(service, route, things)
  return { method: route.method, path, ...(body !== undefined && { body }) }
}

/** By the end of a path: what its query cannot do without. */
const neededQueries: Readonly<Record<string, string>> = {
  'group-mappings/preview': '?mappings=[]',
  consistency: '?from=1&to=1',
  // It would go on without an end.
  tail: '?seconds=0',
  candidates: '?email=operator@example.org',
  preview: '?model=clarke-1.0&input=3&cacheRead=1&cacheWriteShort=4&cacheWriteLong=6&output=15',
}

/** What only a connection that speaks SAML has. */
const samlPaths = /\{connectionId\}\/(?:saml|certificates|rotate-key)$/

/** What the installation has of its own, by what an organization has under the same name. */
const installationThings: ReadonlyMap<string, keyof Things> = new Map([
  ['rowId', 'installationRowId'],
  ['channelId', 'installationChannelId'],
  ['silenceId', 'installationSilenceId'],
  ['sinkId', 'installationSinkId'],
])

/** The thing that stands in the path of a route for a name in it. */
function thingNamed({ path, scope }: Route, name: string): string {
  if (name === 'connectionId' && samlPaths.test(path)) return 'samlConnectionId'
  return (scope === 'installation' && installationThings.get(name)) || name
}

/** The things that a request about the route says something of. */
export function thingsNamed(route: Route): string[] {
  const names = Array.from(route.path.matchAll(placeholder), ([, name = '']) => thingNamed(route, name))
  return JSON.stringify(route.example ?? null).includes(operatorExample) ? [...names, 'operatorEmail'] : names
}

const placeholder = /\{(\w+)\}/g
const operatorExample = 'operator@example.org'

/** The path of a route with the ids of things that are there. */
export async function fillPath(service: ManagementService, route: Route, things: Things): Promise<string> {
  const { path, scope } = route
  const ids: Record<string, string> = { ...things }
  if (scope === 'installation' && path.includes('{managementKeyId}')) {
    const wanted = { name: 'x', role: 'auditor', organizationId: null, expiresAtMs: null } as const
    ids['managementKeyId'] = (await createManagementKey(service.accounts, { kind: 'operator' }, wanted)).id
  }
  const ends = path.split('/')
  const query = neededQueries[ends.slice(-2).join('/')] ?? neededQueries[ends.at(-1) ?? ''] ?? ''
  return `${path}${query}`.replaceAll(placeholder, (_, name: string) => {
    const id = ids[thingNamed(route, name)]
    if (id === undefined) throw new Error(`There is no ${name} to ask about.`)
    return id
  })
}

/** The example of the table, with what is there in the places of its names. */
function bodyFor({ example }: Route, things: Things): unknown {
  const { projectId, breakGlassId, operatorEmail, operatorId, invitationToken } = things
  if (example === undefined) return undefined
  count += 1
  const text = JSON.stringify(example)
    .replaceAll('proj_default', projectId)
    .replaceAll('mem_break_glass', breakGlassId)
    .replaceAll('MIIC…', providerKey.certificate)
    .replaceAll('acme.example', `acme${count}.example`)
    .replaceAll(operatorExample, operatorEmail)
    .replaceAll('usr_operator', operatorId)
    .replaceAll('token of the link', invitationToken)
    .replaceAll('ann@example.org', `asked${count}@example.org`)
  return JSON.parse(text) as unknown
}
