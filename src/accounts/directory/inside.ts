// What the changes of a directory have in common: a transaction in which nobody else changes who the organization's
// members are, and versions of what is changed.

import type { Transaction } from 'kysely'
import { joinTransaction } from '../../db/change.ts'
import type { Tables } from '../../db/tables.ts'
import { withoutNotice } from '../change-access.ts'
import { lockOrganization } from '../access/lock-organization.ts'
import type { AccountsParts } from '../parts.ts'
import { isStillGood, type AskingDirectory } from './directory-tokens.ts'
import { ScimFault } from './scim/fault.ts'
import type { ResourceType } from './scim/schema.ts'

/** What a change of a directory is made with. */
export type Inside = {
  readonly transaction: Transaction<Tables>
  /** Changes made with these become part of the transaction. */
  readonly parts: AccountsParts
  readonly directory: AskingDirectory
}

/** Makes a change of a directory, of which either all is there or nothing. */
export async function inDirectory<Result>(
  parts: AccountsParts,
  directory: AskingDirectory,
  work: (inside: Inside) => Promise<Result>,
): Promise<Result> {
  const result = await parts.db.transaction().execute(async (transaction) => {
    await lockOrganization(transaction, directory.organizationId)
    // Who looks after it may have ended the token since the request came in.
    if (!(await isStillGood(transaction, directory, parts.clock.nowMs()))) {
      throw new ScimFault(401, null, 'The token has ended.')
    }
    return work({ transaction, parts: { ...withoutNotice(parts), db: joinTransaction(transaction) }, directory })
  })
  await parts.accessChanged?.()
  return result
}

/** The next place in a list that keeps its order while others are added. */
export async function nextPosition(
  { transaction, directory }: Inside,
  table: 'directory_users' | 'directory_groups',
): Promise<number> {
  const { last } = await transaction
    .selectFrom(table)
    .select(({ fn }) => fn.max<number | null>('position').as('last'))
    .where('directory_id', '=', directory.id)
    .executeTakeFirstOrThrow()
  return Number(last ?? 0) + 1
}

function toVersion(version: number): string {
  return `W/"${version}"`
}

type Kept = {
  readonly version: number
  readonly created_at: number
  readonly changed_at: number
  readonly location: string
}

/** What is told of a resource beside what it says. */
export function metaOf({ name }: ResourceType, { version, created_at, changed_at, location }: Kept) {
  const [created, lastModified] = [created_at, changed_at].map((at) => new Date(at).toISOString())
  return { resourceType: name, created, lastModified, location, version: toVersion(version) }
}

/** Throws where somebody has changed it since the version that is asked for; null asks for none. */
export function requireVersion(ifMatch: string | null, version: number): void {
  if (ifMatch === null) return
  const asked = ifMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  if (asked.includes('*') || asked.includes(`"${version}"`)) return
  throw new ScimFault(412, null, `It has been changed since: its version is ${toVersion(version)}.`)
}
