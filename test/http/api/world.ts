import { createRole } from '../../../src/accounts/custom-roles.ts'
import { createMember, setMemberRole } from '../../../src/accounts/members.ts'
import { createOrganization } from '../../../src/accounts/organizations.ts'
import type { AccountsParts } from '../../../src/accounts/parts.ts'
import { createProject, setProjectMember } from '../../../src/accounts/projects.ts'
import type { ApiKeyId, MemberId, OrganizationId, ProjectId } from '../../../src/core/ids.ts'
import type { Permission } from '../../../src/core/permission.ts'
import type { MemberPrincipal } from '../../../src/core/principal.ts'
import { roles, type Role } from '../../../src/core/role.ts'
import { insertRows } from '../../../src/billing/ledger/writer/insert-rows.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import { ledgerRow } from '../../harness/databases/ledger-row.ts'

const operator = { kind: 'operator' } as const
let count = 0

/** An organization with somebody in every role. */
export type Company = {
  readonly organizationId: OrganizationId
  /** Two projects: the developer sees the first. */
  readonly projectId: ProjectId
  readonly siblingId: ProjectId
  readonly members: Readonly<Record<Role, MemberPrincipal>>
}

export async function createCompany(parts: AccountsParts): Promise<Company> {
  const { organizationId, projectId } = await createOrganization(parts, operator, { name: 'Company' })
  const siblingId = await createProject(parts, operator, { organizationId, name: 'Sibling' })
  const members = {} as Record<Role, MemberPrincipal>
  for (const role of roles) {
    const memberId = await newMember(parts, organizationId, role)
    if (role === 'developer') {
      await setProjectMember(parts, operator, { id: projectId, organizationId, memberId, maySee: true })
    }
    members[role] = {
      kind: 'member',
      memberId,
      organizationId,
      role,
      projectIds: role === 'developer' ? [projectId] : [],
    }
  }
  return { organizationId, projectId, siblingId, members }
}

export function newMember(parts: AccountsParts, organizationId: OrganizationId, role: Role): Promise<MemberId> {
  count += 1
  return createMember(parts, operator, { organizationId, email: `m${count}@example.org`, name: 'M', role })
}

type Part = { readonly base: Exclude<Role, 'owner'>; readonly permissions: readonly Permission[] }

/** Somebody whose role is a part of a built-in one; as a developer they are shown the company's first project. */
export async function newMemberOfPart(parts: AccountsParts, company: Company, part: Part): Promise<MemberId> {
  const { organizationId, projectId } = company
  const memberId = await newMember(parts, organizationId, part.base)
  await setProjectMember(parts, operator, { id: projectId, organizationId, memberId, maySee: true })
  const roleId = await createRole(parts, operator, { organizationId, name: `Part of ${memberId}`, ...part })
  await setMemberRole(parts, operator, { id: memberId, organizationId }, roleId)
  return memberId
}

type Whose = {
  readonly organizationId: OrganizationId
  readonly projectId: ProjectId
  readonly apiKeyId: ApiKeyId
}

type RowFields = Partial<ReturnType<typeof ledgerRow>>

/** Adds a row to the ledger. */
export async function addRequest({ db, clock }: AccountsParts, whose: Whose, fields: RowFields = {}): Promise<string> {
  const row = requestRow(clock, whose, fields)
  await insertRows(db, [row])
  return row.request_id
}

/** Adds many rows at once: whoever reads meanwhile finds all of them or none. */
export async function addRequests({ db, clock }: AccountsParts, whose: Whose, rowCount: number): Promise<string[]> {
  const rows = Array.from({ length: rowCount }, () => requestRow(clock, whose))
  await insertRows(db, rows)
  return rows.map(({ request_id: id }) => id)
}

function requestRow(clock: Clock, { organizationId, projectId, apiKeyId }: Whose, fields: RowFields = {}) {
  count += 1
  const ids = { organization_id: organizationId, project_id: projectId, api_key_id: apiKeyId }
  return { ...ledgerRow(count), ...ids, at: clock.nowMs(), admitted_at: clock.nowMs(), ...fields }
}
