import { deepEqual, equal, rejects } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { onEachDatabase } from '../../test/harness/databases/databases.ts'
import type { OrganizationId, ProjectId, ServiceAccountId } from '../core/ids.ts'
import type { MemberPrincipal } from '../core/principal.ts'
import type { Database } from '../db/database.ts'
import { systemClock } from '../lib/clock.ts'
import { readKeyAccess } from './access/key-access.ts'
import { createApiKey, rotateApiKey, setApiKeyDisabled } from './api-keys.ts'
import { hashKey } from './key-format.ts'
import { setMemberSuspended } from './leaving/suspend-member.ts'
import { createMember, removeMember } from './members.ts'
import { createOrganization } from './organizations.ts'
import type { AccountsParts } from './parts.ts'
import { openSecretlessKey } from './secretless-keys.ts'
import { createProject, setProjectMember, updateProject } from './projects.ts'
import { listApiKeys } from './read-api-keys.ts'
import {
  createServiceAccount,
  listServiceAccounts,
  removeServiceAccount,
  setServiceAccountDisabled,
} from './service-accounts.ts'

const operator = { kind: 'operator' } as const

onEachDatabase((database) => {
  let db: Database
  let parts: AccountsParts
  let organizationId: OrganizationId
  let projectId: ProjectId
  let accountId: ServiceAccountId
  beforeEach(async () => {
    db = await database.open()
    parts = { db, clock: systemClock, hashSecret: new Uint8Array(32) }
    const home = await createOrganization(parts, operator, { name: 'Mine' })
    organizationId = home.organizationId
    projectId = home.projectId
    accountId = await createServiceAccount(parts, operator, { organizationId, projectId, name: 'Search' })
  })
  afterEach(() => db.destroy())

  const refer = () => ({ id: accountId, organizationId })
  const make = (serviceAccountId: ServiceAccountId = accountId, where: ProjectId = projectId) =>
    createApiKey(parts, operator, { name: 'k', organizationId, projectId: where, serviceAccountId })
  const works = async (key: string) => (await readKeyAccess(db, [hashKey(parts.hashSecret, key)])).length === 1
  const disable = (isDisabled = true) => setServiceAccountDisabled(parts, operator, refer(), isDisabled)
  const developer = async (): Promise<MemberPrincipal> => {
    const person = { organizationId, email: 'dev@example.org', name: 'D', role: 'developer' } as const
    const memberId = await createMember(parts, operator, person)
    await setProjectMember(parts, operator, { id: projectId, organizationId, memberId, maySee: true })
    return { kind: 'member', memberId, organizationId, role: 'developer', projectIds: [projectId] }
  }

  test('a key of a program works on when whoever made it is suspended and removed', async () => {
    const person = { organizationId, email: 'admin@example.org', name: 'A', role: 'admin' } as const
    const memberId = await createMember(parts, operator, person)
    const admin: MemberPrincipal = { kind: 'member', memberId, organizationId, role: 'admin', projectIds: [] }
    const wanted = { name: 'k', organizationId, projectId }
    const { key } = await createApiKey(parts, admin, { ...wanted, serviceAccountId: accountId })
    await setMemberSuspended(parts, operator, { id: memberId, organizationId }, true)
    equal(await works(key), true)
    await removeMember(parts, operator, { id: memberId, organizationId })
    equal(await works(key), true)
  })

  test('a program’s keys go with it, and exactly those come back that went', async () => {
    const [kept, off, before] = [await make(), await make(), await make()]
    await setApiKeyDisabled(parts, operator, { id: before.id, organizationId }, true)
    await disable()
    deepEqual([await works(kept.key), await works(off.key)], [false, false])
    await rejects(setApiKeyDisabled(parts, operator, { id: kept.id, organizationId }, false), { code: 'conflict' })
    await rejects(make(), { code: 'conflict' })
    const rotated = await rotateApiKey(parts, operator, { id: kept.id, organizationId }, 0)
    equal(await works(rotated.key), false)
    await setApiKeyDisabled(parts, operator, { id: off.id, organizationId }, true)
    await disable(false)
    deepEqual([await works(rotated.key), await works(off.key), await works(before.key)], [true, false, false])
  })

  test('a program that is removed leaves no key that works and comes back no more', async () => {
    const { key } = await make()
    await removeServiceAccount(parts, operator, refer())
    equal(await works(key), false)
    for (const again of [() => make(), () => disable(false), () => removeServiceAccount(parts, operator, refer())]) {
      await rejects(again(), { code: 'not-found' })
    }
  })

  test('a key is not made for a program of another project, of another organization, or for a member as well', async () => {
    const sibling = await createProject(parts, operator, { organizationId, name: 'Other' })
    await rejects(make(accountId, sibling), { code: 'not-found' })
    const other = await createOrganization(parts, operator, { name: 'Other' })
    const theirs = await createServiceAccount(parts, operator, { ...other, name: 'x' })
    await rejects(make(theirs), { code: 'not-found' })
    const { memberId: ownerId } = await developer()
    const both = { name: 'k', organizationId, projectId, ownerId, serviceAccountId: accountId }
    await rejects(createApiKey(parts, operator, both), { code: 'invalid-request' })
  })

  test('a developer sees the programs of their projects, and makes no key for one', async () => {
    const person = await developer()
    const sibling = await createProject(parts, operator, { organizationId, name: 'Hidden' })
    await createServiceAccount(parts, operator, { organizationId, projectId: sibling, name: 'Hidden' })
    const seen = await listServiceAccounts(parts, person, { organizationId })
    deepEqual(
      seen.items.map(({ id }) => id),
      [accountId],
    )
    const wanted = { name: 'k', organizationId, projectId, serviceAccountId: accountId }
    await rejects(createApiKey(parts, person, wanted), { code: 'permission-denied' })
    await rejects(setServiceAccountDisabled(parts, person, refer(), true), { code: 'permission-denied' })
  })

  test('in a project of programs alone nobody gets a key of their own, and those that are there stay', async () => {
    const person = await developer()
    const own = { name: 'k', organizationId, projectId }
    const known = await createApiKey(parts, person, own)
    await updateProject(parts, operator, { id: projectId, organizationId }, { keyOwners: 'service-accounts' })
    equal(await works(known.key), true)
    for (const principal of [person, operator]) {
      await rejects(createApiKey(parts, principal, own), { code: 'conflict' })
    }
    await rejects(openSecretlessKey(parts, person, { organizationId, projectId, kind: 'playground' }), {
      code: 'conflict',
    })
    equal(await works((await make()).key), true)
    await updateProject(parts, operator, { id: projectId, organizationId }, { keyOwners: 'anyone' })
    equal(await works((await createApiKey(parts, person, own)).key), true)
  })

  test('a list of keys tells a program’s from others', async () => {
    const { id } = await make()
    await createApiKey(parts, operator, { name: 'k', organizationId, projectId })
    const found = await listApiKeys(parts, operator, { organizationId, serviceAccountId: accountId })
    deepEqual(
      found.items.map((key) => [key.id, key.ownerId, key.serviceAccountId]),
      [[id, null, accountId]],
    )
  })
})
