import type { Selectable } from 'kysely'
import { invalidRequest } from '../../core/error.ts'
import type { OrganizationId } from '../../core/ids.ts'
import type { LimitSubject } from '../../core/limit.ts'
import { modelIds, type ModelId } from '../../core/model.ts'
import { requirePermission, visibleProjects } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { ChangeParts, Fields } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { LimitTable } from '../../db/tables/limits.ts'
import { randomId } from '../../lib/random-id.ts'
import { perMinuteMax } from '../token-bucket.ts'
import { changeLimits } from './change-limits.ts'
import { requireAny, requireWhole } from './check-values.ts'

/** Null is no limit. */
export type LimitValues = {
  readonly inputTokensPerMinute: number | null
  readonly outputTokensPerMinute: number | null
  readonly requestsPerMinute: number | null
  /** Whether too many requests are refused; they are counted and reported in any case. */
  readonly isRequestsEnforced: boolean
  readonly concurrency: number | null
  /** What a token read from the prompt cache counts of an input token. */
  readonly cachedReadPercent: number
}

/** To whom a limit applies: an organization, a project or a key, with one model or (`*`) with all together. */
export type LimitPlace = {
  readonly organizationId: OrganizationId
  /** Belongs to that organization: what belongs to another is never looked up under it. */
  readonly subject: LimitSubject
  readonly model: ModelId | '*'
}

export type Limit = LimitPlace & LimitValues & { readonly id: string }

const noLimits: LimitValues = {
  inputTokensPerMinute: null,
  outputTokensPerMinute: null,
  requestsPerMinute: null,
  isRequestsEnforced: false,
  concurrency: null,
  cachedReadPercent: 10,
}

/** What the principal may see of an organization's limits. */
export async function listLimits(
  { db }: Pick<ChangeParts, 'db'>,
  principal: Principal,
  organizationId: OrganizationId,
): Promise<Limit[]> {
  const projects = visibleProjects(principal, 'limits:read', organizationId)
  const limits = (await readLimits(db)).filter((limit) => limit.organizationId === organizationId)
  return limits.filter(({ subject }) => projects === null || projects.some((id) => id === subject.id))
}

/** Sets all of a place's limits; what is not given is not limited. Returns the limit's id. */
export async function setLimit(
  parts: ChangeParts,
  principal: Principal,
  { organizationId, subject, model, ...given }: LimitPlace & Partial<LimitValues>,
): Promise<string> {
  requirePermission(principal, 'limits:update', { organizationId })
  const values = { ...noLimits, ...given }
  checkLimit(model, values)
  const place = { organization_id: organizationId, subject_kind: subject.kind, subject_id: subject.id, model }
  const existing = (await readLimits(parts.db)).find((limit) => isAt(limit, { organizationId, subject, model }))
  const id = existing?.id ?? `limit_${randomId()}`
  const nowMs = parts.clock.nowMs()
  const action = { action: 'limits:set', organizationId, target: id }
  return changeLimits(parts, principal, action, async (transaction, note) => {
    const row = { ...toColumns(values), updated_at: nowMs }
    const written = await transaction
      .insertInto('limits')
      .values({ id, ...place, ...row, created_at: nowMs })
      .onConflict((conflict) =>
        conflict.columns(['organization_id', 'subject_kind', 'subject_id', 'model']).doUpdateSet(row),
      )
      .returning('id')
      .executeTakeFirstOrThrow()
    note(existing === undefined ? null : fieldsOf(existing), { subject: subject.id, model, ...values })
    return written.id
  })
}

/** Whether there was such a limit. */
export async function removeLimit(
  parts: ChangeParts,
  principal: Principal,
  { id, organizationId }: { readonly id: string; readonly organizationId: OrganizationId },
): Promise<boolean> {
  requirePermission(principal, 'limits:update', { organizationId })
  const existing = (await readLimits(parts.db)).find(
    (limit) => limit.id === id && limit.organizationId === organizationId,
  )
  if (existing === undefined) return false
  const action = { action: 'limits:remove', organizationId, target: id }
  return changeLimits(parts, principal, action, async (transaction, note) => {
    note(fieldsOf(existing), null)
    const { numDeletedRows } = await transaction.deleteFrom('limits').where('id', '=', id).executeTakeFirstOrThrow()
    return numDeletedRows > 0n
  })
}

export async function readLimits(db: Database): Promise<Limit[]> {
  const rows = await db.selectFrom('limits').selectAll().orderBy('created_at').orderBy('id').execute()
  return rows.map(toLimit)
}

function checkLimit(model: string, values: LimitValues): void {
  if (model !== '*' && !modelIds.some((id) => id === model)) {
    throw invalidRequest(['model'], 'value', `model must be one of ${modelIds.join(', ')}, or * for all of them.`)
  }
  const { inputTokensPerMinute, outputTokensPerMinute, requestsPerMinute, concurrency, cachedReadPercent } = values
  const numbers = { inputTokensPerMinute, outputTokensPerMinute, requestsPerMinute, concurrency }
  for (const [name, value] of Object.entries(numbers)) requireWhole(name, value, [1, perMinuteMax])
  requireAny(Object.keys(numbers), Object.values(numbers))
  requireWhole('cachedReadPercent', cachedReadPercent, [0, 100])
}

function isAt(limit: Limit, { organizationId, subject, model }: LimitPlace): boolean {
  const isSame = limit.subject.kind === subject.kind && limit.subject.id === subject.id
  return isSame && limit.organizationId === organizationId && limit.model === model
}

function fieldsOf({ id: _, organizationId: __, subject, ...rest }: Limit): Fields {
  return { subject: subject.id, ...rest }
}

function toColumns(values: LimitValues) {
  return {
    input_tokens_per_minute: values.inputTokensPerMinute,
    output_tokens_per_minute: values.outputTokensPerMinute,
    requests_per_minute: values.requestsPerMinute,
    is_requests_enforced: values.isRequestsEnforced ? 1 : 0,
    concurrency: values.concurrency,
    cached_read_percent: values.cachedReadPercent,
  }
}

function toLimit(row: Selectable<LimitTable>): Limit {
  return {
    id: row.id,
    organizationId: row.organization_id,
    subject: { kind: row.subject_kind, id: row.subject_id } as LimitSubject,
    model: row.model as ModelId | '*',
    inputTokensPerMinute: row.input_tokens_per_minute,
    outputTokensPerMinute: row.output_tokens_per_minute,
    requestsPerMinute: row.requests_per_minute,
    isRequestsEnforced: row.is_requests_enforced === 1,
    concurrency: row.concurrency,
    cachedReadPercent: row.cached_read_percent,
  }
}
