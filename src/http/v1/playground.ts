import type { FastifyRequest } from 'fastify'
import { openSecretlessKey } from '../../accounts/secretless-keys.ts'
import { ApiError } from '../../core/error.ts'
import type { OrganizationId, ProjectId } from '../../core/ids.ts'
import { notFound } from '../../core/permission.ts'
import type { Format, FormatRoute } from '../../protocols/format.ts'
import { authorize } from '../api/authorize.ts'
import { BrowserExchange } from '../api/browser.ts'
import { areIds } from '../api/read-input.ts'
import { closedReason, type Authenticated } from '../middleware/authenticate.ts'
import type { Door } from '../parts.ts'

const above = '/api/v1/organizations/:organizationId/projects/:projectId/playground'

/** Where somebody who is signed in asks as a client of this format would. */
export function playgroundPath({ name }: Pick<Format, 'name'>, { use }: FormatRoute): string {
  return `${above}/${use === 'generation' ? name : `${name}/count-tokens`}`
}

/** The format that a path of the playground speaks; null for all other paths. */
export function playgroundFormat(path: string): string | null {
  return /^\/api\/v1\/organizations\/[^/]+\/projects\/[^/]+\/playground\/([\w-]+)/.exec(path)?.[1] ?? null
}

const shown = { masked: 'the playground’s', header: 'authorization' } as const

/**
 * Lets somebody in who is signed in, under a key of their own that has no secret.
 *
 * Nothing is in the browser that could be taken and used elsewhere. A key opens this no more than a session opens /v1.
 */
export async function authenticateSession(parts: Door, request: FastifyRequest): Promise<Authenticated> {
  const { management } = parts
  const browser = new BrowserExchange(request, management)
  const session = await browser.findSession(management)
  if (session === null) {
    throw new ApiError({ code: 'unauthenticated', key: null }, 'Sign in to the dashboard; a key is used at /v1.')
  }
  browser.requireSameOrigin()
  if (!areIds(request)) throw notFound()
  const params = request.params as { readonly organizationId: OrganizationId; readonly projectId: ProjectId }
  const needed = { permission: 'models:use', scope: 'organization' } as const
  const principal = await authorize(management, { session }, needed, params)
  if (principal.kind !== 'member') throw notFound()
  const { hash } = await openSecretlessKey(management.accounts, principal, { ...params, kind: 'playground' })
  const access = await parts.access.findByHash(hash)
  if (access === null) throw new ApiError({ code: 'permission-denied' }, 'The playground is closed to this member.')
  const refusal = closedReason(access)
  if (refusal !== null) throw new ApiError({ code: 'permission-denied' }, refusal)
  return { access, shown }
}
