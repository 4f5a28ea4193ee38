import type { Selectable, Transaction } from 'kysely'
import { conflict } from '../core/error.ts'
import type { OrganizationId, ProjectId, ServiceAccountId } from '../core/ids.ts'
import { notFound, requirePermission, visibleProjects, type Permission } from '../core/permission.ts'
import type { Principal } from '../core/principal.ts'
import { actorOf, type Fields } from '../db/change.ts'
import type { Database } from '../db/database.ts'
import type { ServiceAccountTable } from '../db/tables/accounts.ts'
import type { Tables } from '../db/tables.ts'
import { randomId } from '../lib/random-id.ts'
import { changeAccess } from './change-access.ts'
import { checkName } from './check-name.ts'
import { readPage, type Page, type PageRequest } from './page.ts'
import type { AccountsParts } from './parts.ts'
import { requireActiveProject } from './projects.ts'

/** An account of a program: keys that are its own are no person’s, and stay when people leave. */
export type ServiceAccount = {
  readonly id: ServiceAccountId
  readonly projectId: ProjectId
  readonly name: string
  readonly createdAtMs: number
  /** While it is disabled its keys are refused. */
  readonly disabledAtMs: number | null
  readonly removedAtMs: number | null
}

export type ServiceAccountReference = { readonly id: string; readonly organizationId: OrganizationId }

export async function createServiceAccount(
  parts: AccountsParts,
  principal: Principal,
  {
    organizationId,
    projectId,
    name,
  }: { readonly organizationId: OrganizationId; readonly projectId: ProjectId; readonly name: string },
): Promise<ServiceAccountId> {
  requirePermission(principal, 'service-accounts:create', { organizationId, projectId })
  const id: ServiceAccountId = `svc_${randomId()}`
  const shown = { name: checkName(name), project_id: projectId }
  const action = { action: 'service-accounts:create', organizationId, target: id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    await requireActiveProject(transaction, { organizationId, projectId })
    const made = { created_at: parts.clock.nowMs(), created_by: actorOf(principal) }
    await transaction
      .insertInto('service_accounts')
      .values({ id, organization_id: organizationId, ...shown, ...made, disabled_at: null, removed_at: null })
      .execute()
    note(null, shown)
  })
  return id
}

export async function listServiceAccounts(
  { db }: AccountsParts,
  principal: Principal,
  request: PageRequest & { readonly organizationId: OrganizationId },
): Promise<Page<ServiceAccount>> {
  const visible = visibleProjects(principal, 'service-accounts:read', request.organizationId)
  if (visible?.length === 0) return { items: [], next: null }
  const query = db
    .selectFrom('service_accounts')
    .selectAll()
    .where('organization_id', '=', request.organizationId)
    .$if(visible !== null, (all) => all.where('project_id', 'in', visible ?? []))
  return readPage(query, request, toServiceAccount)
}

export async function readServiceAccount(
  { db }: AccountsParts,
  principal: Principal,
  reference: ServiceAccountReference,
): Promise<ServiceAccount> {
  return toServiceAccount(await findAccount(db, principal, { permission: 'service-accounts:read', reference }))
}

function toServiceAccount(row: Selectable<ServiceAccountTable>): ServiceAccount {
  const times = { createdAtMs: row.created_at, disabledAtMs: row.disabled_at, removedAtMs: row.removed_at }
  return { id: row.id, projectId: row.project_id, name: row.name, ...times }
}

type Asked = { readonly permission: Permission; readonly reference: ServiceAccountReference }

async function findAccount(
  db: Pick<Database, 'selectFrom'>,
  principal: Principal,
  { permission, reference: { id, organizationId } }: Asked,
): Promise<Selectable<ServiceAccountTable>> {
  const row = await db
    .selectFrom('service_accounts')
    .selectAll()
    .where('id', '=', id as ServiceAccountId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  requirePermission(principal, permission, { organizationId, projectId: row.project_id })
  return row
}

export function renameServiceAccount(
  parts: AccountsParts,
  principal: Principal,
  reference: ServiceAccountReference,
  name: string,
): Promise<void> {
  const checked = checkName(name)
  return changeAccount(parts, principal, { permission: 'service-accounts:update', reference }, async () => {
    return { columns: { name: checked }, keys: {} }
  })
}

/** Refuses an account’s keys until it is enabled again: then exactly those that were in use before. */
export function setServiceAccountDisabled(
  parts: AccountsParts,
  principal: Principal,
  reference: ServiceAccountReference,
  isDisabled: boolean,
): Promise<void> {
  const asked = { permission: 'service-accounts:update', reference } as const
  return changeAccount(parts, principal, asked, async (row, transaction) => {
    const now = parts.clock.nowMs()
    const own = transaction
      .updateTable('api_keys')
      .where('organization_id', '=', row.organization_id)
      .where('service_account_id', '=', row.id)
      .where('revoked_at', 'is', null)
    const changed = isDisabled
      ? own.set({ disabled_at: now, suspended_by: row.id }).where('disabled_at', 'is', null)
      : own.set({ disabled_at: null, suspended_by: null }).where('suspended_by', '=', row.id)
    const keys = await changed.returning('id').execute()
    const disabled_at = isDisabled ? (row.disabled_at ?? now) : null
    return { columns: { disabled_at }, keys: { keys: keys.map(({ id }) => id) } }
  })
}

/** Ends an account for good, and every key of its own. */
export function removeServiceAccount(
  parts: AccountsParts,
  principal: Principal,
  reference: ServiceAccountReference,
): Promise<void> {
  const asked = { permission: 'service-accounts:remove', reference } as const
  return changeAccount(parts, principal, asked, async (row, transaction) => {
    const now = parts.clock.nowMs()
    const keys = await transaction
      .updateTable('api_keys')
      .set({ revoked_at: now })
      .where('organization_id', '=', row.organization_id)
      .where('service_account_id', '=', row.id)
      .where('revoked_at', 'is', null)
      .returning('id')
      .execute()
    return { columns: { removed_at: now }, keys: { keys: keys.map(({ id }) => id) } }
  })
}

type Columns = Partial<Pick<ServiceAccountTable, 'name' | 'disabled_at' | 'removed_at'>>
type Decided = { readonly columns: Columns; readonly keys: Fields }

function changeAccount(
  parts: AccountsParts,
  principal: Principal,
  asked: Asked,
  decide: (row: Selectable<ServiceAccountTable>, transaction: Transaction<Tables>) => Promise<Decided>,
): Promise<void> {
  const { id, organizationId } = asked.reference
  const action = { action: asked.permission, organizationId, target: id }
  return changeAccess(parts, principal, action, async (transaction, note) => {
    const row = await findAccount(transaction, principal, asked)
    if (row.removed_at !== null) throw notFound()
    const { columns, keys } = await decide(row, transaction)
    await transaction
      .updateTable('service_accounts')
      .set(columns)
      .where('id', '=', row.id)
      .where('organization_id', '=', organizationId)
      .execute()
    const { name, disabled_at, removed_at } = row
    note({ name, disabled_at, removed_at }, { ...columns, ...keys })
  })
}

type Owning = {
  readonly organizationId: OrganizationId
  readonly projectId: ProjectId
  readonly serviceAccountId: ServiceAccountId
}

/** Throws for an account that is not there, is of an archived or another project, or is disabled: no key of its is made. */
export async function requireActiveAccount(
  transaction: Transaction<Tables>,
  { organizationId, projectId, serviceAccountId }: Owning,
): Promise<void> {
  await requireActiveProject(transaction, { organizationId, projectId })
  const row = await transaction
    .selectFrom('service_accounts')
    .select('disabled_at')
    .where('id', '=', serviceAccountId)
    .where('organization_id', '=', organizationId)
    .where('project_id', '=', projectId)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  if (row.disabled_at === null) return
  throw conflict('The service account whose key it is is disabled: enable it first.')
}
