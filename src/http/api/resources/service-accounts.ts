import { z } from 'zod'
import {
  createServiceAccount,
  listServiceAccounts,
  readServiceAccount,
  removeServiceAccount,
  renameServiceAccount,
  setServiceAccountDisabled,
  type ServiceAccount,
} from '../../../accounts/service-accounts.ts'
import { defineRoute, type Call, type Route } from '../route.ts'
import {
  inOrganization,
  name,
  pageOf,
  pageQuery,
  projectId,
  serviceAccountId,
  time,
  toPage,
  toPageRequest,
  toTime,
  toTimeOrNull,
} from '../schemas.ts'

const serviceAccount = z
  .strictObject({
    id: serviceAccountId,
    name: z.string(),
    projectId,
    createdAt: time,
    disabledAt: time.nullable().describe('While it is disabled its keys are refused.'),
    removedAt: time.nullable(),
  })
  .meta({ id: 'ServiceAccount' })

function show({ createdAtMs, disabledAtMs, removedAtMs, ...rest }: ServiceAccount): z.input<typeof serviceAccount> {
  const [disabledAt, removedAt] = [toTimeOrNull(disabledAtMs), toTimeOrNull(removedAtMs)]
  return { ...rest, createdAt: toTime(createdAtMs), disabledAt, removedAt }
}

const path = '/api/v1/organizations/{organizationId}/service-accounts'
const inAccount = inOrganization.extend({ serviceAccountId })
type InAccount = z.output<typeof inAccount>

function refer({ serviceAccountId: id, organizationId }: InAccount) {
  return { id, organizationId }
}

async function showOne({ parts, principal, params }: Call<InAccount, unknown, unknown>) {
  return show(await readServiceAccount(parts.accounts, principal, refer(params)))
}

const facts = { scope: 'organization', params: inAccount } as const

export const serviceAccountRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path,
    permission: 'service-accounts:read',
    scope: 'organization',
    summary: 'List the accounts of programs, those that were removed included',
    params: inOrganization,
    query: pageQuery,
    answer: pageOf(serviceAccount),
    async work({ parts, principal, params, query }) {
      return toPage(await listServiceAccounts(parts.accounts, principal, { ...params, ...toPageRequest(query) }), show)
    },
  }),
  defineRoute({
    method: 'POST',
    path,
    permission: 'service-accounts:create',
    scope: 'organization',
    summary: 'Make an account of a program in a project: its keys are no person’s, and stay when people leave',
    params: inOrganization,
    body: z.strictObject({ name, projectId }).meta({ id: 'NewServiceAccount' }),
    example: { name: 'Search in production', projectId: 'proj_default' },
    answer: serviceAccount,
    async work({ parts, principal, params, body }) {
      const id = await createServiceAccount(parts.accounts, principal, { ...params, ...body })
      return show(await readServiceAccount(parts.accounts, principal, { ...params, id }))
    },
  }),
  defineRoute({
    ...facts,
    method: 'GET',
    path: `${path}/{serviceAccountId}`,
    permission: 'service-accounts:read',
    summary: 'Read an account of a program',
    answer: serviceAccount,
    work: showOne,
  }),
  defineRoute({
    ...facts,
    method: 'PATCH',
    path: `${path}/{serviceAccountId}`,
    permission: 'service-accounts:update',
    summary: 'Rename an account of a program',
    body: z.strictObject({ name }),
    example: { name: 'Search' },
    answer: serviceAccount,
    async work(call) {
      await renameServiceAccount(call.parts.accounts, call.principal, refer(call.params), call.body.name)
      return showOne(call)
    },
  }),
  setDisabled('disable', 'Refuse an account’s keys until it is enabled again'),
  setDisabled('enable', 'Accept the keys again that were disabled with their account'),
  defineRoute({
    ...facts,
    method: 'DELETE',
    path: `${path}/{serviceAccountId}`,
    permission: 'service-accounts:remove',
    summary: 'End an account of a program for good, and every key of its own',
    answer: 'nothing',
    work: ({ parts, principal, params }) => removeServiceAccount(parts.accounts, principal, refer(params)),
  }),
]

function setDisabled(verb: 'disable' | 'enable', summary: string): Route {
  return defineRoute({
    ...facts,
    method: 'POST',
    path: `${path}/{serviceAccountId}/${verb}`,
    permission: 'service-accounts:update',
    summary,
    answer: serviceAccount,
    async work(call) {
      const { parts, principal, params } = call
      await setServiceAccountDisabled(parts.accounts, principal, refer(params), verb === 'disable')
      return showOne(call)
    },
  })
}
