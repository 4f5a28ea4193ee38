import type { Transaction } from 'kysely'
import type { AttributionRules, Principal } from '../core/principal.ts'
import { invalidRequest } from '../core/error.ts'
import type { OrganizationId } from '../core/ids.ts'
import { notFound, requirePermission } from '../core/permission.ts'
import type { Database } from '../db/database.ts'
import type { Tables } from '../db/tables.ts'
import { isPrintable } from '../lib/is-printable.ts'
import { changeAccess } from './change-access.ts'
import type { AccountsParts } from './parts.ts'

type OrganizationSettings = {
  /** Whom members ask for higher limits, in words; null where nobody is named. */
  readonly contact: string | null
  /** A key has to end so many days from now at the latest; null lets it go on without an end. */
  readonly keyDaysMax: number | null
  /** Whether end users whom requests are for are kept by their names, as hashes, or not at all; from the next request on. */
  readonly endUsers: AttributionRules['endUsers']
  /** The keys of a request's metadata that are kept as tags. */
  readonly tagKeys: readonly string[]
}

export const contactLengthMax = 200
export const keyDaysLimit = 3_650
/** As many as a request has at most. */
export const tagKeysMax = 16
/** As they stand in queries and in the names of columns. */
export const tagKeyPattern = /^[\w.-]{1,64}$/

export async function readSettings(
  { db }: Pick<AccountsParts, 'db'>,
  principal: Principal,
  organizationId: OrganizationId,
): Promise<OrganizationSettings> {
  requirePermission(principal, 'settings:read', { organizationId })
  return findSettings(db, organizationId)
}

/** Changes what is named; null takes it away. Keys that are there stay as they are. */
export async function updateSettings(
  parts: AccountsParts,
  principal: Principal,
  { organizationId, ...given }: Partial<OrganizationSettings> & { readonly organizationId: OrganizationId },
): Promise<void> {
  requirePermission(principal, 'settings:update', { organizationId })
  const action = { action: 'settings:update', organizationId, target: organizationId }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const before = await findSettings(transaction, organizationId)
    const after = check({ ...before, ...given })
    await transaction.updateTable('organizations').set(toFields(after)).where('id', '=', organizationId).execute()
    note(toFields(before), toFields(after))
  })
}

function check({ contact, keyDaysMax, endUsers, tagKeys }: OrganizationSettings): OrganizationSettings {
  const words = contact?.trim() || null
  if (words !== null && !(words.length <= contactLengthMax && isPrintable(words))) {
    throw invalidRequest(['contact'], 'value', `A contact has up to ${contactLengthMax} visible characters.`)
  }
  if (keyDaysMax !== null && !(Number.isInteger(keyDaysMax) && keyDaysMax >= 1 && keyDaysMax <= keyDaysLimit)) {
    throw invalidRequest(['keyDaysMax'], 'value', `A key lasts from 1 to ${keyDaysLimit} days.`)
  }
  const keys = [...new Set(tagKeys)]
  if (keys.length > tagKeysMax || !keys.every((key) => tagKeyPattern.test(key))) {
    const rule = `Up to ${tagKeysMax} tags are kept, whose keys are letters, digits, "_", "." and "-".`
    throw invalidRequest(['tagKeys'], 'value', rule)
  }
  return { contact: words, keyDaysMax, endUsers, tagKeys: keys }
}

const toFields = ({ contact, keyDaysMax, endUsers, tagKeys }: OrganizationSettings) => {
  return { contact, key_days_max: keyDaysMax, end_users: endUsers, tag_keys: JSON.stringify(tagKeys) }
}

async function findSettings(
  db: Pick<Database, 'selectFrom'>,
  organizationId: OrganizationId,
): Promise<OrganizationSettings> {
  const row = await db
    .selectFrom('organizations')
    .select(['contact', 'key_days_max', 'end_users', 'tag_keys'])
    .where('id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  const tagKeys = JSON.parse(row.tag_keys) as string[]
  return { contact: row.contact, keyDaysMax: row.key_days_max, endUsers: row.end_users, tagKeys }
}

const dayMs = 86_400_000

/** The latest end that a key of the organization may have; null where it needs none. */
export async function latestKeyEnd(
  transaction: Transaction<Tables>,
  organizationId: OrganizationId,
  nowMs: number,
): Promise<number | null> {
  const { keyDaysMax } = await findSettings(transaction, organizationId)
  return keyDaysMax === null ? null : nowMs + keyDaysMax * dayMs
}

/** Throws for a key that would last longer than its organization lets keys last. */
export async function requireKeyEnd(
  transaction: Transaction<Tables>,
  organizationId: OrganizationId,
  { expiresAtMs, nowMs }: { readonly expiresAtMs: number | null; readonly nowMs: number },
): Promise<void> {
  const latestMs = await latestKeyEnd(transaction, organizationId, nowMs)
  if (latestMs === null || (expiresAtMs !== null && expiresAtMs <= latestMs)) return
  const days = (latestMs - nowMs) / dayMs
  throw invalidRequest(['expires'], 'value', `A key of this organization ends within ${days} days.`)
}
