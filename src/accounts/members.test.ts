import { deepEqual, equal, rejects } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { onEachDatabase } from '../../test/harness/databases/databases.ts'
import type { MemberId, OrganizationId, ProjectId } from '../core/ids.ts'
import type { Principal } from '../core/principal.ts'
import type { Role } from '../core/role.ts'
import type { Database } from '../db/database.ts'
import { systemClock } from '../lib/clock.ts'
import { createApiKey } from './api-keys.ts'
import { setMemberSuspended } from './leaving/suspend-member.ts'
import { listApiKeys } from './read-api-keys.ts'
import { createManagementKey } from './management-keys.ts'
import { createMember, listMembers, removeMember, setMemberRole } from './members.ts'
import { createOrganization } from './organizations.ts'
import type { AccountsParts } from './parts.ts'

const operator = { kind: 'operator' } as const
const denied = { code: 'permission-denied' }
const lastOwner = /at least one owner/

onEachDatabase((database) => {
  let db: Database
  let parts: AccountsParts
  let organizationId: OrganizationId
  let projectId: ProjectId
  let count = 0

  beforeEach(async () => {
    db = await database.open()
    parts = { db, clock: systemClock, hashSecret: new Uint8Array(32) }
    const home = await createOrganization(parts, operator, { name: 'Mine' })
    organizationId = home.organizationId
    projectId = home.projectId
  })
  afterEach(() => db.destroy())

  const create = (role: Role, principal: Principal = operator) => {
    count += 1
    return createMember(parts, principal, { organizationId, email: `m${count}@example.org`, name: 'M', role })
  }
  const as = (role: Role, memberId: MemberId): Principal => {
    return { kind: 'member', memberId, organizationId, role, projectIds: [] }
  }
  const refer = (id: MemberId) => ({ id, organizationId })
  const roleOf = async (wanted: MemberId) =>
    (await listMembers(parts, operator, { organizationId })).items.find(({ id }) => id === wanted)?.role

  test('the last owner stays, and stays an owner', async () => {
    const [first, second] = [await create('owner'), await create('owner')]
    await setMemberRole(parts, as('owner', first), refer(second), 'admin')
    for (const principal of [as('owner', first), operator] as const) {
      await rejects(setMemberRole(parts, principal, refer(first), 'admin'), lastOwner)
      await rejects(removeMember(parts, principal, refer(first)), lastOwner)
    }
    await setMemberRole(parts, as('owner', first), refer(first), 'owner')
    await setMemberRole(parts, as('owner', first), refer(second), 'owner')
    await removeMember(parts, as('owner', second), refer(first))
    await rejects(removeMember(parts, as('owner', second), refer(second)), lastOwner)
    equal(await roleOf(second), 'owner')
  })

  test('owners who go at the same moment do not all go', async () => {
    const owners = [await create('owner'), await create('owner'), await create('owner')]
    const ends = await Promise.allSettled(
      owners.map((id, index) =>
        index % 2 === 0
          ? removeMember(parts, operator, refer(id))
          : setMemberRole(parts, operator, refer(id), 'developer'),
      ),
    )
    deepEqual(ends.map(({ status }) => status).sort(), ['fulfilled', 'fulfilled', 'rejected'])
  })

  test('a member cannot give a role above their own, or take one from a member who has it', async () => {
    const [owner, admin, developer] = [await create('owner'), await create('admin'), await create('developer')]
    const asAdmin = as('admin', admin)
    await rejects(setMemberRole(parts, asAdmin, refer(admin), 'owner'), denied)
    await rejects(setMemberRole(parts, asAdmin, refer(owner), 'developer'), denied)
    await rejects(removeMember(parts, asAdmin, refer(owner)), denied)
    await rejects(create('owner', asAdmin), denied)
    await setMemberRole(parts, asAdmin, refer(developer), 'admin')
    for (const role of ['developer', 'billing', 'auditor'] as const) {
      const principal = as(role, await create(role))
      await rejects(setMemberRole(parts, principal, refer(developer), role), denied)
      await rejects(create('auditor', principal), denied)
    }
    equal(await roleOf(owner), 'owner')
  })

  test('a management key is made with no more than one’s own role', async () => {
    const request = { organizationId, name: 'x', expiresAtMs: null } as const
    const owner = as('owner', await create('owner'))
    await createManagementKey(parts, owner, { ...request, role: 'owner' })
    await rejects(createManagementKey(parts, as('admin', 'mem_1'), { ...request, role: 'admin' }), denied)
    await rejects(createManagementKey(parts, owner, { ...request, organizationId: null, role: 'auditor' }), {
      code: 'not-found',
    })
  })

  test('an e-mail is one member’s at a time, in whatever letters', async () => {
    const person = { organizationId, name: 'Ann', role: 'developer' } as const
    const first = await createMember(parts, operator, { ...person, email: ' Ann@Example.org' })
    await rejects(createMember(parts, operator, { ...person, email: 'ann@example.ORG' }), /already/)
    await removeMember(parts, operator, refer(first))
    const again = await createMember(parts, operator, { ...person, email: 'ann@example.org' })
    const { items } = await listMembers(parts, operator, { organizationId })
    const found = Object.fromEntries(items.map(({ id, email, removedAtMs }) => [id, [email, removedAtMs === null]]))
    deepEqual(found, { [first]: ['ann@example.org', false], [again]: ['ann@example.org', true] })
    for (const email of ['', 'ann', 'a@b@c', 'a b@c', `${'x'.repeat(250)}@example.org`, 'a\n@b']) {
      await rejects(createMember(parts, operator, { ...person, email }), { code: 'invalid-request' }, email)
    }
  })

  test('two who add the same person at once make one member', async () => {
    const person = { organizationId, email: 'ann@example.org', name: 'Ann', role: 'developer' } as const
    const ends = await Promise.allSettled([1, 2, 3].map(() => createMember(parts, operator, person)))
    equal(ends.filter(({ status }) => status === 'fulfilled').length, 1)
    equal((await listMembers(parts, operator, { organizationId })).items.length, 1)
  })

  test('a request that was let in before its sender was lowered says no more who may do what', async () => {
    const [one, other, friend] = [await create('owner'), await create('owner'), await create('developer')]
    await setMemberRole(parts, as('owner', one), refer(other), 'admin')
    const gone = { code: 'unauthenticated' }
    await rejects(setMemberRole(parts, as('owner', other), refer(friend), 'owner'), gone)
    await rejects(setMemberRole(parts, as('owner', other), refer(one), 'developer'), gone)
    await rejects(removeMember(parts, as('owner', other), refer(friend)), gone)
    await rejects(setMemberSuspended(parts, as('owner', other), refer(friend), true), gone)
    await rejects(create('owner', as('owner', other)), gone)
    equal(await roleOf(friend), 'developer')
    await setMemberRole(parts, as('admin', other), refer(friend), 'billing')
    equal(await roleOf(friend), 'billing')
  })

  test('whoever is removed takes their keys along', async () => {
    const [ownerId, other] = [await create('developer'), await create('developer')]
    await createApiKey(parts, operator, { name: 'a', organizationId, projectId, ownerId })
    await createApiKey(parts, operator, { name: 'b', organizationId, projectId, ownerId: other })
    await createApiKey(parts, operator, { name: 'c', organizationId, projectId })
    await removeMember(parts, operator, refer(ownerId))
    const { items } = await listApiKeys(parts, operator, { organizationId })
    const states = Object.fromEntries(items.map(({ name, state }) => [name, state]))
    deepEqual(states, { a: 'revoked', b: 'active', c: 'active' })
  })
})
