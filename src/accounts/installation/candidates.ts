// Whom a role in the installation can be given to. That somebody signs in with an e-mail address says by itself only that
// some organization has invited it: whose it is, nobody has to have shown.

import type { OrganizationId, UserId } from '../../core/ids.ts'
import { requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import { checkEmail } from '../check-email.ts'
import type { AccountsParts } from '../parts.ts'
import { findUserByEmail } from '../sign-in/users.ts'
import { listVouching } from '../sign-in/vouched-addresses.ts'

export type Candidate = {
  readonly id: UserId
  readonly name: string
  readonly email: string
  /** Whether an organization that has the domain of the address says by its own provider that it is theirs. */
  readonly isProven: boolean
  readonly organizations: readonly { readonly id: OrganizationId; readonly name: string }[]
}

type Reads = Pick<Database, 'selectFrom'>

/** Those who sign in with an e-mail address: one person, or nobody. */
export async function listCandidates(
  { db }: Pick<AccountsParts, 'db'>,
  principal: Principal,
  email: string,
): Promise<readonly Candidate[]> {
  requirePermission(principal, 'installation:read', { organizationId: null })
  const candidate = await findCandidate(db, email)
  return candidate === null ? [] : [candidate]
}

export async function findCandidate(db: Reads, given: string): Promise<Candidate | null> {
  const user = await findUserByEmail(db, checkEmail(given))
  if (user === null) return null
  const { id, email } = user
  const { name } = await db.selectFrom('users').select('name').where('id', '=', id).executeTakeFirstOrThrow()
  const rows = await db
    .selectFrom('members')
    .innerJoin('organizations', 'organizations.id', 'members.organization_id')
    .select(['organizations.id', 'organizations.name'])
    .where('members.user_id', '=', id)
    .where('members.removed_at', 'is', null)
    .orderBy('members.created_at')
    .orderBy('members.id')
    .execute()
  const organizations = rows.map((row) => ({ id: row.id, name: row.name }))
  return { id, name, email, isProven: (await listVouching(db, user)).length > 0, organizations }
}
