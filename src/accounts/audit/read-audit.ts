import type { ManagementKeyId, MemberId, OrganizationId, UserId } from '../../core/ids.ts'
import { requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import { installationChain } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { AuditTable } from '../../db/tables/audit.ts'
import type { AccountsParts } from '../parts.ts'
import { readDeletedTo, readRowHashes } from '../transparency/row-hashes.ts'

/** One thing that was done, as an export shows it. */
export type AuditEntry = {
  readonly id: string
  readonly sequence: number | null
  readonly at: string
  readonly organization: OrganizationId
  readonly actor: string
  readonly action: string
  readonly target: string
  readonly before: unknown
  readonly after: unknown
  readonly address: string | null
  readonly requestId: string | null
  readonly hash: string | null
}

export type AuditRange = {
  readonly organizationId: OrganizationId
  /** Begins behind this one; 0 begins with the first. */
  readonly afterSequence: number
  readonly limit: number
}

export async function readAudit(
  { db }: Pick<AccountsParts, 'db'>,
  principal: Principal,
  range: AuditRange,
): Promise<AuditEntry[]> {
  requirePermission(principal, 'audit:read', { organizationId: range.organizationId })
  return (await readAuditRows(db, range)).map(toEntry)
}

const entriesPerPage = 500

/** A whole audit, oldest first, so that memory does not grow with it. */
export async function* readWholeAudit(
  parts: Pick<AccountsParts, 'db'>,
  principal: Principal,
  organizationId: OrganizationId,
): AsyncGenerator<readonly AuditEntry[]> {
  let afterSequence = 0
  for (;;) {
    const entries = await readAudit(parts, principal, { organizationId, afterSequence, limit: entriesPerPage })
    if (entries.length > 0) yield entries
    const last = entries.at(-1)?.sequence ?? null
    if (last === null || entries.length < entriesPerPage) return
    afterSequence = last
  }
}

/** The hashes of deleted rows as an export has them, before all rows. */
export type DeletedEntries = {
  readonly organization: OrganizationId
  readonly deleted: { readonly from: number; readonly hashes: readonly string[] }
}

const hashesPerLine = 256

/** What is left of the rows that were deleted. */
export async function* readDeletedEntries(
  { db }: Pick<AccountsParts, 'db'>,
  principal: Principal,
  organizationId: OrganizationId,
): AsyncGenerator<DeletedEntries> {
  requirePermission(principal, 'audit:read', { organizationId })
  const deletedTo = await readDeletedTo(db, organizationId)
  for (let from = 0; from < deletedTo; from += hashesPerLine) {
    const to = Math.min(deletedTo, from + hashesPerLine)
    const hashes = await readRowHashes(db, { organizationId, from, to })
    yield { organization: organizationId, deleted: { from: from + 1, hashes } }
  }
}

/** In the order of the chain. */
export function readAuditRows(
  db: Database,
  { organizationId, afterSequence, limit }: AuditRange,
): Promise<AuditTable[]> {
  return db
    .selectFrom('audit')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('sequence', '>', afterSequence)
    .orderBy('sequence')
    .limit(limit)
    .execute()
}

/** Every organization of which anything was recorded. */
export async function listAuditedOrganizations(db: Database): Promise<OrganizationId[]> {
  const rows = await db
    .selectFrom('audit')
    .select('organization_id')
    .union(db.selectFrom('audit_chains').select('organization_id'))
    .orderBy('organization_id')
    .execute()
  return rows.map(({ organization_id }) => organization_id)
}

export function toEntry(row: AuditTable): AuditEntry {
  return {
    id: row.id,
    sequence: row.sequence,
    at: new Date(row.at).toISOString(),
    organization: row.organization_id,
    actor: row.actor,
    action: row.action,
    target: row.target,
    before: row.before === null ? null : JSON.parse(row.before),
    after: row.after === null ? null : JSON.parse(row.after),
    address: row.address,
    requestId: row.request_id,
    hash: row.hash,
  }
}

export type AuditFilter = {
  readonly organizationId: OrganizationId
  readonly actor?: string
  readonly action?: string
  readonly target?: string
  readonly fromMs?: number
  readonly toMs?: number
}

/** Newest first; what is recorded meanwhile does not move what comes after. */
export type AuditSearch = AuditFilter & { readonly beforeSequence: number | null; readonly limit: number }

export async function listAudit(
  { db }: Pick<AccountsParts, 'db'>,
  principal: Principal,
  { organizationId, beforeSequence, limit, ...filter }: AuditSearch,
): Promise<AuditEntry[]> {
  requirePermission(principal, 'audit:read', { organizationId })
  let query = db.selectFrom('audit').selectAll().where('organization_id', '=', organizationId)
  if (beforeSequence !== null) query = query.where('sequence', '<', beforeSequence)
  if (filter.actor !== undefined) query = query.where('actor', '=', filter.actor)
  if (filter.action !== undefined) query = query.where('action', '=', filter.action)
  if (filter.target !== undefined) query = query.where('target', '=', filter.target)
  if (filter.fromMs !== undefined) query = query.where('at', '>=', filter.fromMs)
  if (filter.toMs !== undefined) query = query.where('at', '<', filter.toMs)
  // Rows without a place were put there by hand: verification tells of them.
  const rows = await query.where('sequence', 'is not', null).orderBy('sequence', 'desc').limit(limit).execute()
  return rows.map(toEntry)
}

/**
 * The names of those who did what is listed, as they are called now. Of people only those are named who are or were members
 * here; in the record of the installation, all of them.
 */
export async function nameActors(
  { db }: Pick<AccountsParts, 'db'>,
  organizationId: OrganizationId,
  entries: readonly AuditEntry[],
): Promise<ReadonlyMap<string, string>> {
  const of = <Id extends string>(prefix: string) =>
    [...new Set(entries.map(({ actor }) => actor))].filter((actor): actor is Id => actor.startsWith(prefix))
  const [people, members, keys] = [of<UserId>('usr_'), of<MemberId>('mem_'), of<ManagementKeyId>('mkey_')]
  const named: { readonly id: string | null; readonly name: string }[] = []
  if (people.length > 0) {
    const users = db.selectFrom('users').select(['id', 'name']).where('id', 'in', people)
    const joined = db
      .selectFrom('members')
      .select(['user_id as id', 'name'])
      .where('user_id', 'in', people)
      .where('organization_id', '=', organizationId)
    named.push(...(await (organizationId === installationChain ? users : joined).execute()))
  }
  if (members.length > 0) {
    named.push(...(await db.selectFrom('members').select(['id', 'name']).where('id', 'in', members).execute()))
  }
  if (keys.length > 0) {
    named.push(...(await db.selectFrom('management_keys').select(['id', 'name']).where('id', 'in', keys).execute()))
  }
  return new Map(named.flatMap(({ id, name }) => (id === null ? [] : [[id, name] as const])))
}
