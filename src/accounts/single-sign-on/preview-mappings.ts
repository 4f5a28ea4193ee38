// What mappings of a provider's groups would do, before they are saved and before anybody signs in: what groups make of
// somebody, and whom it changes of those who have signed in before, by the groups that the provider has last named.

import type { Role } from '../../core/role.ts'
import { permissions, reachByRole, type Permission } from '../../core/permission.ts'
import type { MemberId, ProjectId } from '../../core/ids.ts'
import { requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { SignInParts } from '../sign-in/parts.ts'
import { customOf } from '../access/custom-of.ts'
import { mapperOf, mayMap } from './answerers.ts'
import { checkMappings, mapGroups, type GroupMapping, type MappedPart } from './group-mappings.ts'
import { findConnection, type ConnectionReference, type ConnectionRow } from './read-connections.ts'

export type Tried = {
  readonly mappings: readonly GroupMapping[]
  /** Of whom it is asked what they make; null asks nothing. */
  readonly groups: readonly string[] | null
}

export type MadeOfGroups = {
  readonly role: Role
  readonly projectIds: readonly ProjectId[]
  /** What somebody of that role may do. */
  readonly permissions: readonly Permission[]
}

export type ChangeAtSignIn = {
  readonly id: MemberId
  readonly name: string
  readonly email: string
  /** What the provider has last named. */
  readonly groups: readonly string[]
  readonly roleBefore: Role
  readonly roleAfter: Role
  readonly opened: readonly ProjectId[]
  readonly closed: readonly ProjectId[]
}

export type Previewed = { readonly made: MadeOfGroups | null; readonly changes: readonly ChangeAtSignIn[] }

/** Tells that, and changes nothing. */
export async function previewConnectionMappings(
  { db }: Pick<SignInParts, 'db'>,
  principal: Principal,
  reference: ConnectionReference,
  { mappings, groups }: Tried,
): Promise<Previewed> {
  requirePermission(principal, 'connections:update', reference)
  checkMappings(principal, mappings)
  const connection = await findConnection(db, reference)
  const mapped = mapGroups(mappings, groups, connection.default_role)
  // Whoever asks is who will have said what the groups are.
  const answered = { ...connection, ...mapperOf(principal) }
  return { made: mapped && describe(mapped), changes: await findChanges({ db }, answered, mappings) }
}

function describe({ role, opened }: MappedPart): MadeOfGroups {
  return {
    role,
    projectIds: [...opened],
    permissions: permissions.filter((permission) => reachByRole(permission)[role] !== 'none'),
  }
}

/**
 * Owners stay owners, whom a directory maps is told by that, and whom those who answer for it could not change is not
 * theirs to change: none of these is changed by signing in.
 */
async function findChanges(
  { db }: Pick<SignInParts, 'db'>,
  connection: ConnectionRow,
  mappings: readonly GroupMapping[],
): Promise<readonly ChangeAtSignIn[]> {
  const { id, organization_id, default_role } = connection
  const members = await db
    .selectFrom('identities')
    .innerJoin('members', 'members.user_id', 'identities.user_id')
    .leftJoin('roles', 'roles.id', 'members.role_id')
    .select(['members.id', 'members.name', 'members.email', 'members.role', 'identities.named_groups'])
    .select(['roles.id as role_id', 'roles.permissions'])
    .where('identities.connection_id', '=', id)
    .where('members.organization_id', '=', organization_id)
    .where('members.removed_at', 'is', null)
    .where('members.role', '!=', 'owner')
    .where('identities.named_groups', 'is not', null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('directory_users')
            .innerJoin('directory_mappings', 'directory_mappings.directory_id', 'directory_users.directory_id')
            .select('directory_users.member_id')
            .whereRef('directory_users.member_id', '=', 'members.id'),
        ),
      ),
    )
    .orderBy('members.created_at')
    .orderBy('members.id')
    .execute()
  const projects = await db
    .selectFrom('project_members')
    .select(['member_id', 'project_id'])
    .where('organization_id', '=', organization_id)
    .execute()
  const projectsOf = Map.groupBy(projects, ({ member_id }) => member_id)
  return members.flatMap(({ named_groups, role: roleBefore, role_id, permissions: part, ...member }) => {
    const groups = JSON.parse(named_groups ?? '[]') as string[]
    const mapped = mapGroups(mappings, groups, default_role)
    if (mapped === null) return []
    const standing = { role: roleBefore, ...customOf({ role_id, permissions: part }) }
    if (!mayMap(connection, standing, mapped.role)) return []
    const own = new Set((projectsOf.get(member.id) ?? []).map(({ project_id }) => project_id))
    const opened = [...mapped.opened].filter((project) => !own.has(project))
    const closed = [...mapped.closed].filter((project) => own.has(project))
    const isSame = mapped.role === roleBefore && opened.length === 0 && closed.length === 0
    return isSame ? [] : [{ ...member, groups, roleBefore, roleAfter: mapped.role, opened, closed }]
  })
}
