// What a user of a directory may be, and which member that is.

import type { Selectable } from 'kysely'
import { domainOf } from '../../config/mail-address.ts'
import type { MemberId } from '../../core/ids.ts'
import { change } from '../../db/change.ts'
import type { MemberTable } from '../../db/tables/accounts.ts'
import { isPrintable } from '../../lib/is-printable.ts'
import { checkEmail, normalizeEmail } from '../check-email.ts'
import type { Inside } from './inside.ts'
import type { UserRow } from './read-users.ts'
import { invalidValue, notUnique } from './scim/fault.ts'
import { isObject, requireSize, type Resource } from './scim/resource.ts'

type Stored = Pick<UserRow, 'user_name' | 'user_name_key' | 'external_id' | 'active' | 'attributes'>

/** Checks what a resource says and parts it into what has columns and what is kept as it is. */
export function toStored({ userName, externalId, active, schemas: _, ...attributes }: Resource): Stored {
  requireName('userName', userName)
  if (externalId !== undefined) requireName('externalId', externalId)
  refuseOwners(attributes['roles'])
  requireSize(attributes)
  return {
    user_name: userName,
    user_name_key: userName.toLowerCase(),
    external_id: externalId ?? null,
    active: active === false ? 0 : 1,
    attributes: JSON.stringify(attributes),
  }
}

export function requireName(path: string, value: unknown): asserts value is string {
  const isName = typeof value === 'string' && value.trim() !== '' && value.length <= 320 && isPrintable(value)
  if (!isName) throw invalidValue(path, 'has from 1 to 320 printable characters')
}

/** Roles that a directory names are without effect here; this one must not even look as if it had one. */
function refuseOwners(roles: unknown): void {
  for (const role of Array.isArray(roles) ? (roles as readonly unknown[]) : []) {
    const texts = isObject(role) ? Object.values(role) : [role]
    const isOwner = texts.some((text) => typeof text === 'string' && text.trim().toLowerCase() === 'owner')
    if (isOwner) throw invalidValue('roles', 'no directory makes owners')
  }
}

export async function requireUnique(
  { transaction, directory }: Inside,
  stored: Stored,
  own: MemberId | null,
): Promise<void> {
  const rows = await transaction
    .selectFrom('directory_users')
    .select(['member_id', 'user_name_key'])
    .where('directory_id', '=', directory.id)
    .where(({ or, eb }) =>
      or([
        eb('user_name_key', '=', stored.user_name_key),
        ...(stored.external_id === null ? [] : [eb('external_id', '=', stored.external_id)]),
      ]),
    )
    .execute()
  const other = rows.find(({ member_id }) => member_id !== own)
  if (other === undefined) return
  const name = other.user_name_key === stored.user_name_key ? 'userName' : 'externalId'
  throw notUnique(`Another user has this ${name}.`)
}

type Address = { readonly value: string; readonly isWork: boolean; readonly isPrimary: boolean }

function addressesOf({ emails }: Resource): readonly Address[] {
  const given = Array.isArray(emails) ? (emails as readonly unknown[]) : []
  return given.flatMap((email) => {
    if (!isObject(email) || typeof email['value'] !== 'string') return []
    return [{ value: email['value'], isWork: email['type'] === 'work', isPrimary: email['primary'] === true }]
  })
}

/** The address that a member has: the primary one, or the one at work, or the first, or the name where that is one. */
export function emailOf(resource: Resource): string {
  const addresses = addressesOf(resource)
  const chosen =
    addresses.find(({ isPrimary }) => isPrimary) ?? addresses.find(({ isWork }) => isWork) ?? addresses.at(0)
  try {
    return checkEmail(chosen?.value ?? (resource['userName'] as string))
  } catch {
    throw invalidValue('emails', 'has an e-mail address, where userName is none')
  }
}

export async function findMember(
  { transaction, directory }: Inside,
  email: string,
): Promise<Selectable<MemberTable> | null> {
  const row = await transaction
    .selectFrom('members')
    .selectAll()
    .where('organization_id', '=', directory.organizationId)
    .where('email', '=', email)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  return row ?? null
}

/** What a directory calls somebody is shown and decides nothing. */
export function nameOf({ displayName, name }: Resource, email: string): string {
  const { formatted, givenName, familyName } = isObject(name) ? name : {}
  const both = [givenName, familyName].filter((part) => typeof part === 'string').join(' ')
  const usable = [displayName, formatted, both].find(
    (text) => typeof text === 'string' && text.trim() !== '' && text.length <= 200 && isPrintable(text),
  )
  return typeof usable === 'string' ? usable.trim() : email
}

/**
 * Takes over a member whom somebody else has made. Whoever sends a member’s address has to have shown that its domain is
 * the organization’s, as every other address that comes with it; and the member’s own stays.
 */
export async function adopt(
  inside: Inside,
  member: Selectable<MemberTable>,
  resource: Resource,
): Promise<Selectable<MemberTable>> {
  const { transaction, parts, directory } = inside
  const { organizationId, principal } = directory
  const known = await transaction
    .selectFrom('directory_users')
    .select('member_id')
    .where('member_id', '=', member.id)
    .executeTakeFirst()
  if (known !== undefined) throw notUnique('Another user has this e-mail address.')
  const addresses = [member.email, ...addressesOf(resource).map(({ value }) => normalizeEmail(value))]
  const domains = new Set(addresses.map(domainOf))
  const verified = await transaction
    .selectFrom('domains')
    .select('name')
    .where('organization_id', '=', organizationId)
    .where('name', 'in', [...domains])
    .where('verified_at', 'is not', null)
    .execute()
  if (verified.length < domains.size) {
    throw notUnique('There is a member with this e-mail address, and not every domain that is named is verified.')
  }
  const action = { action: 'members:adopt', organizationId, target: member.id }
  await change(parts, principal, action, (_same, note) => {
    note(null, { user_name: resource['userName'] })
    return Promise.resolve()
  })
  return member
}
