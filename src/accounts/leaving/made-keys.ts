import type { ApiKeyId, InvitationId, ManagementKeyId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { MemberTable } from '../../db/tables/accounts.ts'

type Named<Id> = { readonly id: Id; readonly name: string }

/** What a member has made, or had made by a management key of theirs, that is not over yet. */
export type MadeThings = {
  readonly managementKeys: readonly Named<ManagementKeyId>[]
  /** Keys of others and of nobody: whoever made one has seen its secret. */
  readonly keysForOthers: readonly Named<ApiKeyId>[]
  /** Whoever made an invitation has seen its link, and anybody who has the link can accept it. */
  readonly invitations: readonly InvitationId[]
}

type Leaving = Pick<MemberTable, 'id' | 'organization_id' | 'user_id'>

/** Finds what a member knows the secrets of in the organization, whichever of their own keys it was made with. */
export async function findMadeThings(db: Pick<Database, 'selectFrom'>, member: Leaving): Promise<MadeThings> {
  const { makers, managementKeys } = await findMakers(db, member)
  const keysForOthers = await db
    .selectFrom('api_keys')
    .select(['id', 'name'])
    .where('organization_id', '=', member.organization_id)
    .where('created_by', 'in', makers)
    .where(({ or, eb }) => or([eb('owner_id', 'is', null), eb('owner_id', '!=', member.id)]))
    .where('revoked_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const invitations = await db
    .selectFrom('invitations')
    .select('id')
    .where('organization_id', '=', member.organization_id)
    .where('created_by', 'in', makers)
    .where('accepted_at', 'is', null)
    .where('withdrawn_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return { managementKeys, keysForOthers, invitations: invitations.map(({ id }) => id) }
}

type Makers = {
  /** The names by which the audit knows the member and their keys. */
  readonly makers: readonly string[]
  readonly managementKeys: readonly Named<ManagementKeyId>[]
}

/** A management key makes further ones: the whole line of them is its first maker's, also where one of it has ended. */
async function findMakers(db: Pick<Database, 'selectFrom'>, member: Leaving): Promise<Makers> {
  const makers: string[] = member.user_id === null ? [member.id] : [member.id, member.user_id]
  const managementKeys: Named<ManagementKeyId>[] = []
  for (let latest: readonly string[] = makers; latest.length > 0;) {
    const rows = await db
      .selectFrom('management_keys')
      .select(['id', 'name', 'revoked_at'])
      .where('organization_id', '=', member.organization_id)
      .where('created_by', 'in', latest)
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    for (const { id, name, revoked_at } of rows) if (revoked_at === null) managementKeys.push({ id, name })
    latest = rows.map(({ id }) => id)
    makers.push(...latest)
  }
  return { makers, managementKeys }
}
