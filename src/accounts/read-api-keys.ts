import { sql, type RawBuilder } from 'kysely'
import type { ModelId } from '../core/model.ts'
import type { ApiKeyId, MemberId, OrganizationId, ProjectId, ServiceAccountId } from '../core/ids.ts'
import { visibleProjects, notFound, requirePermission } from '../core/permission.ts'
import type { Principal } from '../core/principal.ts'
import type { ApiKeyTable, SecretlessKind } from '../db/tables/accounts.ts'
import { fromRuleColumns, type KeyRules } from './key-rules.ts'
import { readPage, type Page, type PageRequest } from './page.ts'
import type { AccountsParts } from './parts.ts'
import type { ApiKeyReference } from './api-keys.ts'
import { containsText } from '../db/contains-text.ts'
import type { Database } from '../db/database.ts'

export type ApiKeySummary = {
  readonly id: ApiKeyId
  readonly name: string
  readonly projectId: ProjectId
  readonly ownerId: MemberId | null
  readonly serviceAccountId: ServiceAccountId | null
  readonly lastFour: string
  readonly state: 'active' | 'disabled' | 'expired' | 'revoked'
  readonly createdAtMs: number
  readonly revokedAtMs: number | null
  readonly lastUsedAtMs: number | null
  readonly rotatedFrom: ApiKeyId | null
  readonly rules: KeyRules
}

export type ApiKeyFilter = PageRequest & {
  readonly organizationId: OrganizationId
  readonly projectId?: ProjectId
  readonly ownerId?: MemberId
  readonly serviceAccountId?: ServiceAccountId
  readonly states?: readonly ApiKeySummary['state'][]
  /** A part of the name, the last four characters, or the id. */
  readonly text?: string
  /** Keys that may use it. */
  readonly model?: ModelId
  readonly unusedDays?: number
  readonly endsInDays?: number
  /** Only those of a kind that has no secret, which are otherwise left out. */
  readonly kind?: SecretlessKind
}

const dayMs = 86_400_000

export async function listApiKeys(
  { db, clock }: AccountsParts,
  principal: Principal,
  filter: ApiKeyFilter,
): Promise<Page<ApiKeySummary>> {
  const { organizationId, projectId } = filter
  const visible = visibleProjects(principal, 'api-keys:read', organizationId)
  if (visible?.length === 0) return { items: [], next: null }
  let query = db
    .selectFrom('api_keys')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('kind', filter.kind === undefined ? 'is' : '=', filter.kind ?? null)
  if (projectId !== undefined) query = query.where('project_id', '=', projectId)
  if (visible !== null) query = query.where('project_id', 'in', visible)
  const now = clock.nowMs()
  for (const condition of conditionsOf(db, filter, now)) query = query.where(condition)
  return readPage(query, filter, (row) => summarizeApiKey(row, now))
}

function conditionsOf(db: Database, filter: ApiKeyFilter, now: number): readonly RawBuilder<boolean>[] {
  const { ownerId, serviceAccountId, states, text, model, unusedDays, endsInDays } = filter
  const conditions: RawBuilder<boolean>[] = []
  if (ownerId !== undefined) conditions.push(sql`owner_id = ${ownerId}`)
  if (serviceAccountId !== undefined) conditions.push(sql`service_account_id = ${serviceAccountId}`)
  if (states !== undefined)
    conditions.push(states.length === 0 ? sql`1 = 0` : sql`${stateAt(now)} in (${sql.join(states)})`)
  if (text !== undefined) {
    conditions.push(sql`(${containsText(db, 'name', text)} or last_four = ${text} or id = ${text})`)
  }
  // The list is JSON, in which a model's id stands between quotation marks.
  if (model !== undefined) conditions.push(sql`(allowed_models is null or allowed_models like ${`%"${model}"%`})`)
  if (unusedDays !== undefined) conditions.push(sql`coalesce(last_used_at, created_at) <= ${now - unusedDays * dayMs}`)
  if (endsInDays !== undefined) conditions.push(sql`expires_at <= ${now + endsInDays * dayMs}`)
  return conditions
}

/** The same as `stateOf`, as a condition of a query. */
function stateAt(now: number): RawBuilder<string> {
  return sql`case when revoked_at is not null then 'revoked'
    when expires_at is not null and expires_at <= ${now} then 'expired'
    when disabled_at is null then 'active' else 'disabled' end`
}

function summarizeApiKey(row: ApiKeyTable, now: number): ApiKeySummary {
  return {
    id: row.id,
    name: row.name,
    projectId: row.project_id,
    ownerId: row.owner_id,
    serviceAccountId: row.service_account_id,
    lastFour: row.last_four,
    state: stateOf(row, now),
    createdAtMs: row.created_at,
    revokedAtMs: row.revoked_at,
    lastUsedAtMs: row.last_used_at,
    rotatedFrom: row.rotated_from,
    rules: fromRuleColumns(row),
  }
}

function stateOf({ revoked_at, expires_at, disabled_at }: ApiKeyTable, now: number): ApiKeySummary['state'] {
  if (revoked_at !== null) return 'revoked'
  if (expires_at !== null && expires_at <= now) return 'expired'
  return disabled_at === null ? 'active' : 'disabled'
}

export async function readApiKey(
  { db, clock }: AccountsParts,
  principal: Principal,
  { id, organizationId }: ApiKeyReference,
): Promise<ApiKeySummary> {
  const row = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('id', '=', id as ApiKeyId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  requirePermission(principal, 'api-keys:read', { organizationId, projectId: row.project_id, ownerId: row.owner_id })
  return summarizeApiKey(row, clock.nowMs())
}

/** A key and all that replaced it, one after the other: they share one quota, which has the first one's id. */
export async function keysOfQuota(db: Database, quotaId: ApiKeyId): Promise<ApiKeyId[]> {
  const rows = await db.selectFrom('api_keys').select('id').where('quota_id', '=', quotaId).execute()
  return rows.map(({ id }) => id)
}
