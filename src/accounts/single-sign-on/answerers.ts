// Who answers for whom a provider means: whoever has said last which provider it is, or has switched it on with more
// rights. As whoever looks after a provider can be told to be anybody by it, its word makes nobody an existing member who
// may do more than they. And who answers for what its groups are: whoever has said that last. The groups of a provider
// change nobody whom one of the two could not have changed.

import type { Selectable, Transaction } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import type { CustomRole, MemberPrincipal, Principal } from '../../core/principal.ts'
import type { Role } from '../../core/role.ts'
import type { MemberTable } from '../../db/tables/accounts.ts'
import type { ConnectionTable } from '../../db/tables/single-sign-on.ts'
import type { Tables } from '../../db/tables.ts'
import { customOf } from '../access/custom-of.ts'
import { mayGive } from '../members.ts'
import type { ConnectionRow } from './read-connections.ts'

type Answerer = Pick<ConnectionRow, 'answerer_role' | 'answerer_custom'>
type Mapper = Pick<ConnectionRow, 'mapper_role' | 'mapper_custom'>
type Place = { readonly organization_id: OrganizationId }

/** The columns of a connection for which somebody answers from now on. */
export function answererOf(principal: Principal): Answerer {
  return { answerer_role: roleOf(principal), answerer_custom: partOf(principal) }
}

/** The columns of a connection of which somebody has said what its groups are. */
export function mapperOf(principal: Principal): Mapper {
  return { mapper_role: roleOf(principal), mapper_custom: partOf(principal) }
}

function partOf(principal: Principal): string | null {
  const custom = principal.kind === 'member' ? principal.custom : undefined
  return custom === undefined ? null : JSON.stringify(custom)
}

function roleOf(principal: Principal): Role {
  if (principal.kind === 'operator') return 'owner'
  if (principal.kind !== 'api-key' && principal.role !== null) return principal.role
  throw new Error(`${principal.kind} looks after no connection.`)
}

/** Those columns where somebody who could give all that the answerer could stands up for a connection; else none. */
export function raisedAnswerer(principal: Principal, row: ConnectionRow): Partial<Answerer> {
  return mayGive(principal, row.answerer_role, customIn(row.answerer_custom)) ? answererOf(principal) : {}
}

/** The other columns where somebody changes how groups are read who could not give all that whoever mapped them could. */
export function loweredMapper(principal: Principal, row: ConnectionRow): Partial<Mapper> {
  return mayGive(principal, row.mapper_role, customIn(row.mapper_custom)) ? {} : mapperOf(principal)
}

/** What somebody is in an organization, with the part of it that they have. */
export type Standing = { readonly role: Role; readonly custom?: CustomRole | undefined }

/** Whether a provider's word may make somebody a member, or let them be one, who has not linked their identity. */
export async function mayMean(
  transaction: Transaction<Tables>,
  connection: ConnectionRow,
  member: Pick<Selectable<MemberTable>, 'role' | 'role_id' | 'organization_id'>,
): Promise<boolean> {
  return mayVouch(connection, await readStanding(transaction, member))
}

/** As `mayMean`, for a member of whom is known what they are. */
export function mayVouch(connection: Answerer & Place, { role, custom }: Standing): boolean {
  return mayGive(answering(connection), role, custom)
}

/** Whether the groups of a provider may give somebody another role, or other projects. */
export function mayMap(connection: Answerer & Mapper & Place, member: Standing, role: Role): boolean {
  return [answering(connection), mapping(connection)].every((principal) => {
    return mayGive(principal, member.role, member.custom) && mayGive(principal, role)
  })
}

/** What a member is; a role of the organization's own is looked up. */
export async function readStanding(
  transaction: Pick<Transaction<Tables>, 'selectFrom'>,
  { role, role_id, organization_id }: Pick<Selectable<MemberTable>, 'role' | 'role_id' | 'organization_id'>,
): Promise<Standing> {
  if (role_id === null) return { role }
  const part = await transaction
    .selectFrom('roles')
    .select(['id as role_id', 'permissions'])
    .where('id', '=', role_id)
    .where('organization_id', '=', organization_id)
    .executeTakeFirst()
  return { role, ...(part !== undefined && customOf(part)) }
}

function answering({ organization_id, answerer_role, answerer_custom }: Answerer & Place): MemberPrincipal {
  return principalOf(organization_id, answerer_role, customIn(answerer_custom))
}

function mapping({ organization_id, mapper_role, mapper_custom }: Mapper & Place): MemberPrincipal {
  return principalOf(organization_id, mapper_role, customIn(mapper_custom))
}

/** Somebody with a role, whoever they were: nothing is asked of them that belongs to one member alone. */
function principalOf(organizationId: OrganizationId, role: Role, custom: CustomRole | undefined): MemberPrincipal {
  const nobody = { kind: 'member', memberId: 'mem_', projectIds: [] } as const
  return { ...nobody, organizationId, role, ...(custom !== undefined && { custom }) }
}

function customIn(text: ConnectionTable['answerer_custom']): CustomRole | undefined {
  return text === null ? undefined : (JSON.parse(text) as CustomRole)
}
