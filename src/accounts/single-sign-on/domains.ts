import type { Transaction } from 'kysely'
import { conflict, invalidRequest } from '../../core/error.ts'
import type { DomainId, OrganizationId } from '../../core/ids.ts'
import { notFound, requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import { change } from '../../db/change.ts'
import type { DomainTable } from '../../db/tables/single-sign-on.ts'
import type { Tables } from '../../db/tables.ts'
import { randomId } from '../../lib/random-id.ts'
import type { SignInParts } from '../sign-in/parts.ts'
import { createToken } from '../sign-in/one-time.ts'
import type { SsoParts } from './parts.ts'

export type Domain = {
  readonly id: DomainId
  readonly name: string
  /** The TXT record that shows whose the domain is, and where it stands. */
  readonly record: { readonly name: string; readonly value: string }
  readonly verifiedAtMs: number | null
  /** When the domain’s servers last said what there is; null for one that stands on the operator’s word. */
  readonly checkedAtMs: number | null
  /** Since when they have said that there is no record. */
  readonly missingSinceMs: number | null
  /** When it counts for nothing any more, unless the record is back by then; null where none is missing. */
  readonly lapsesAtMs: number | null
  readonly createdAtMs: number
}

export type DomainReference = { readonly id: string; readonly organizationId: OrganizationId }

/** So often a record is looked for that was there the last time. */
export const domainCheckMs = 86_400_000
/** A domain whose record is gone counts for so much longer: servers of names are moved, and make mistakes. */
export const domainGraceMs = 7 * domainCheckMs

/** The TXT record by which a domain is shown to be an organization’s own. */
export function recordOf({ name, token }: Pick<DomainTable, 'name' | 'token'>): Domain['record'] {
  return { name: `_odyssey.${name}`, value: `odyssey-domain=${token}` }
}

export async function addDomain(
  parts: SignInParts,
  principal: Principal,
  { organizationId, name }: { readonly organizationId: OrganizationId; readonly name: string },
): Promise<DomainId> {
  requirePermission(principal, 'connections:create', { organizationId })
  const id: DomainId = `dom_${randomId()}`
  const action = { action: 'domains:create', organizationId, target: id }
  await change(parts, principal, action, async (transaction, note) => {
    const row = { id, organization_id: organizationId, name: checkDomain(name), token: createToken() }
    const added = await transaction
      .insertInto('domains')
      .values({ ...row, verified_at: null, created_at: parts.clock.nowMs() })
      .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doNothing())
      .returning('id')
      .executeTakeFirst()
    if (added === undefined) throw conflict('The domain is here already.')
    note(null, { name: row.name })
  })
  return id
}

/** As it is written in addresses; other letters than these have a spelling in them (`xn--…`). */
function checkDomain(name: string): string {
  const normal = name.trim().toLowerCase()
  const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
  if (normal.length <= 253 && new RegExp(`^(?:${label}\\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$`).test(normal)) return normal
  throw invalidRequest(['name'], 'value', 'This is no domain, such as example.com.')
}

/** Looks for the record. A domain that another organization has shown to be its own stays that one’s. */
export async function verifyDomain(parts: SsoParts, principal: Principal, reference: DomainReference): Promise<void> {
  requirePermission(principal, 'connections:update', reference)
  const { name, value } = recordOf(await findDomain(parts.db, reference))
  const texts = await parts.sso.resolveTexts(name)
  if (texts === null) {
    throw conflict(`The servers of the domain do not say now what ${name} is. Try it later.`)
  }
  if (!texts.includes(value)) {
    throw conflict(`There is no TXT record ${name} with ${value} yet.`)
  }
  await setVerified(parts, principal, { ...reference, action: 'domains:verify' })
}

/** The operator’s word instead of a record. */
export async function trustDomain(parts: SignInParts, principal: Principal, reference: DomainReference): Promise<void> {
  if (principal.kind !== 'operator') throw notFound()
  await setVerified(parts, principal, { ...reference, action: 'domains:trust' })
}

async function setVerified(
  parts: SignInParts,
  principal: Principal,
  { action, id, organizationId }: DomainReference & { readonly action: string },
): Promise<void> {
  await change(parts, principal, { action, organizationId, target: id }, async (transaction, note) => {
    const { name } = await findDomain(transaction, { id, organizationId })
    const other = await transaction
      .selectFrom('domains')
      .select('id')
      .where('name', '=', name)
      .where('organization_id', '!=', organizationId)
      .where('verified_at', 'is not', null)
      .executeTakeFirst()
    if (other !== undefined) throw conflict('The domain is another organization’s.')
    const verified_at = parts.clock.nowMs()
    const isTrusted = action === 'domains:trust'
    const look_at = isTrusted ? null : verified_at + domainCheckMs
    await transaction
      .updateTable('domains')
      .set({ verified_at, look_at, checked_at: isTrusted ? null : verified_at, missing_since: null })
      .where('id', '=', id as DomainId)
      .where('organization_id', '=', organizationId)
      .execute()
    note(null, { name, verified_at })
  })
}

export async function removeDomain(
  parts: SignInParts,
  principal: Principal,
  reference: DomainReference,
): Promise<void> {
  const { organizationId, id } = reference
  requirePermission(principal, 'connections:remove', { organizationId })
  await change(
    parts,
    principal,
    { action: 'domains:remove', organizationId, target: id },
    async (transaction, note) => {
      const { name } = await findDomain(transaction, reference)
      await transaction
        .deleteFrom('domains')
        .where('id', '=', id as DomainId)
        .where('organization_id', '=', organizationId)
        .execute()
      note({ name }, null)
    },
  )
}

export async function listDomains(
  { db }: Pick<SignInParts, 'db'>,
  principal: Principal,
  organizationId: OrganizationId,
): Promise<readonly Domain[]> {
  requirePermission(principal, 'connections:read', { organizationId })
  const rows = await db
    .selectFrom('domains')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(toDomain)
}

export async function readDomain(
  { db }: Pick<SignInParts, 'db'>,
  principal: Principal,
  reference: DomainReference,
): Promise<Domain> {
  requirePermission(principal, 'connections:read', reference)
  return toDomain(await findDomain(db, reference))
}

async function findDomain(db: Pick<Transaction<Tables>, 'selectFrom'>, { id, organizationId }: DomainReference) {
  const row = await db
    .selectFrom('domains')
    .selectAll()
    .where('id', '=', id as DomainId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return row
}

function toDomain(row: DomainTable): Domain {
  const { id, name, verified_at, created_at, checked_at, missing_since } = row
  return {
    id,
    name,
    record: recordOf(row),
    verifiedAtMs: verified_at,
    checkedAtMs: checked_at,
    missingSinceMs: missing_since,
    lapsesAtMs: missing_since === null ? null : missing_since + domainGraceMs,
    createdAtMs: created_at,
  }
}
