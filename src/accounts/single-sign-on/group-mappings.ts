import type { Transaction } from 'kysely'
import { invalidRequest } from '../../core/error.ts'
import type { ConnectionId, OrganizationId, ProjectId } from '../../core/ids.ts'
import { requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Role } from '../../core/role.ts'
import { change, joinTransaction, type Fields } from '../../db/change.ts'
import type { Tables } from '../../db/tables.ts'
import { changeAccess } from '../change-access.ts'
import { lowerAccess } from '../leaving/lower-access.ts'
import { lockOrganization } from '../access/lock-organization.ts'
import { requireGrant } from '../members.ts'
import type { AccountsParts } from '../parts.ts'
import { requireProjects } from '../projects.ts'
import type { SignInParts } from '../sign-in/parts.ts'
import { mapperOf, mayMap, readStanding } from './answerers.ts'
import { type ConnectionReference, type ConnectionRow, findConnection } from './read-connections.ts'
import type { Claims } from './oidc/exchange-code.ts'
import type { Recognised } from './become-member.ts'

/** What members of a provider’s group are here. Of several the first gives the role, and each its projects. */
export type GroupMapping = {
  readonly group: string
  readonly role: Role
  readonly projectIds: readonly ProjectId[]
}

export async function readMappings(
  db: Pick<Transaction<Tables>, 'selectFrom'>,
  { id, organizationId }: { readonly id: ConnectionId; readonly organizationId: OrganizationId },
): Promise<readonly GroupMapping[]> {
  const rows = await db
    .selectFrom('group_mappings')
    .selectAll()
    .where('connection_id', '=', id)
    .where('organization_id', '=', organizationId)
    .orderBy('position')
    .execute()
  return rows.map(({ group_name: group, role, project_ids }) => {
    return { group, role, projectIds: JSON.parse(project_ids) as ProjectId[] }
  })
}

export async function listMappings(
  { db }: Pick<SignInParts, 'db'>,
  principal: Principal,
  reference: ConnectionReference,
): Promise<readonly GroupMapping[]> {
  requirePermission(principal, 'connections:read', reference)
  const { id } = await findConnection(db, reference)
  return readMappings(db, { id, organizationId: reference.organizationId })
}

/** Replaces all mappings of a connection. They count from each person’s next sign-in on. */
export async function setMappings(
  parts: SignInParts,
  principal: Principal,
  reference: ConnectionReference,
  mappings: readonly GroupMapping[],
): Promise<void> {
  const { organizationId } = reference
  requirePermission(principal, 'connections:update', { organizationId })
  checkMappings(principal, mappings)
  const action = { action: 'connections:map', organizationId, target: reference.id }
  await change(parts, principal, action, async (transaction, note) => {
    const { id } = await findConnection(transaction, reference)
    const projectIds = mappings.flatMap((mapping) => mapping.projectIds)
    await requireProjects(transaction, organizationId, projectIds)
    const before = await readMappings(transaction, { id, organizationId })
    await transaction
      .deleteFrom('group_mappings')
      .where('connection_id', '=', id)
      .where('organization_id', '=', organizationId)
      .execute()
    const rows = mappings.map(({ group: group_name, role, projectIds }, position) => {
      const of = { connection_id: id, organization_id: organizationId }
      return { ...of, group_name, position, role, project_ids: JSON.stringify(projectIds) }
    })
    if (rows.length > 0) await transaction.insertInto('group_mappings').values(rows).execute()
    await transaction
      .updateTable('connections')
      .set(mapperOf(principal))
      .where('id', '=', id)
      .where('organization_id', '=', organizationId)
      .execute()
    note({ mappings: before }, { mappings })
  })
}

export function checkMappings(principal: Principal, mappings: readonly GroupMapping[]): void {
  mappings.forEach((mapping, index) => checkMapping(principal, mapping, index))
  const groups = new Set(mappings.map(({ group }) => group))
  if (groups.size < mappings.length) throw invalidRequest(['mappings'], 'value', 'A group stands here once.')
}

function checkMapping(principal: Principal, { role }: GroupMapping, index: number): void {
  if (role === 'owner') throw invalidRequest(['mappings', index, 'role'], 'value', 'No group makes owners.')
  requireGrant(principal, role)
}

const groupsMax = 2_000

/** The groups that a provider names; null where it names none or not all, which says nothing about anybody. */
export function readGroups(claims: Readonly<Record<string, unknown>>, name: string): readonly string[] | null {
  const given = claims[name]
  const elsewhere = claims['_claim_names']
  const isOverflowed =
    claims['hasgroups'] !== undefined ||
    (typeof elsewhere === 'object' && elsewhere !== null && Object.hasOwn(elsewhere, name))
  if (isOverflowed || !Array.isArray(given) || given.length > groupsMax) return null
  return given.every((group) => typeof group === 'string') ? given : null
}

export type MappedPart = {
  readonly role: Role
  /** What mappings open to the person, and what they close. */
  readonly opened: ReadonlySet<ProjectId>
  readonly closed: ReadonlySet<ProjectId>
}

/** What somebody’s groups make of them; null where there is nothing to go by. */
export function mapGroups(
  mappings: readonly GroupMapping[],
  groups: readonly string[] | null,
  defaultRole: Role,
): MappedPart | null {
  if (groups === null || mappings.length === 0) return null
  const own = mappings.filter(({ group }) => groups.includes(group))
  const opened = new Set(own.flatMap(({ projectIds }) => projectIds))
  const named = mappings.flatMap(({ projectIds }) => projectIds)
  return { role: own[0]?.role ?? defaultRole, opened, closed: new Set(named.filter((id) => !opened.has(id))) }
}

type Applied = {
  readonly connection: ConnectionRow
  readonly claims: Claims
  readonly recognised: Recognised
}

/**
 * Gives a member the role and projects of the groups that a provider names; what a directory says goes before that. Whom
 * those who answer for the provider and for the mappings could not change stays as they are.
 */
export async function applyGroups(
  parts: SignInParts,
  transaction: Transaction<Tables>,
  { connection, claims, recognised: { userId, member } }: Applied,
): Promise<void> {
  const { id, organization_id: organizationId } = connection
  const mappings = await readMappings(transaction, { id, organizationId })
  const groups = readGroups(claims, connection.groups_claim)
  if (groups !== null) await keepGroups(transaction, { id, subject: claims.sub }, groups)
  const mapped = mapGroups(mappings, groups, connection.default_role)
  if (mapped === null || (await isMappedByDirectory(transaction, member))) return
  if (!mayMap(connection, await readStanding(transaction, member), mapped.role)) return
  const principal: Principal = { kind: 'user', userId, organizationId: null, role: null }
  await applyMapped(parts, transaction, principal, { member, mapped, source: { connection: id } })
}

/** What a provider has named is kept, so that mappings can be tried on it. */
async function keepGroups(
  transaction: Transaction<Tables>,
  { id, subject }: { readonly id: ConnectionId; readonly subject: string },
  groups: readonly string[],
): Promise<void> {
  await transaction
    .updateTable('identities')
    .set({ named_groups: JSON.stringify(groups) })
    .where('connection_id', '=', id)
    .where('subject', '=', subject)
    .execute()
}

async function isMappedByDirectory(transaction: Transaction<Tables>, member: Member): Promise<boolean> {
  const found = await transaction
    .selectFrom('directory_users')
    .innerJoin('directory_mappings', 'directory_mappings.directory_id', 'directory_users.directory_id')
    .select('directory_users.member_id')
    .where('directory_users.member_id', '=', member.id)
    .where('directory_users.organization_id', '=', member.organization_id)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

type Mapped = {
  readonly member: Member
  readonly mapped: MappedPart
  /** Whose groups these are, for the audit. */
  readonly source: Fields
}

/**
 * Gives a member the role and projects of their groups. Owners stay owners, and nobody becomes one. Who has a part of the
 * role already keeps the part: somebody has taken the rest from them.
 */
export async function applyMapped(
  parts: AccountsParts,
  transaction: Transaction<Tables>,
  principal: Principal,
  { member, mapped, source }: Mapped,
): Promise<void> {
  if (member.role === 'owner' || mapped.role === 'owner') return
  const { organization_id: organizationId } = member
  const current = await readProjects(transaction, member)
  const opened = [...mapped.opened].filter((project) => !current.has(project))
  const closed = [...mapped.closed].filter((project) => current.has(project))
  if (mapped.role === member.role && opened.length === 0 && closed.length === 0) return
  const action = { action: 'members:map', organizationId, target: member.id }
  await changeAccess({ ...parts, db: joinTransaction(transaction) }, principal, action, async (_same, note) => {
    await lockOrganization(transaction, organizationId)
    const isOther = mapped.role !== member.role
    if (isOther) await writeRole(transaction, member, mapped.role)
    await writeProjects(transaction, member, { opened, closed })
    const lowered =
      isOther && (await lowerAccess(transaction, member, { role: mapped.role, nowMs: parts.clock.nowMs() }))
    note({ role: member.role }, { role: mapped.role, opened, closed, ...source, ...lowered })
  })
}

type Member = Recognised['member']

async function readProjects(transaction: Transaction<Tables>, member: Member): Promise<ReadonlySet<ProjectId>> {
  const rows = await transaction
    .selectFrom('project_members')
    .select('project_id')
    .where('organization_id', '=', member.organization_id)
    .where('member_id', '=', member.id)
    .execute()
  return new Set(rows.map(({ project_id }) => project_id))
}

async function writeRole(transaction: Transaction<Tables>, { id, organization_id }: Member, role: Role): Promise<void> {
  await transaction
    .updateTable('members')
    .set({ role, role_id: null })
    .where('id', '=', id)
    .where('organization_id', '=', organization_id)
    .execute()
}

type Written = { readonly opened: readonly ProjectId[]; readonly closed: readonly ProjectId[] }

async function writeProjects(
  transaction: Transaction<Tables>,
  { id: member_id, organization_id }: Member,
  { opened, closed }: Written,
): Promise<void> {
  if (opened.length > 0) {
    const rows = opened.map((project_id) => ({ organization_id, project_id, member_id }))
    await transaction.insertInto('project_members').values(rows).execute()
  }
  if (closed.length > 0) {
    await transaction
      .deleteFrom('project_members')
      .where('organization_id', '=', organization_id)
      .where('member_id', '=', member_id)
      .where('project_id', 'in', closed)
      .execute()
  }
}
