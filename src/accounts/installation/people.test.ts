// Who runs the installation: roles are given to people who sign in already, nobody gives more than they have, and one owner
// stays.

import { deepEqual, equal, rejects } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { signInPerson } from '../../../test/harness/sign-in.ts'
import type { ApiError } from '../../core/error.ts'
import type { UserPrincipal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import { createMember } from '../members.ts'
import { createOrganization } from '../organizations.ts'
import { createManagementKey, findManagementPrincipal } from '../management-keys.ts'
import type { AccountsParts } from '../parts.ts'
import { listCandidates } from './candidates.ts'
import { addInstallationPerson, listInstallationPeople, setInstallationRole } from './people.ts'

const operator = { kind: 'operator' } as const

onEachDatabase((database) => {
  let db: Database
  let parts: AccountsParts
  let owner: UserPrincipal

  beforeEach(async () => {
    db = await database.open()
    parts = { db, clock: createManualClock(), hashSecret: new Uint8Array(32) }
    owner = (await signInPerson(parts, { installationRole: 'owner' })).user
  })
  afterEach(() => db.destroy())

  async function person() {
    const { user } = await signInPerson(parts, {})
    const { email } = await db
      .selectFrom('user_emails')
      .select('email')
      .where('user_id', '=', user.userId)
      .executeTakeFirstOrThrow()
    return { id: user.userId, email }
  }
  const rolesOf = async () =>
    (await listInstallationPeople(parts, owner)).items.map(({ id, role }) => [id, role] as const)

  test('somebody who signs in is given a role, another one, and none any more', async () => {
    const { id, email } = await person()
    equal(await addInstallationPerson(parts, owner, { email: email.toUpperCase(), userId: id, role: 'auditor' }), id)
    await rejects(addInstallationPerson(parts, owner, { email, userId: id, role: 'admin' }), { code: 'conflict' })
    await setInstallationRole(parts, owner, { id, role: 'admin' })
    deepEqual(
      new Map(await rolesOf()),
      new Map([
        [owner.userId, 'owner'],
        [id, 'admin'],
      ] as const),
    )
    await setInstallationRole(parts, owner, { id, role: null })
    deepEqual(await rolesOf(), [[owner.userId, 'owner']])
    await rejects(setInstallationRole(parts, owner, { id, role: null }), { code: 'not-found' })
    const actions = await db.selectFrom('audit').select('action').orderBy('sequence').execute()
    deepEqual(
      actions.map(({ action }) => action).filter((action) => action.startsWith('installation-members')),
      ['create', 'update', 'remove'].map((verb) => `installation-members:${verb}`),
    )
  })

  test('an address that any organization may have invited gives no role, unless its person is named by their id', async () => {
    const { id, email } = await person()
    const { organizationId } = await createOrganization(parts, operator, { name: 'Squatters' })
    const memberId = await createMember(parts, operator, { organizationId, email, name: 'M', role: 'developer' })
    await db.updateTable('members').set({ user_id: id }).where('id', '=', memberId).execute()
    await rejects(addInstallationPerson(parts, owner, { email, role: 'admin' }), ({ code, message }: ApiError) => {
      return code === 'conflict' && [id, organizationId, 'Squatters'].every((told) => message.includes(told))
    })
    const other = await person()
    await rejects(addInstallationPerson(parts, owner, { email, userId: other.id, role: 'admin' }), { code: 'conflict' })
    deepEqual(await rolesOf(), [[owner.userId, 'owner']])
    const organizations = [{ id: organizationId, name: 'Squatters' }]
    deepEqual(await listCandidates(parts, owner, email.toUpperCase()), [
      { id, name: 'P', email, isProven: false, organizations },
    ])
    equal(await addInstallationPerson(parts, owner, { email, userId: id, role: 'admin' }), id)
  })

  test('an address with which nobody signs in is refused at its field', async () => {
    const add = addInstallationPerson(parts, owner, { email: 'nobody@example.org', role: 'admin' })
    await rejects(add, ({ reason }: ApiError) => reason.code === 'invalid-request' && reason.path?.[0] === 'email')
  })

  test('nobody gives or takes a role above their own, and an auditor gives none', async () => {
    const { id, email } = await person()
    const admin = (await signInPerson(parts, { installationRole: 'admin' })).user
    const auditor = (await signInPerson(parts, { installationRole: 'auditor' })).user
    await rejects(addInstallationPerson(parts, admin, { email, userId: id, role: 'owner' }), {
      code: 'permission-denied',
    })
    await rejects(setInstallationRole(parts, admin, { id: owner.userId, role: 'auditor' }), {
      code: 'permission-denied',
    })
    await rejects(addInstallationPerson(parts, auditor, { email, userId: id, role: 'auditor' }), {
      code: 'permission-denied',
    })
    equal(await addInstallationPerson(parts, admin, { email, userId: id, role: 'admin' }), id)
  })

  test('the last owner stays one, also where the last two take the role from each other at once', async () => {
    await rejects(setInstallationRole(parts, owner, { id: owner.userId, role: null }), { code: 'conflict' })
    const other = (await signInPerson(parts, { installationRole: 'owner' })).user
    const results = await Promise.allSettled([
      setInstallationRole(parts, owner, { id: other.userId, role: 'auditor' }),
      setInstallationRole(parts, other, { id: owner.userId, role: 'auditor' }),
    ])
    deepEqual(results.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    equal((await listInstallationPeople(parts, operator)).items.filter(({ role }) => role === 'owner').length, 1)
  })

  test('management keys that somebody could not make any more end with their role, and so do those made with them', async () => {
    const { id, email } = await person()
    await addInstallationPerson(parts, owner, { email, userId: id, role: 'owner' })
    const them = { kind: 'user', userId: id, organizationId: null, role: 'owner' } as const
    const wanted = { organizationId: null, expiresAtMs: null } as const
    const first = await createManagementKey(parts, them, { name: 'first', role: 'owner', ...wanted })
    const byKey = { kind: 'management-key', managementKeyId: first.id, organizationId: null, role: 'owner' } as const
    const second = await createManagementKey(parts, byKey, { name: 'second', role: 'owner', ...wanted })
    const lesser = await createManagementKey(parts, them, { name: 'lesser', role: 'admin', ...wanted })
    const others = await createManagementKey(parts, owner, { name: 'others', role: 'owner', ...wanted })
    const work = async () =>
      Promise.all(
        [first, second, lesser, others].map(async ({ key }) => (await findManagementPrincipal(parts, key)) !== null),
      )
    deepEqual(await work(), [true, true, true, true])
    await setInstallationRole(parts, owner, { id, role: 'admin' })
    deepEqual(await work(), [false, false, true, true])
    await setInstallationRole(parts, owner, { id, role: null })
    deepEqual(await work(), [false, false, false, true])
  })
})
