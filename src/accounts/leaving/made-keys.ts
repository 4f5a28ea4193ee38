import { sql } from 'kysely'
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

type MadeRow =
  | ({ readonly kind: 'management-key' } & Named<ManagementKeyId>)
  | ({ readonly kind: 'key' } & Named<ApiKeyId>)
  | ({ readonly kind: 'invitation' } & Named<InvitationId>)

/**
 * Finds what a member knows the secrets of in the organization, whichever of their own keys it was made with. A management
 * key makes further ones: the whole line of them is its first maker's, also where one of it has ended.
 *
 * In one statement, since others wait for the transaction that it is a part of.
 */
export async function findMadeThings(db: Pick<Database, 'getExecutor'>, member: Leaving): Promise<MadeThings> {
  const { id, organization_id: organizationId, user_id: userId } = member
  // The names by which the audit knows them.
  const own = sql.join(userId === null ? [id] : [id, userId])
  const isTheirs = sql`organization_id = ${organizationId} and (created_by in (${own}) or created_by in (select id from line))`
  const { rows } = await sql<MadeRow>`
    with recursive line as (
      select id, name, created_at, revoked_at from management_keys
      where organization_id = ${organizationId} and created_by in (${own})
      union
      select made.id, made.name, made.created_at, made.revoked_at from management_keys as made
      inner join line on made.created_by = line.id where made.organization_id = ${organizationId}
    )
    select 'management-key' as kind, id, name, created_at from line where revoked_at is null
    union all
    select 'key' as kind, id, name, created_at from api_keys
    where ${isTheirs} and (owner_id is null or owner_id <> ${id}) and revoked_at is null
    union all
    select 'invitation' as kind, id, '' as name, created_at from invitations
    where ${isTheirs} and accepted_at is null and withdrawn_at is null
    order by created_at, id`.execute(db)
  const named = <Row extends MadeRow>(some: readonly Row[]) =>
    some.map(({ id, name }) => ({ id, name }) as Named<Row['id']>)
  return {
    managementKeys: named(rows.filter((row) => row.kind === 'management-key')),
    keysForOthers: named(rows.filter((row) => row.kind === 'key')),
    invitations: rows.filter((row) => row.kind === 'invitation').map((row) => row.id),
  }
}
