import { secretlessKinds } from '../../../db/tables/accounts.ts'
import { z } from 'zod'
import {
  createApiKey,
  overlapMsMax,
  revokeApiKey,
  rotateApiKey,
  setApiKeyDisabled,
  updateApiKey,
} from '../../../accounts/api-keys.ts'
import { listApiKeys, type ApiKeySummary, readApiKey } from '../../../accounts/read-api-keys.ts'
import type { Permission } from '../../../core/permission.ts'
import { budgetFields, limitFields } from '../../../core/limit-fields.ts'
import { budgetPeriods } from '../../../core/limit.ts'
import { setBudget } from '../../../limits/settings/budget-settings.ts'
import { setLimit } from '../../../limits/settings/limit-settings.ts'
import { givenFields } from './limits/limit-schemas.ts'
import { defineRoute, type Call, type Route } from '../route.ts'
import {
  apiKeyId,
  endpoint,
  given,
  givenTime,
  inOrganization,
  memberId,
  model,
  name,
  pageOf,
  pageQuery,
  priority,
  projectId,
  serviceAccountId,
  time,
  toPage,
  toPageRequest,
  toTime,
  toTimeOrNull,
} from '../schemas.ts'

const state = z.enum(['active', 'disabled', 'expired', 'revoked'])

const apiKey = z
  .strictObject({
    id: apiKeyId,
    name: z.string(),
    projectId,
    ownerId: memberId.nullable(),
    serviceAccountId: serviceAccountId.nullable().describe('The program whose key it is; then it is no member’s.'),
    lastFour: z.string(),
    state,
    createdAt: time,
    lastUsedAt: time.nullable().describe('To the minute.'),
    revokedAt: time.nullable(),
    expiresAt: time.nullable(),
    rotatedFrom: apiKeyId.nullable().describe('The key that this one replaces.'),
    models: z.array(model).nullable().describe('Null allows all of them.'),
    endpoints: z.array(endpoint).nullable().describe('Null allows all of them.'),
    addresses: z.array(z.string()).nullable().describe('Addresses and CIDR blocks; null allows all of them.'),
    priority: priority
      .nullable()
      .describe(
        'How soon its requests have their turn where requests wait; null is as soon as its organization’s, and it is never sooner.',
      ),
  })
  .meta({ id: 'ApiKey' })

const createdApiKey = z
  .strictObject({ apiKey, key: z.string().describe('The key itself. It is shown only now.') })
  .meta({ id: 'CreatedApiKey' })

const rules = {
  expiresAt: givenTime.nullable().optional(),
  models: z.array(model).min(1).max(100).nullable().optional(),
  endpoints: z.array(endpoint).min(1).max(100).nullable().optional(),
  addresses: z.array(z.string().max(50)).min(1).max(100).nullable().optional(),
  priority: priority.nullable().optional(),
}
const newApiKey = z
  .strictObject({
    name,
    projectId,
    ownerId: memberId.optional(),
    serviceAccountId: serviceAccountId.optional().describe('The program whose key it is, of the same project.'),
    ...rules,
    limits: z
      .array(z.strictObject({ model: z.union([model, z.literal('*')]), ...givenFields(limitFields) }))
      .max(20)
      .default([])
      .describe(
        'Limits of the key alone, one for each model or * for all together; needs the permission limits:update.',
      ),
    budget: z
      .strictObject({ period: z.enum(budgetPeriods), ...givenFields(budgetFields) })
      .optional()
      .describe('A budget of the key alone; needs the permission budgets:update.'),
  })
  .meta({ id: 'NewApiKey' })
const changes = z
  .strictObject({ name: name.optional(), ...rules })
  .refine((fields) => Object.keys(fields).length > 0, 'Give at least one field to change.')
  .meta({ id: 'ApiKeyChanges' })

const days = z.int().min(0).max(3_650)
const filter = {
  projectId: projectId.optional(),
  q: z.string().min(1).max(200).optional().describe('A part of the name, the last four characters, or the id.'),
  state: z.array(state).max(4).optional(),
  ownerId: memberId.optional(),
  serviceAccountId: serviceAccountId.optional(),
  model: model.optional().describe('Keys that may use this model.'),
  unusedDays: days.optional().describe('Keys that were not used for so many days.'),
  endsInDays: days.optional().describe('Keys that end within so many days.'),
  kind: z
    .enum(secretlessKinds)
    .optional()
    .describe(
      'Those without a secret, under which questions in the dashboard or those of coding agents count; otherwise they are left out.',
    ),
}

type GivenRules = z.output<z.ZodObject<typeof rules>>

function readRules({ expiresAt, models, endpoints, addresses, priority: soon }: GivenRules) {
  const expiresAtMs = typeof expiresAt === 'string' ? Date.parse(expiresAt) : expiresAt
  return given({ expiresAtMs, models, endpoints, addresses, priority: soon })
}

function show({ createdAtMs, lastUsedAtMs, revokedAtMs, rules: own, ...rest }: ApiKeySummary): z.input<typeof apiKey> {
  return {
    ...rest,
    createdAt: toTime(createdAtMs),
    lastUsedAt: toTimeOrNull(lastUsedAtMs),
    revokedAt: toTimeOrNull(revokedAtMs),
    expiresAt: toTimeOrNull(own.expiresAtMs),
    models: own.models && [...own.models],
    endpoints: own.endpoints && [...own.endpoints],
    addresses: own.addresses && [...own.addresses],
    priority: own.priority,
  }
}

const path = '/api/v1/organizations/{organizationId}/api-keys'
const inApiKey = inOrganization.extend({ apiKeyId })
type InApiKey = z.output<typeof inApiKey>

function refer({ apiKeyId: id, organizationId }: InApiKey) {
  return { id, organizationId }
}

async function showOne({ parts, principal, params }: Call<InApiKey, unknown, unknown>) {
  return show(await readApiKey(parts.accounts, principal, refer(params)))
}

export const apiKeyRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path,
    permission: 'api-keys:read',
    scope: 'organization',
    summary: 'List the API keys that may be seen, those that ended included',
    params: inOrganization,
    query: pageQuery.extend(filter),
    answer: pageOf(apiKey),
    async work({ parts, principal, params, query: { limit, after, ...asked } }) {
      const { projectId: project, state, model: which, q, unusedDays, endsInDays, kind, ...owners } = asked
      const age = { unusedDays, endsInDays }
      const wanted = { projectId: project, states: state, ...owners, model: which, text: q, ...age, kind }
      const search = { ...params, ...toPageRequest({ limit, after }), ...given(wanted) }
      return toPage(await listApiKeys(parts.accounts, principal, search), show)
    },
  }),
  defineRoute({
    method: 'POST',
    path,
    permission: 'api-keys:create',
    scope: 'organization',
    summary: 'Make an API key. The answer is the only place where it is shown',
    params: inOrganization,
    body: newApiKey,
    example: { name: 'laptop', projectId: 'proj_default', models: ['clarke-1.0'], expiresAt: '2099-01-31T00:00:00Z' },
    answer: createdApiKey,
    async work({
      parts,
      principal,
      params,
      body: { name: text, projectId: project, ownerId, serviceAccountId: account, limits, budget, ...own },
    }) {
      const owner = given({ ownerId, serviceAccountId: account })
      const request = { ...params, name: text, projectId: project, rules: readRules(own), ...owner }
      const { id, key } = await createApiKey(parts.accounts, principal, request)
      const scope = { ...params, subject: { kind: 'api-key', id } } as const
      for (const { model: which, ...values } of limits) {
        await setLimit(parts.accounts, principal, { ...scope, model: which, ...given(values) })
      }
      if (budget !== undefined) {
        const { period, ...values } = budget
        await setBudget(parts.accounts, principal, { ...scope, period, ...given(values) })
      }
      return { apiKey: show(await readApiKey(parts.accounts, principal, { ...params, id })), key }
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/{apiKeyId}`,
    permission: 'api-keys:read',
    scope: 'organization',
    summary: 'Read an API key’s name, state and rules',
    params: inApiKey,
    answer: apiKey,
    work: showOne,
  }),
  defineRoute({
    method: 'PATCH',
    path: `${path}/{apiKeyId}`,
    permission: 'api-keys:update',
    scope: 'organization',
    summary: 'Change an API key’s name or rules; null lifts a rule',
    params: inApiKey,
    body: changes,
    example: { endpoints: ['messages', 'count-tokens'], addresses: ['192.0.2.0/24'], expiresAt: null },
    answer: apiKey,
    async work(call) {
      const { name: text, ...own } = call.body
      const fields = { ...readRules(own), ...given({ name: text }) }
      await updateApiKey(call.parts.accounts, call.principal, refer(call.params), fields)
      return showOne(call)
    },
  }),
  act('disable', 'api-keys:disable', 'Refuse an API key until it is enabled again', ({ parts, principal, params }) => {
    return setApiKeyDisabled(parts.accounts, principal, refer(params), true)
  }),
  act('enable', 'api-keys:disable', 'Accept a disabled API key again', ({ parts, principal, params }) => {
    return setApiKeyDisabled(parts.accounts, principal, refer(params), false)
  }),
  act('revoke', 'api-keys:revoke', 'End an API key for good', ({ parts, principal, params }) => {
    return revokeApiKey(parts.accounts, principal, refer(params))
  }),
  defineRoute({
    method: 'POST',
    path: `${path}/{apiKeyId}/rotate`,
    permission: 'api-keys:rotate',
    scope: 'organization',
    summary: 'Replace an API key; the old one works on for the overlap',
    params: inApiKey,
    body: z.strictObject({
      overlapSeconds: z
        .int()
        .min(0)
        .max(overlapMsMax / 1_000)
        .default(0),
    }),
    example: { overlapSeconds: 86_400 },
    answer: createdApiKey,
    async work({ parts, principal, params, body }) {
      const { id, key } = await rotateApiKey(parts.accounts, principal, refer(params), body.overlapSeconds * 1_000)
      return { apiKey: show(await readApiKey(parts.accounts, principal, { ...refer(params), id })), key }
    },
  }),
]

function act(
  verb: string,
  permission: Permission,
  summary: string,
  work: (call: Call<InApiKey, unknown, unknown>) => Promise<void>,
): Route {
  return defineRoute({
    method: 'POST',
    path: `${path}/{apiKeyId}/${verb}`,
    permission,
    scope: 'organization',
    summary,
    params: inApiKey,
    answer: apiKey,
    async work(call) {
      await work(call)
      return showOne(call)
    },
  })
}
