import type { Transaction } from 'kysely'
import type { ProjectId } from '../../core/ids.ts'
import type { Principal } from '../../core/principal.ts'
import { joinTransaction } from '../../db/change.ts'
import type { Tables } from '../../db/tables.ts'
import { changeAccess } from '../change-access.ts'
import type { SignInParts } from '../sign-in/parts.ts'
import type { ConnectionRow } from './connections.ts'
import { mapGroups, readGroups, readMappings, type MappedPart } from './group-mappings.ts'
import type { Claims } from './oidc/exchange-code.ts'
import type { Recognised } from './people.ts'

type Applied = {
  readonly connection: ConnectionRow
  readonly claims: Claims
  readonly recognised: Recognised
}

/** Gives a member the role and projects of their groups. Owners stay owners, and nobody becomes one. */
export async function applyGroups(
  parts: SignInParts,
  transaction: Transaction<Tables>,
  { connection, claims, recognised: { userId, member } }: Applied,
): Promise<void> {
  if (member.role === 'owner') return
  const { id, organization_id: organizationId } = connection
  const mappings = await readMappings(transaction, { id, organizationId })
  const mapped = mapGroups(mappings, readGroups(claims, connection.groups_claim), connection.default_role)
  if (mapped === null || mapped.role === 'owner') return
  const current = await readProjects(transaction, member)
  const opened = [...mapped.opened].filter((project) => !current.has(project))
  const closed = [...mapped.closed].filter((project) => current.has(project))
  if (mapped.role === member.role && opened.length === 0 && closed.length === 0) return
  const principal: Principal = { kind: 'user', userId, organizationId: null, role: null }
  const action = { action: 'members:map', organizationId, target: member.id }
  await changeAccess({ ...parts, db: joinTransaction(transaction) }, principal, action, async (_same, note) => {
    await write(transaction, member, { role: mapped.role, opened, closed })
    note({ role: member.role }, { role: mapped.role, opened, closed, connection: id })
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

type Written = Pick<MappedPart, 'role'> & {
  readonly opened: readonly ProjectId[]
  readonly closed: readonly ProjectId[]
}

async function write(
  transaction: Transaction<Tables>,
  { id: member_id, organization_id }: Member,
  { role, opened, closed }: Written,
): Promise<void> {
  await transaction
    .updateTable('members')
    .set({ role })
    .where('id', '=', member_id)
    .where('organization_id', '=', organization_id)
    .execute()
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
