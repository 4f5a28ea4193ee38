import { createManagementKey } from '../../../src/accounts/management-keys.ts'
import type { Route } from '../../../src/http/api/route.ts'
import type { Ask, ManagementService } from '../../harness/management-service.ts'
import type { Things } from './world.ts'

export const nameOf = ({ method, path }: Route) => `${method} ${path}`

let count = 0

/** A request that the route accepts, about these things. */
export async function requestFor(service: ManagementService, route: Route, things: Things): Promise<Ask> {
  const body = bodyFor(route, things)
  const path = await fillPath(service, route, things)
  return { method: route.method, path, ...(body !== undefined && { body }) }
}

async function fillPath(service: ManagementService, { path, scope }: Route, things: Things): Promise<string> {
  const ids: Record<string, string> = { ...things }
  if (scope === 'installation' && path.includes('{managementKeyId}')) {
    const wanted = { name: 'x', role: 'auditor', organizationId: null, expiresAtMs: null } as const
    ids['managementKeyId'] = (await createManagementKey(service.accounts, { kind: 'operator' }, wanted)).id
  }
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const id = ids[name]
    if (id === undefined) throw new Error(`There is no ${name} to ask about.`)
    return id
  })
}

/** The example of the table, with what is there in the places of its names. */
function bodyFor({ example }: Route, { projectId }: Things): unknown {
  if (example === undefined) return undefined
  count += 1
  const text = JSON.stringify(example)
    .replaceAll('proj_default', projectId)
    .replaceAll('ann@example.org', `asked${count}@example.org`)
  return JSON.parse(text) as unknown
}
