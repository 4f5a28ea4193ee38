// Who answers for whom a provider means: whoever has said last which provider it is, or has switched it on with more
// rights. As whoever looks after a provider can be told to be anybody by it, its word makes nobody an existing member who
// may do more than they.

import type { Selectable, Transaction } from 'kysely'
import type { CustomRole, MemberPrincipal, Principal } from '../../core/principal.ts'
import type { Role } from '../../core/role.ts'
import type { MemberTable } from '../../db/tables/accounts.ts'
import type { Tables } from '../../db/tables.ts'
import { customOf, mayGive } from '../members.ts'
import type { ConnectionRow } from './read-connections.ts'

type Answerer = Pick<ConnectionRow, 'answerer_role' | 'answerer_custom'>

/** The columns of a connection for which somebody answers from now on. */
export function answererOf(principal: Principal): Answerer {
  const custom = principal.kind === 'member' ? principal.custom : undefined
  return { answerer_role: roleOf(principal), answerer_custom: custom === undefined ? null : JSON.stringify(custom) }
}

function roleOf(principal: Principal): Role {
  if (principal.kind === 'operator') return 'owner'
  if (principal.kind !== 'api-key' && principal.role !== null) return principal.role
  throw new Error(`${principal.kind} looks after no connection.`)
}

/** Those columns where somebody who could give all that the answerer could stands up for a connection; else none. */
export function raisedAnswerer(principal: Principal, row: ConnectionRow): Partial<Answerer> {
  return mayGive(principal, row.answerer_role, customIn(row)) ? answererOf(principal) : {}
}

/** Whether a provider's word may make somebody a member who has never signed in. */
export async function mayMean(
  transaction: Transaction<Tables>,
  connection: ConnectionRow,
  member: Selectable<MemberTable>,
): Promise<boolean> {
  const custom = customIn(connection)
  const answerer: MemberPrincipal = {
    kind: 'member',
    memberId: member.id,
    organizationId: connection.organization_id,
    role: connection.answerer_role,
    projectIds: [],
    ...(custom !== undefined && { custom }),
  }
  const part = await transaction
    .selectFrom('roles')
    .select(['id as role_id', 'permissions'])
    .where('id', '=', member.role_id)
    .where('organization_id', '=', member.organization_id)
    .executeTakeFirst()
  return mayGive(answerer, member.role, part === undefined ? undefined : customOf(part).custom)
}

function customIn({ answerer_custom }: Answerer): CustomRole | undefined {
  return answerer_custom === null ? undefined : (JSON.parse(answerer_custom) as CustomRole)
}
