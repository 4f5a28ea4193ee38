import { deepEqual, equal, rejects } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { onEachDatabase } from '../../test/harness/databases/databases.ts'
import type { MemberId, OrganizationId, RoleId } from '../core/ids.ts'
import { may, type Permission } from '../core/permission.ts'
import type { MemberPrincipal } from '../core/principal.ts'
import type { Role } from '../core/role.ts'
import type { Database } from '../db/database.ts'
import { systemClock } from '../lib/clock.ts'
import { createRole, listRoles, removeRole, updateRole } from './custom-roles.ts'
import { createManagementKey, findManagementPrincipal } from './management-keys.ts'
import { createMember, findMemberPrincipal, setMemberRole } from './members.ts'
import { createOrganization } from './organizations.ts'
import type { AccountsParts } from './parts.ts'

const operator = { kind: 'operator' } as const

onEachDatabase((database) => {
  let db: Database
  let parts: AccountsParts
  let organizationId: OrganizationId
  beforeEach(async () => {
    db = await database.open()
    parts = { db, clock: systemClock, hashSecret: new Uint8Array(32) }
    organizationId = (await createOrganization(parts, operator, { name: 'Mine' })).organizationId
    await member('owner')
  })
  afterEach(() => db.destroy())

  let count = 0
  const member = (role: Role) => {
    count += 1
    return createMember(parts, operator, { organizationId, email: `m${count}@example.org`, name: 'M', role })
  }
  const make = (permissions: readonly Permission[], base: Role = 'admin') =>
    createRole(parts, operator, { organizationId, name: `R${(count += 1)}`, base, permissions })
  const principal = async (id: MemberId) => (await findMemberPrincipal(parts, id)) as MemberPrincipal
  const withRole = async (role: RoleId) => {
    const id = await member('developer')
    await setMemberRole(parts, operator, { id, organizationId }, role)
    return principal(id)
  }
  const denied = { code: 'permission-denied' }

  test('whoever has a role of the organization’s own may do what stands in it and nothing else', async () => {
    const support = await withRole(await make(['members:read', 'members:update', 'api-keys:disable']))
    const allowed = (permission: Permission) => may(support, permission, { organizationId })
    deepEqual(
      (['members:read', 'api-keys:disable', 'members:remove', 'api-keys:create', 'organizations:read'] as const).map(
        allowed,
      ),
      [true, true, false, false, false],
    )
  })

  test('a part of an administrator gives nobody more than that part', async () => {
    const part: readonly Permission[] = ['members:read', 'members:update', 'members:create', 'roles:create']
    const role = await make(part)
    const support = await withRole(role)
    const other = { id: await member('developer'), organizationId }
    const itself = { id: support.memberId, organizationId }
    for (const given of ['admin', 'owner', 'billing', 'auditor', 'developer'] as const) {
      await rejects(setMemberRole(parts, support, other, given), denied, given)
      await rejects(setMemberRole(parts, support, itself, given), denied, given)
      const person = { organizationId, email: `new-${given}@example.org`, name: 'N', role: given }
      await rejects(createMember(parts, support, person), denied, given)
    }
    const more = { organizationId, name: 'More', base: 'admin', permissions: [...part, 'members:remove'] } as const
    await rejects(createRole(parts, support, more), denied)
    equal(typeof (await createRole(parts, support, { ...more, name: 'Less', permissions: ['members:read'] })), 'string')
  })

  test('a role that others have is not changed by whoever may do less', async () => {
    const strong = await make(['members:read', 'members:remove', 'roles:update'])
    const weak = await withRole(await make(['members:read', 'roles:update']))
    const reference = { id: strong, organizationId }
    await rejects(updateRole(parts, weak, reference, { permissions: ['members:read'] }), denied)
    await rejects(updateRole(parts, weak, reference, { name: 'Mine now' }), denied)
  })

  test('a permission that is taken from a role is gone from everybody who has it, at once', async () => {
    const role = await make(['members:read', 'members:remove', 'roles:create'])
    const person = await withRole(role)
    await updateRole(parts, operator, { id: role, organizationId }, { permissions: ['members:read'] })
    const now = await principal(person.memberId)
    equal(may(now, 'members:remove', { organizationId }), false)
    // A request that was let in before hands out nothing any more.
    const wanted = { organizationId, name: 'x', base: 'admin', permissions: ['members:read'] } as const
    await rejects(createRole(parts, person, wanted), { code: 'unauthenticated' })
  })

  test('a management key that was made in a whole role ends with the part', async () => {
    const id = await member('owner')
    const owner = await principal(id)
    const key = await createManagementKey(parts, owner, { name: 'k', role: 'admin', organizationId, expiresAtMs: null })
    await setMemberRole(parts, operator, { id, organizationId }, await make(['members:read']))
    equal(await findManagementPrincipal(parts, key.key), null)
  })

  test('a role that somebody has stays, and one that nobody has is removed', async () => {
    const role = await make(['members:read'])
    const { memberId: id } = await withRole(role)
    const reference = { id: role, organizationId }
    const nobodys = await make(['members:read'])
    const listed = await listRoles(parts, operator, organizationId)
    deepEqual(
      new Map(listed.map(({ id: each, members }) => [each, members])),
      new Map([
        [role, 1],
        [nobodys, 0],
      ]),
    )
    await rejects(removeRole(parts, operator, reference), { code: 'conflict' })
    await setMemberRole(parts, operator, { id, organizationId }, 'auditor')
    equal((await principal(id)).custom, undefined)
    await removeRole(parts, operator, reference)
    await rejects(setMemberRole(parts, operator, { id, organizationId }, role), { code: 'not-found' })
  })

  test('a role of another organization, of an owner, of permissions that there are not, or named twice is refused', async () => {
    const other = await createOrganization(parts, operator, { name: 'Other' })
    const wanted = { organizationId: other.organizationId, name: 'R', base: 'admin', permissions: [] } as const
    const theirs = await createRole(parts, operator, wanted)
    const person = { id: await member('developer'), organizationId }
    await rejects(setMemberRole(parts, operator, person, theirs), { code: 'not-found' })
    await rejects(make([], 'owner'), { code: 'invalid-request' })
    await rejects(make(['members:fly' as Permission]), { code: 'invalid-request' })
    await rejects(createRole(parts, operator, wanted), { code: 'conflict' })
  })
})
