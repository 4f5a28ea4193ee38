import type { Selectable } from 'kysely'
import { ApiError } from '../../core/error.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { limitFields, type LimitValues } from '../../core/limit-fields.ts'
import type { ModelId } from '../../core/model.ts'
import { notFound, requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import { firstTier, isEnforced, tierIds, type TierId } from '../../core/tier.ts'
import { installationChain, type ChangeParts } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { TierLimitTable } from '../../db/tables/limits.ts'
import { changeLimits, type LimitChangeParts } from './change-limits.ts'
import { completeValues, fromColumns, toColumns } from './field-values.ts'
import { checkModel } from './limit-settings.ts'
import type { TierLimit, Tiers } from './setting.ts'

export type Tier = {
  readonly id: TierId
  /** Whether what exceeds its limits is refused; otherwise it is counted and shown. */
  readonly isEnforced: boolean
  readonly limits: readonly Omit<TierLimit, 'tier'>[]
}

/** All tiers with their limits. They are no secret of anybody's. */
export async function listTiers({ db }: Pick<ChangeParts, 'db'>, principal: Principal): Promise<Tier[]> {
  const organizationId = principal.kind === 'operator' ? null : principal.organizationId
  requirePermission(principal, 'tiers:read', { organizationId })
  const rows = await readTierLimits(db)
  return tierIds.map((id) => {
    const limits = rows.filter(({ tier }) => tier === id).map(({ tier: _, ...limit }) => limit)
    return { id, isEnforced: isEnforced(id), limits }
  })
}

/** Sets all limits of a tier for a model; what is not given is not limited. They count for all organizations in it. */
export async function setTierLimit(
  parts: LimitChangeParts,
  principal: Principal,
  { tier, model, ...given }: Pick<TierLimit, 'tier' | 'model'> & Partial<LimitValues>,
): Promise<TierLimit> {
  requirePermission(principal, 'tiers:update', { organizationId: null })
  checkTier(tier)
  checkModel(model)
  const columns = toColumns(limitFields, completeValues(limitFields, given))
  const action = { action: 'tiers:set', organizationId: installationChain, target: tier }
  let set: TierLimit | undefined
  await changeLimits(parts, principal, action, async (transaction, note) => {
    const find = transaction.selectFrom('tier_limits').selectAll().where('tier', '=', tier)
    const before = await find.where('model', '=', model).executeTakeFirst()
    const row = await transaction
      .insertInto('tier_limits')
      .values({ tier, model, ...columns })
      .onConflict((conflict) => conflict.columns(['tier', 'model']).doUpdateSet(columns))
      .returningAll()
      .executeTakeFirstOrThrow()
    set = toTierLimit(row)
    note(before === undefined ? null : toTierLimit(before), set)
    return { kind: 'tiers' }
  })
  return set ?? Promise.reject(new Error('The change of a tier came to nothing.'))
}

/** Puts an organization into a tier. What it has used counts on under the new limits. */
export async function assignTier(
  parts: LimitChangeParts,
  principal: Principal,
  { organizationId, tier }: { readonly organizationId: OrganizationId; readonly tier: TierId },
): Promise<void> {
  requirePermission(principal, 'tiers:assign', { organizationId })
  checkTier(tier)
  const action = { action: 'tiers:assign', organizationId, target: organizationId }
  await changeLimits(parts, principal, action, async (transaction, note) => {
    const find = transaction.selectFrom('organizations').select('tier').where('id', '=', organizationId)
    const before = await find.executeTakeFirst()
    if (before === undefined) throw notFound()
    await transaction.updateTable('organizations').set({ tier }).where('id', '=', organizationId).execute()
    note({ tier: before.tier }, { tier })
    return { kind: 'tiers' }
  })
}

/** The tiers and who is in them, for the gateway that holds them in memory. */
export async function readTiers(db: Database): Promise<Tiers> {
  const rows = await db.selectFrom('organizations').select(['id', 'tier']).where('tier', '!=', firstTier).execute()
  return { limits: await readTierLimits(db), tierOf: new Map(rows.map(({ id, tier }) => [id, tier])) }
}

async function readTierLimits(db: Database): Promise<TierLimit[]> {
  const rows = await db.selectFrom('tier_limits').selectAll().orderBy('tier').orderBy('model').execute()
  return rows.map(toTierLimit)
}

function checkTier(tier: string): void {
  if (tierIds.some((id) => id === tier)) return
  throw new ApiError({ code: 'not-found' }, `There is no such tier; there are ${tierIds.join(', ')}.`)
}

function toTierLimit(row: Selectable<TierLimitTable>): TierLimit {
  return { tier: row.tier, model: row.model as ModelId | '*', ...fromColumns(limitFields, row) }
}
