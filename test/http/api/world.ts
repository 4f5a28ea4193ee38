import { createApiKey } from '../../../src/accounts/api-keys.ts'
import { createManagementKey } from '../../../src/accounts/management-keys.ts'
import { createMember } from '../../../src/accounts/members.ts'
import { createOrganization } from '../../../src/accounts/organizations.ts'
import type { AccountsParts } from '../../../src/accounts/parts.ts'
import { createProject, setProjectMember } from '../../../src/accounts/projects.ts'
import type { ApiKeyId, ManagementKeyId, MemberId, OrganizationId, ProjectId } from '../../../src/core/ids.ts'
import type { MemberPrincipal } from '../../../src/core/principal.ts'
import { roles, type Role } from '../../../src/core/role.ts'
import { insertRows } from '../../../src/billing/ledger/write-ahead/insert-rows.ts'
import { setBudget } from '../../../src/limits/settings/budget-settings.ts'
import { setLimit } from '../../../src/limits/settings/limit-settings.ts'
import { ledgerRow } from '../../harness/ledger-row.ts'

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

/** Everything a path may name, made anew, so that nothing was done to it yet. */
export type Things = {
  readonly organizationId: OrganizationId
  readonly projectId: ProjectId
  readonly memberId: MemberId
  readonly apiKeyId: ApiKeyId
  readonly managementKeyId: ManagementKeyId
  readonly limitId: string
  readonly budgetId: string
  readonly requestId: string
}

export type WantedThings = {
  readonly company: Company
  readonly projectId: ProjectId
  /** Whose key it is. */
  readonly ownerId: MemberId
}

export async function createThings(
  parts: AccountsParts,
  { company, projectId, ownerId }: WantedThings,
): Promise<Things> {
  const { organizationId } = company
  const memberId = await newMember(parts, organizationId, 'auditor')
  const { id: apiKeyId } = await createApiKey(parts, operator, { name: 'key', organizationId, projectId, ownerId })
  const wanted = { name: 'management', role: 'auditor', expiresAtMs: null } as const
  const { id: managementKeyId } = await createManagementKey(parts, operator, { ...wanted, organizationId })
  const place = { organizationId, subject: { kind: 'project', id: projectId } } as const
  const limitId = await setLimit(parts, operator, { ...place, model: '*', requestsPerMinute: 5 })
  const budgetId = await setBudget(parts, operator, { ...place, period: 'day', tokensMax: 1_000 })
  const requestId = await addRequest(parts, { organizationId, projectId, apiKeyId })
  return { organizationId, projectId, memberId, apiKeyId, managementKeyId, limitId, budgetId, requestId }
}

type Whose = Pick<Things, 'organizationId' | 'projectId' | 'apiKeyId'>

/** Adds a row to the ledger. */
export async function addRequest(
  { db, clock }: AccountsParts,
  { organizationId, projectId, apiKeyId }: Whose,
  fields: Partial<ReturnType<typeof ledgerRow>> = {},
): Promise<string> {
  count += 1
  const ids = { organization_id: organizationId, project_id: projectId, api_key_id: apiKeyId }
  const row = { ...ledgerRow(count), ...ids, at: clock.nowMs(), admitted_at: clock.nowMs(), ...fields }
  await insertRows(db, [row])
  return row.request_id
}
