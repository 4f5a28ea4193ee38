import type { Selectable } from 'kysely'
import type { OrganizationId, ProjectId } from '../core/ids.ts'
import { notFound, requirePermission } from '../core/permission.ts'
import type { Principal } from '../core/principal.ts'
import { firstTier, homeTier, standardPriority, type Priority, type TierId } from '../core/tier.ts'
import { change, type ChangeParts } from '../db/change.ts'
import type { OrganizationTable } from '../db/tables/accounts.ts'
import { randomId } from '../lib/random-id.ts'
import { changeAccess } from './change-access.ts'
import { checkName } from './check-name.ts'
import { checkPriority } from './key-rules.ts'
import { readPage, type Page, type PageRequest } from './page.ts'
import type { AccountsParts } from './parts.ts'

export type Home = { readonly organizationId: OrganizationId; readonly projectId: ProjectId }

const defaultHome: Home = { organizationId: 'org_default', projectId: 'proj_default' }

/** The organization and project that keys belong to when none is named; made the first time they are asked for. */
export async function ensureDefaultHome(parts: ChangeParts): Promise<Home> {
  const { organizationId, projectId } = defaultHome
  const existing = await parts.db.selectFrom('projects').select('id').where('id', '=', projectId).executeTakeFirst()
  if (existing !== undefined) return defaultHome
  const created_at = parts.clock.nowMs()
  await change(
    parts,
    { kind: 'operator' },
    { action: 'organizations:create', organizationId, target: organizationId },
    async (transaction) => {
      // Two processes may start at once on a new data folder; the second finds the rows made.
      const organization = { id: organizationId, name: 'Default', created_at, disabled_at: null, tier: homeTier }
      await transaction
        .insertInto('organizations')
        .values(organization)
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      const project = { id: projectId, organization_id: organizationId, name: 'Default', created_at, archived_at: null }
      await transaction
        .insertInto('projects')
        .values(project)
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    },
  )
  return defaultHome
}

export type Organization = {
  readonly id: OrganizationId
  readonly name: string
  readonly createdAtMs: number
  readonly disabledAtMs: number | null
  readonly tier: TierId
  /** How soon its requests have their turn where requests wait. */
  readonly priority: Priority
  /** Whom its members ask for higher limits; null where nobody is named. */
  readonly contact: string | null
}

/** Makes an organization with a first project. */
export async function createOrganization(
  parts: AccountsParts,
  principal: Principal,
  { name }: { readonly name: string },
): Promise<Home> {
  requirePermission(principal, 'organizations:create', { organizationId: null })
  const organizationId: OrganizationId = `org_${randomId()}`
  const projectId: ProjectId = `proj_${randomId()}`
  const created_at = parts.clock.nowMs()
  const row = { id: organizationId, name: checkName(name), created_at, disabled_at: null, tier: firstTier }
  const action = { action: 'organizations:create', organizationId, target: organizationId }
  await change(parts, principal, action, async (transaction, note) => {
    await transaction.insertInto('organizations').values(row).execute()
    const project = { id: projectId, organization_id: organizationId, name: 'Default', created_at, archived_at: null }
    await transaction.insertInto('projects').values(project).execute()
    note(null, { name: row.name, first_project: projectId, tier: row.tier })
  })
  return { organizationId, projectId }
}

export async function readOrganization(
  { db }: AccountsParts,
  principal: Principal,
  organizationId: OrganizationId,
): Promise<Organization> {
  requirePermission(principal, 'organizations:read', { organizationId })
  return toOrganization(await findOrganization(db, organizationId))
}

/** Everyone sees their own; only whoever belongs to none sees them all. */
export async function listOrganizations(
  { db }: AccountsParts,
  principal: Principal,
  request: PageRequest = {},
): Promise<Page<Organization>> {
  const own = organizationOf(principal)
  requirePermission(principal, 'organizations:read', { organizationId: own })
  let query = db.selectFrom('organizations').selectAll()
  if (own !== null) query = query.where('id', '=', own)
  return readPage(query, request, toOrganization)
}

export async function renameOrganization(
  parts: AccountsParts,
  principal: Principal,
  { organizationId, name }: { readonly organizationId: OrganizationId; readonly name: string },
): Promise<void> {
  requirePermission(principal, 'organizations:update', { organizationId })
  const checked = checkName(name)
  const action = { action: 'organizations:update', organizationId, target: organizationId }
  await change(parts, principal, action, async (transaction, note) => {
    const { name: before } = await findOrganization(transaction, organizationId)
    await transaction.updateTable('organizations').set({ name: checked }).where('id', '=', organizationId).execute()
    note({ name: before }, { name: checked })
  })
}

/** While an organization is disabled its keys are refused and what they have under way is ended. */
export async function setOrganizationDisabled(
  parts: AccountsParts,
  principal: Principal,
  { organizationId, isDisabled }: { readonly organizationId: OrganizationId; readonly isDisabled: boolean },
): Promise<void> {
  requirePermission(principal, 'organizations:disable', { organizationId })
  const action = { action: 'organizations:disable', organizationId, target: organizationId }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const { disabled_at: before } = await findOrganization(transaction, organizationId)
    const disabled_at = isDisabled ? (before ?? parts.clock.nowMs()) : null
    await transaction.updateTable('organizations').set({ disabled_at }).where('id', '=', organizationId).execute()
    note({ disabled_at: before }, { disabled_at })
  })
}

/** Its requests have their turn so soon from now on, and those of its keys no sooner. */
export async function prioritizeOrganization(
  parts: AccountsParts,
  principal: Principal,
  { organizationId, priority }: { readonly organizationId: OrganizationId; readonly priority: Priority },
): Promise<void> {
  requirePermission(principal, 'tiers:assign', { organizationId })
  checkPriority(priority)
  const action = { action: 'tiers:assign', organizationId, target: organizationId }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const { priority: before } = await findOrganization(transaction, organizationId)
    await transaction.updateTable('organizations').set({ priority }).where('id', '=', organizationId).execute()
    note({ priority: before ?? standardPriority }, { priority })
  })
}

/** Throws for one that is not there. */
export async function requireOrganization(
  db: Pick<AccountsParts['db'], 'selectFrom'>,
  organizationId: OrganizationId,
): Promise<void> {
  const row = await db.selectFrom('organizations').select('id').where('id', '=', organizationId).executeTakeFirst()
  if (row === undefined) throw notFound()
}

async function findOrganization(
  db: Pick<AccountsParts['db'], 'selectFrom'>,
  organizationId: OrganizationId,
): Promise<Selectable<OrganizationTable>> {
  const row = await db.selectFrom('organizations').selectAll().where('id', '=', organizationId).executeTakeFirst()
  if (row === undefined) throw notFound()
  return row
}

function organizationOf(principal: Principal): OrganizationId | null {
  return principal.kind === 'operator' ? null : principal.organizationId
}

function toOrganization({ created_at, disabled_at, ...row }: Selectable<OrganizationTable>): Organization {
  const { id, name, tier, contact } = row
  const priority = row.priority ?? standardPriority
  return { id, name, createdAtMs: created_at, disabledAtMs: disabled_at, tier, priority, contact }
}
