import { deepEqual, equal, rejects } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { openTestFeed } from '../../../test/harness/databases/change-feed.ts'
import { testSignIn } from '../../../test/harness/management.ts'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { signInPerson } from '../../../test/harness/sign-in.ts'
import type { MemberId, OrganizationId, ProjectId } from '../../core/ids.ts'
import type { MemberPrincipal, Principal } from '../../core/principal.ts'
import type { Role } from '../../core/role.ts'
import type { Database } from '../../db/database.ts'
import { systemClock } from '../../lib/clock.ts'
import { createAccessCache } from '../access/access-cache.ts'
import { readKeyAccess } from '../access/key-access.ts'
import { createApiKey, rotateApiKey, setApiKeyDisabled } from '../api-keys.ts'
import { hashKey } from '../key-format.ts'
import { createManagementKey, findManagementPrincipal, revokeManagementKey } from '../management-keys.ts'
import { createMember, removeMember, setMemberRole } from '../members.ts'
import { createOrganization } from '../organizations.ts'
import type { AccountsParts } from '../parts.ts'
import { openSecretlessKey } from '../secretless-keys.ts'
import { readInvitation } from '../sign-in/accept-invitation.ts'
import { createInvitation, resendInvitation } from '../sign-in/invitations.ts'
import { readConsequences, setMemberSuspended } from './suspend-member.ts'

const operator = { kind: 'operator' } as const

onEachDatabase((database) => {
  let db: Database
  let parts: AccountsParts
  let organizationId: OrganizationId
  let projectId: ProjectId
  let leaver: MemberPrincipal
  let stayer: MemberPrincipal

  beforeEach(async () => {
    db = await database.open()
    parts = { db, clock: systemClock, hashSecret: new Uint8Array(32) }
    const home = await createOrganization(parts, operator, { name: 'Mine' })
    organizationId = home.organizationId
    projectId = home.projectId
    leaver = await member('owner', 'leaver@example.org')
    stayer = await member('owner', 'stayer@example.org')
  })
  afterEach(() => db.destroy())

  async function member(role: Role, email: string): Promise<MemberPrincipal> {
    const memberId = await createMember(parts, operator, { organizationId, email, name: 'M', role })
    return { kind: 'member', memberId, organizationId, role, projectIds: [] }
  }
  const refer = ({ memberId }: MemberPrincipal) => ({ id: memberId, organizationId })
  const suspend = (isSuspended = true) => setMemberSuspended(parts, operator, refer(leaver), isSuspended)
  const manage = (principal: Principal, place: OrganizationId | null = organizationId) =>
    createManagementKey(parts, principal, { name: 'k', role: 'owner', organizationId: place, expiresAtMs: null })
  const manageAs = (principal: Principal, role: Role) =>
    createManagementKey(parts, principal, { name: 'k', role, organizationId, expiresAtMs: null })
  const isIn = async (key: string) => (await findManagementPrincipal(parts, key)) !== null
  const make = (principal: Principal, ownerId?: MemberId) =>
    createApiKey(parts, principal, { name: 'k', organizationId, projectId, ...(ownerId !== undefined && { ownerId }) })
  const works = async (key: string) => (await readKeyAccess(db, [hashKey(parts.hashSecret, key)])).length === 1
  const lastRow = async () => {
    const row = await db
      .selectFrom('audit')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .orderBy('sequence', 'desc')
      .executeTakeFirstOrThrow()
    return { action: row.action, after: JSON.parse(row.after ?? '{}') as Record<string, unknown> }
  }
  const invite = (principal: Principal, email: string) =>
    createInvitation({ ...parts, signIn: testSignIn }, principal, {
      organizationId,
      email,
      role: 'owner',
      projectIds: [],
    })

  test('whoever is suspended has no session, no key of their own and no management key that they made', async () => {
    const person = await signInPerson(parts, { memberId: leaver.memberId })
    const [own, made, others] = [await make(leaver), await manage(leaver), await manage(stayer)]
    const playground = await openSecretlessKey(parts, leaver, { organizationId, projectId, kind: 'playground' })
    await suspend()
    equal(await works(own.key), false)
    equal((await readKeyAccess(db, [playground.hash])).length, 0)
    deepEqual([await isIn(made.key), await isIn(others.key)], [false, true])
    equal((await db.selectFrom('sessions').select('id').execute()).length, 0)
    const { action, after } = await lastRow()
    equal(action, 'members:suspend')
    deepEqual([after['sessions'], after['management_keys']], [[person.sessionId], [made.id]])
  })

  test('what runs under their keys has ended when whoever suspends them is answered', async () => {
    const clock = createManualClock()
    const feed = openTestFeed(db, clock)
    const cache = createAccessCache({ ...parts, clock, feed, confirmBeforeUseMs: 0, outageMs: 60_000 })
    const ended: string[] = []
    for (const [name, { key }] of [
      ['own', await make(leaver)],
      ['other', await make(stayer)],
    ] as const) {
      const access = await cache.find(key)
      if (access !== null) cache.watch(access, (reason) => ended.push(`${name} ${reason}`))
    }
    const noticed = { ...parts, accessChanged: () => cache.refresh() }
    await setMemberSuspended(noticed, operator, refer(leaver), true)
    deepEqual(ended, ['own key-ended'])
    await cache.close()
    await feed.close()
  })

  test('a management key that one of theirs made goes with it, however long the line and whatever of it has ended', async () => {
    const first = await manage(leaver)
    const next = async (key: string) => manage((await findManagementPrincipal(parts, key)) as Principal)
    const second = await next(first.key)
    const third = await next(second.key)
    await revokeManagementKey(parts, operator, { id: second.id, organizationId })
    await suspend()
    deepEqual([await isIn(first.key), await isIn(third.key)], [false, false])
    await suspend(false)
    deepEqual([await isIn(first.key), await isIn(second.key), await isIn(third.key)], [true, false, true])
  })

  test('what they made as a person of the installation counts as theirs, and the keys of another organization do not', async () => {
    const { user } = await signInPerson(parts, { memberId: leaver.memberId, installationRole: 'owner' })
    const made = await manage(user)
    const other = await createOrganization(parts, operator, { name: 'Other' })
    const elsewhere = await manage(user, other.organizationId)
    await suspend()
    deepEqual([await isIn(made.key), await isIn(elsewhere.key)], [false, true])
  })

  test('being restored gives back what the suspension took, and nothing that somebody had disabled', async () => {
    const [kept, disabled, before] = [await make(leaver), await make(leaver), await make(leaver)]
    const refuse = (id: string) => setApiKeyDisabled(parts, operator, { id, organizationId }, true)
    await refuse(before.id)
    await suspend()
    await refuse(disabled.id)
    await suspend(false)
    deepEqual([await works(kept.key), await works(disabled.key), await works(before.key)], [true, false, false])
  })

  test('a key of somebody suspended is neither enabled nor made for them', async () => {
    const { id, key } = await make(leaver)
    await suspend()
    await rejects(setApiKeyDisabled(parts, operator, { id, organizationId }, false), { code: 'conflict' })
    await rejects(make(operator, leaver.memberId), { code: 'conflict' })
    const rotated = await rotateApiKey(parts, operator, { id, organizationId }, 0)
    deepEqual([await works(key), await works(rotated.key)], [false, false])
  })

  test('a request that was let in before the suspension hands out nothing after it', async () => {
    const { key } = await manage(leaver)
    const program = (await findManagementPrincipal(parts, key)) as Principal
    const { id } = await make(operator)
    await suspend()
    const gone = { code: 'unauthenticated' }
    for (const principal of [leaver, program]) {
      await rejects(manage(principal), gone)
      await rejects(make(principal), gone)
      await rejects(rotateApiKey(parts, principal, { id, organizationId }, 0), gone)
      await rejects(invite(principal, 'friend@example.org'), gone)
    }
    await rejects(openSecretlessKey(parts, leaver, { organizationId, projectId, kind: 'playground' }), gone)
  })

  test('a key that is made while its maker is suspended is cut or was never made', async () => {
    for (let round = 0; round < 5; round++) {
      const made = [manage(leaver), make(leaver), manage(leaver), make(leaver)]
      await Promise.all([Promise.allSettled(made), suspend()])
      for (const result of await Promise.allSettled(made)) {
        if (result.status === 'rejected') continue
        const { key } = result.value
        equal((await works(key)) || (await isIn(key)), false)
      }
      await suspend(false)
    }
  })

  test('whoever is removed leaves no key that works, and restoring nobody brings one back', async () => {
    await signInPerson(parts, { memberId: leaver.memberId })
    const [own, made] = [await make(leaver), await manage(leaver)]
    await suspend()
    await removeMember(parts, operator, refer(leaver))
    await rejects(suspend(false), { code: 'not-found' })
    deepEqual([await works(own.key), await isIn(made.key)], [false, false])
    const rows = await db.selectFrom('management_keys').select('revoked_at').where('id', '=', made.id).execute()
    equal(rows[0]?.revoked_at === null, false)
    equal((await db.selectFrom('sessions').select('id').execute()).length, 0)
  })

  test('keys that they made for others stay, and the audit and the consequences name them', async () => {
    const [forOther, forNobody] = [await make(leaver, stayer.memberId), await make(operator)]
    const rotated = await rotateApiKey(parts, leaver, { id: forNobody.id, organizationId }, 0)
    const ids = (things: readonly { readonly id: string }[]) => things.map(({ id }) => id).toSorted()
    const expected = [forOther.id, rotated.id].toSorted()
    deepEqual(ids((await readConsequences(parts, operator, refer(leaver))).keysMadeForOthers), expected)
    await suspend()
    deepEqual((((await lastRow()).after['keys_for_others'] ?? []) as string[]).toSorted(), expected)
    deepEqual([await works(forOther.key), await works(rotated.key)], [true, true])
  })

  test('an invitation whose link they know opens nothing', async () => {
    const [theirs, resent] = [await invite(leaver, 'a@example.org'), await invite(stayer, 'b@example.org')]
    const anew = await resendInvitation({ ...parts, signIn: testSignIn }, leaver, { organizationId, id: resent.id })
    const others = await invite(stayer, 'c@example.org')
    equal((await readConsequences(parts, operator, refer(leaver))).invitationsMade, 2)
    await suspend()
    for (const { token } of [theirs, anew]) await rejects(readInvitation(parts, token), { code: 'unauthenticated' })
    equal((await readInvitation(parts, others.token)).email, 'c@example.org')
  })

  test('whoever is given a lower role has no management key above it, and no invitation to more', async () => {
    const first = await manage(leaver)
    const line = await manage((await findManagementPrincipal(parts, first.key)) as Principal)
    const lesser = await manageAs(leaver, 'billing')
    const { user } = await signInPerson(parts, { memberId: leaver.memberId, installationRole: 'owner' })
    const ofInstallation = await manage(user)
    const [others, toOwner] = [await manage(stayer), await invite(leaver, 'friend@example.org')]
    const roles = async () => {
      const keys = [first, line, lesser, ofInstallation, others]
      return Promise.all(keys.map(async ({ key }) => (await findManagementPrincipal(parts, key))?.role ?? null))
    }
    await setMemberRole(parts, operator, refer(leaver), 'admin')
    deepEqual(await roles(), ['admin', 'admin', 'billing', 'owner', 'owner'])
    // Keys of one millisecond stand in the order of their ids.
    deepEqual(
      ((await lastRow()).after['management_keys_lowered'] as string[]).toSorted(),
      [first.id, line.id].toSorted(),
    )
    await rejects(readInvitation(parts, toOwner.token), { code: 'unauthenticated' })
    await setMemberRole(parts, operator, refer(leaver), 'billing')
    deepEqual(await roles(), [null, null, null, 'owner', 'owner'])
    await setMemberRole(parts, operator, refer(leaver), 'owner')
    deepEqual(await roles(), [null, null, null, 'owner', 'owner'], 'nothing comes back')
  })

  test('a request that was let in by a role hands out nothing by it once there is another one', async () => {
    const { key } = await manage(leaver)
    const program = (await findManagementPrincipal(parts, key)) as Principal
    await setMemberRole(parts, operator, refer(leaver), 'admin')
    for (const principal of [leaver, program]) await rejects(manage(principal), { code: 'unauthenticated' })
  })

  test('a management key that is made while its maker is given a lower role is lowered or was never made', async () => {
    for (let round = 0; round < 5; round++) {
      const made = [manage(leaver), manage(leaver), manage(leaver)]
      await Promise.all([Promise.allSettled(made), setMemberRole(parts, operator, refer(leaver), 'admin')])
      for (const result of await Promise.allSettled(made)) {
        if (result.status === 'rejected') continue
        equal((await findManagementPrincipal(parts, result.value.key))?.role, 'admin')
      }
      await setMemberRole(parts, operator, refer(leaver), 'owner')
    }
  })
})
