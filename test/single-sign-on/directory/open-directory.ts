import { createDirectory } from '../../../src/accounts/directory/directories.ts'
import { createMember } from '../../../src/accounts/members.ts'
import { createOrganization } from '../../../src/accounts/organizations.ts'
import type { DirectoryId, MemberId, OrganizationId } from '../../../src/core/ids.ts'
import type { Role } from '../../../src/core/role.ts'
import type { Database } from '../../../src/db/database.ts'
import { openManagementService, type Answer, type ManagementService } from '../../harness/management-service.ts'
import { addDomain } from '../open-sso.ts'

export const operator = { kind: 'operator' } as const
export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const enterpriseSchema = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

type Sent = { readonly headers?: Readonly<Record<string, string>>; readonly token?: string | null }
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Fields = Record<string, unknown>

/** A directory of an organization, as a client of it sees the service. */
export type TestDirectory = {
  readonly service: ManagementService
  readonly id: DirectoryId
  readonly organizationId: OrganizationId
  readonly ownerId: MemberId
  readonly token: string
  ask(method: Method, path: string, body?: unknown, sent?: Sent): Promise<Answer>
  /** Makes a user; throws where that is refused. */
  user(fields?: Fields): Promise<Fields & { readonly id: MemberId; readonly userName: string }>
  group(displayName: string, members?: readonly string[]): Promise<Fields & { readonly id: string }>
  patch(path: string, ...operations: readonly Fields[]): Promise<Answer>
  member(email: string, role?: Role): Promise<MemberId>
  /** How the member of that id is now. */
  readMember(id: string): Promise<{
    readonly role: Role
    readonly email: string
    readonly name: string
    readonly isSuspended: boolean
    readonly isRemoved: boolean
  }>
  /** Another organization with a directory of its own, in the same service. */
  another(): Promise<TestDirectory>
}

let count = 0

/** A service with an organization whose domain is verified, an owner, and a directory. */
export async function openDirectory(db: Database): Promise<TestDirectory> {
  return addTo(await openManagementService(db))
}

async function addTo(service: ManagementService): Promise<TestDirectory> {
  count += 1
  const { accounts } = service
  const { organizationId } = await createOrganization(accounts, operator, { name: `Company ${count}` })
  const domain = `acme${count}.example`
  await addDomain(service, organizationId, domain)
  const member = (email: string, role: Role = 'developer') =>
    createMember(accounts, operator, { organizationId, email, name: 'M', role })
  const ownerId = await member(`owner@${domain}`, 'owner')
  const settings = { organizationId, name: 'Directory', defaultRole: 'developer' } as const
  const { id, token } = await createDirectory(accounts, operator, settings)
  let people = 0
  const ask: TestDirectory['ask'] = (method, path, body, { headers = {}, token: other = token } = {}) => {
    count += 1
    return service.ask({
      method,
      path: `/scim/v2${path}`,
      headers: {
        ...(other !== null && { authorization: `Bearer ${other}` }),
        ...(body !== undefined && { 'content-type': 'application/scim+json' }),
        ...headers,
      },
      // A network of its own, so that no refusal waits for others.
      address: `198.18.${(count >> 8) & 255}.${count & 255}`,
      ...(body !== undefined && { body }),
    })
  }
  const make = async (path: string, body: Fields): Promise<never> => {
    const answer = await ask('POST', path, body)
    if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`)
    return answer.body as never
  }
  return {
    service,
    id,
    organizationId,
    ownerId,
    token,
    ask,
    user(fields = {}) {
      people += 1
      const userName = `person${people}@${domain}`
      return make('/Users', { schemas: [userSchema], userName, displayName: `Person ${people}`, ...fields })
    },
    group(displayName, members = []) {
      return make('/Groups', {
        schemas: [groupSchema],
        displayName,
        members: members.map((value) => ({ value })),
      })
    },
    patch: (path, ...Operations) => ask('PATCH', path, { schemas: [patchSchema], Operations }),
    member,
    async readMember(memberId) {
      const row = await service.db
        .selectFrom('members')
        .selectAll()
        .where('id', '=', memberId as MemberId)
        .executeTakeFirstOrThrow()
      const { role, email, name, suspended_at, removed_at } = row
      return { role, email, name, isSuspended: suspended_at !== null, isRemoved: removed_at !== null }
    },
    another: () => addTo(service),
  }
}
