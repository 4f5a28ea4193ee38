import type { Selectable } from 'kysely'
import { invalidRequest } from '../../core/error.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { limitFields, type LimitValues } from '../../core/limit-fields.ts'
import type { LimitSubject } from '../../core/limit.ts'
import { modelIds, type ModelId } from '../../core/model.ts'
import { notFound, requirePermission, visibleProjects } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { ChangeParts, Fields } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { LimitTable } from '../../db/tables/limits.ts'
import { randomId } from '../../lib/random-id.ts'
import { changeLimits, type LimitChangeParts } from './change-limits.ts'
import { completeValues, fromColumns, toColumns } from './field-values.ts'
import { findSubject, subjectsIn } from './find-subject.ts'
import { requireSetter, setterOf } from './setter.ts'
import type { Limit, LimitScope } from './setting.ts'

/** What the principal may see of an organization's limits. */
export async function listLimits(
  { db }: Pick<ChangeParts, 'db'>,
  principal: Principal,
  organizationId: OrganizationId,
): Promise<Limit[]> {
  const projects = visibleProjects(principal, 'limits:read', organizationId)
  if (projects?.length === 0) return []
  let query = db.selectFrom('limits').selectAll().where('organization_id', '=', organizationId)
  if (projects !== null) query = query.where('subject_id', 'in', subjectsIn(db, organizationId, projects))
  return (await query.orderBy('created_at').orderBy('id').execute()).map(toLimit)
}

/**
 * Sets all values of a limit; what is not given is not limited.
 *
 * Throws for a subject that the organization does not have, and for what is the installation's to change.
 */
export async function setLimit(
  parts: LimitChangeParts,
  principal: Principal,
  { organizationId, subject, model, ...given }: LimitScope & Partial<LimitValues>,
): Promise<Limit> {
  requirePermission(principal, 'limits:update', { organizationId })
  checkModel(model)
  const values = completeValues(limitFields, given)
  const nowMs = parts.clock.nowMs()
  const id = `limit_${randomId()}`
  const action = { action: 'limits:set', organizationId, target: id }
  const { setting } = await changeLimits(parts, principal, action, async (transaction, note) => {
    const before = await transaction
      .selectFrom(findSubject(transaction, { organizationId, subject }).as('subject'))
      .leftJoin('limits', (join) =>
        join
          .onRef('limits.subject_id', '=', 'subject.id')
          .on('limits.organization_id', '=', organizationId)
          .on('limits.subject_kind', '=', subject.kind)
          .on('limits.model', '=', model),
      )
      .selectAll('limits')
      .select('subject.id as subjectId')
      .executeTakeFirst()
    if (before === undefined) throw notFound()
    requireSetter(principal, before.set_by)
    const columns = { ...toColumns(limitFields, values), set_by: setterOf(principal), updated_at: nowMs }
    const scope = { organization_id: organizationId, subject_kind: subject.kind, subject_id: before.subjectId, model }
    const row = await transaction
      .insertInto('limits')
      .values({ id, ...scope, ...columns, created_at: nowMs })
      .onConflict((conflict) =>
        conflict.columns(['organization_id', 'subject_kind', 'subject_id', 'model']).doUpdateSet(columns),
      )
      .returningAll()
      .executeTakeFirstOrThrow()
    const limit = toLimit(row)
    const old = before.id === null ? null : fieldsOf(toLimit(before as Selectable<LimitTable>))
    note(old, fieldsOf(limit), limit.id)
    return { kind: 'limit', setting: limit }
  })
  return setting
}

/** Throws where there is no such limit, or it is the installation's. */
export async function removeLimit(
  parts: LimitChangeParts,
  principal: Principal,
  { id, organizationId }: { readonly id: string; readonly organizationId: OrganizationId },
): Promise<void> {
  requirePermission(principal, 'limits:update', { organizationId })
  const action = { action: 'limits:remove', organizationId, target: id }
  await changeLimits(parts, principal, action, async (transaction, note) => {
    const row = await transaction
      .deleteFrom('limits')
      .where('id', '=', id)
      .where('organization_id', '=', organizationId)
      .returningAll()
      .executeTakeFirst()
    if (row === undefined) throw notFound()
    requireSetter(principal, row.set_by)
    note(fieldsOf(toLimit(row)), null)
    return { kind: 'removal', id }
  })
}

/** The limits of every organization, for the gateway that holds them in memory. */
export async function readLimits(db: Database): Promise<Limit[]> {
  const rows = await db.selectFrom('limits').selectAll().orderBy('created_at').orderBy('id').execute()
  return rows.map(toLimit)
}

export function checkModel(model: string): void {
  if (model === '*' || modelIds.some((id) => id === model)) return
  throw invalidRequest(['model'], 'value', `model must be one of ${modelIds.join(', ')}, or * for all of them.`)
}

function fieldsOf({ id: _, organizationId: __, subject, ...rest }: Limit): Fields {
  return { subject: subject.id, ...rest }
}

function toLimit(row: Selectable<LimitTable>): Limit {
  return {
    id: row.id,
    organizationId: row.organization_id,
    subject: { kind: row.subject_kind, id: row.subject_id } as LimitSubject,
    model: row.model as ModelId | '*',
    setBy: row.set_by,
    ...fromColumns(limitFields, row),
  }
}
