// What somebody may do can be taken from them between the moment their request is let in and the one at which it changes
// something. Here their request is let in before, and changes something after.

import { deepEqual, equal, rejects } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createSilence } from '../../src/alerts/silences.ts'
import { ManagementKeyUses } from '../../src/accounts/access/management-key-uses.ts'
import { createApiKey, revokeApiKey } from '../../src/accounts/api-keys.ts'
import { createDirectory, rotateDirectoryToken } from '../../src/accounts/directory/directories.ts'
import { findAskingDirectory } from '../../src/accounts/directory/directory-tokens.ts'
import { createGroup } from '../../src/accounts/directory/groups.ts'
import { addInstallationPerson, setInstallationRole } from '../../src/accounts/installation/people.ts'
import { setMemberSuspended } from '../../src/accounts/leaving/suspend-member.ts'
import { createManagementKey, revokeManagementKey } from '../../src/accounts/management-keys.ts'
import { removeMember, setMemberRole } from '../../src/accounts/members.ts'
import { updateSettings } from '../../src/accounts/organization-settings.ts'
import { renameOrganization, setOrganizationDisabled } from '../../src/accounts/organizations.ts'
import type { AccountsParts } from '../../src/accounts/parts.ts'
import { createProject, setProjectMember } from '../../src/accounts/projects.ts'
import { endMemberSessions } from '../../src/accounts/sign-in/session-lists.ts'
import { measuredBy, setObjective } from '../../src/billing/availability/objectives.ts'
import type { ManagementKeyPrincipal, MemberPrincipal, Principal } from '../../src/core/principal.ts'
import type { Database } from '../../src/db/database.ts'
import { setBudget } from '../../src/limits/settings/budget-settings.ts'
import { setLimit } from '../../src/limits/settings/limit-settings.ts'
import { setTierLimit } from '../../src/limits/settings/tiers.ts'
import { onEachDatabase } from '../harness/databases/databases.ts'
import { createManualClock } from '../harness/manual-clock.ts'
import { testSignIn } from '../harness/management.ts'
import { signInPerson } from '../harness/sign-in.ts'
import { createCompany, type Company } from '../http/api/world.ts'

const operator = { kind: 'operator' } as const
const gone = { code: 'unauthenticated' }
const everywhere = { organizationId: null, expiresAtMs: null } as const

onEachDatabase((database) => {
  let db: Database
  let parts: AccountsParts
  let company: Company
  beforeEach(async () => {
    db = await database.open()
    parts = { db, clock: createManualClock(Date.now()), hashSecret: new Uint8Array(32) }
    company = await createCompany(parts)
  })
  afterEach(() => db.destroy())

  const countRows = async () =>
    Number(
      (
        await db
          .selectFrom('audit')
          .select(({ fn }) => fn.countAll().as('count'))
          .executeTakeFirstOrThrow()
      ).count,
    )
  /** Each is refused, and nothing is noted of it. */
  async function refuse(attempts: readonly (() => Promise<unknown>)[]): Promise<void> {
    const before = await countRows()
    for (const attempt of attempts) await rejects(attempt, gone, String(attempt))
    equal(await countRows(), before)
  }
  const owner = async () => (await signInPerson(parts, { installationRole: 'owner' })).user
  async function key(organizationId = everywhere.organizationId as Company['organizationId'] | null) {
    const wanted = { name: 'k', role: 'owner', organizationId, expiresAtMs: null } as const
    const { id } = await createManagementKey(parts, operator, wanted)
    return { kind: 'management-key', managementKeyId: id, organizationId, role: 'owner' } as ManagementKeyPrincipal
  }
  /** What is the installation's to change, and what it changes of an organization. */
  async function changesOfInstallation(by: Principal): Promise<readonly (() => Promise<unknown>)[]> {
    const { user } = await signInPerson(parts, {})
    const { email } = await db
      .selectFrom('user_emails')
      .select('email')
      .where('user_id', '=', user.userId)
      .executeTakeFirstOrThrow()
    const other = await owner()
    const { managementKeyId } = await key()
    const { organizationId } = company
    return [
      () => addInstallationPerson(parts, by, { email, userId: user.userId, role: 'admin' }),
      () => setInstallationRole(parts, by, { id: other.userId, role: 'admin' }),
      () => setInstallationRole(parts, by, { id: other.userId, role: null }),
      () => createManagementKey(parts, by, { name: 'k', role: 'admin', ...everywhere }),
      () => revokeManagementKey(parts, by, { id: managementKeyId, organizationId: null }),
      () => setTierLimit(parts, by, { tier: 'tier-1', model: '*', requestsPerMinute: 1 }),
      () => setObjective(parts, by, { ...measuredBy, organizationId: null, effectiveAtMs: null }),
      () => renameOrganization(parts, by, { organizationId, name: 'Theirs' }),
      () => setOrganizationDisabled(parts, by, { organizationId, isDisabled: true }),
    ]
  }
  /** A part of what is an organization's to change. */
  async function changesOfOrganization(by: Principal): Promise<readonly (() => Promise<unknown>)[]> {
    const { organizationId, projectId, members } = company
    const made = await createApiKey(parts, operator, { name: 'k', organizationId, projectId })
    const { memberId } = members.auditor
    const subject = { kind: 'organization', id: organizationId } as const
    const nowMs = parts.clock.nowMs()
    const silence = { topic: null, fromMs: nowMs, untilMs: nowMs + 60_000, reason: 'r' } as const
    return [
      () => endMemberSessions({ ...parts, signIn: testSignIn }, by, { organizationId, memberId, id: null }),
      () => setLimit(parts, by, { organizationId, subject, model: '*', concurrency: 1 }),
      () => setBudget(parts, by, { organizationId, subject, period: 'day', tokensMax: 1 }),
      () => revokeApiKey(parts, by, { organizationId, id: made.id }),
      () => createSilence(parts, by, { organizationId, ...silence }),
      () => updateSettings(parts, by, { organizationId, contact: 'Theirs' }),
      () => renameOrganization(parts, by, { organizationId, name: 'Theirs' }),
    ]
  }

  test('a person of the installation changes nothing once their role is taken or another one', async () => {
    const [lowered, left] = [await owner(), await owner()]
    const attempts = [
      ...(await changesOfInstallation(lowered)),
      ...(await changesOfOrganization(lowered)),
      ...(await changesOfInstallation(left)),
    ]
    await setInstallationRole(parts, operator, { id: lowered.userId, role: 'admin' })
    await setInstallationRole(parts, operator, { id: left.userId, role: null })
    await refuse(attempts)
  })

  test('a key of the installation changes nothing once it is revoked', async () => {
    const principal = await key()
    const attempts = [...(await changesOfInstallation(principal)), ...(await changesOfOrganization(principal))]
    await revokeManagementKey(parts, operator, { id: principal.managementKeyId, organizationId: null })
    await refuse(attempts)
  })

  test('a member changes nothing once they are lowered, suspended or removed, or their organization is disabled', async () => {
    const { organizationId, members } = company
    const refer = ({ memberId: id }: MemberPrincipal) => ({ id, organizationId })
    const attempts = await changesOfOrganization(members.admin)
    await setMemberRole(parts, operator, refer(members.admin), 'auditor')
    await refuse(attempts)
    await setMemberRole(parts, operator, refer(members.admin), 'admin')
    await setMemberSuspended(parts, operator, refer(members.admin), true)
    await refuse(attempts)
    await setMemberSuspended(parts, operator, refer(members.admin), false)
    await setOrganizationDisabled(parts, operator, { organizationId, isDisabled: true })
    await refuse(attempts)
    await setOrganizationDisabled(parts, operator, { organizationId, isDisabled: false })
    await removeMember(parts, operator, refer(members.admin))
    await refuse(attempts)
  })

  test('a key of an organization changes nothing once it is revoked or the organization is disabled', async () => {
    const { organizationId } = company
    const principal = await key(organizationId)
    const attempts = await changesOfOrganization(principal)
    await setOrganizationDisabled(parts, operator, { organizationId, isDisabled: true })
    await refuse(attempts)
    await setOrganizationDisabled(parts, operator, { organizationId, isDisabled: false })
    await revokeManagementKey(parts, operator, { id: principal.managementKeyId, organizationId })
    await refuse(attempts)
  })

  test('a developer makes no key in a project that they are shown no more', async () => {
    const { organizationId, members } = company
    const projectId = await createProject(parts, operator, { organizationId, name: 'Another' })
    const { memberId } = members.developer
    const shown = { id: projectId, organizationId, memberId }
    await setProjectMember(parts, operator, { ...shown, maySee: true })
    const developer = { ...members.developer, projectIds: [...members.developer.projectIds, projectId] }
    const wanted = { name: 'k', organizationId, projectId, ownerId: memberId }
    await createApiKey(parts, developer, wanted)
    await setProjectMember(parts, operator, { ...shown, maySee: false })
    await refuse([() => createApiKey(parts, developer, wanted)])
  })

  test('a directory changes nothing once its token has been replaced', async () => {
    const { organizationId } = company
    const made = await createDirectory(parts, operator, { organizationId, name: 'D', defaultRole: 'developer' })
    const directory = await findAskingDirectory(parts, made.token)
    const resource = { displayName: 'Group' }
    await rotateDirectoryToken(parts, operator, { id: made.id, organizationId }, 0)
    const before = await countRows()
    if (directory === null) throw new Error('The token is unknown.')
    await rejects(createGroup(parts, directory, { resource, baseUrl: 'https://ai.example.com' }), { status: 401 })
    equal(await countRows(), before)
  })

  test('what a key did before it was revoked is told of still', async () => {
    const principal = await key()
    const uses = new ManagementKeyUses(parts)
    uses.note(principal, '192.0.2.1')
    await revokeManagementKey(parts, operator, { id: principal.managementKeyId, organizationId: null })
    await uses.close()
    const told = await db.selectFrom('audit').select('actor').where('action', '=', 'management-keys:use').execute()
    deepEqual(
      told.map(({ actor }) => actor),
      [principal.managementKeyId],
    )
  })

  test('an owner lowers themself, and changes as what they are then', async () => {
    const person = await owner()
    await owner()
    await setInstallationRole(parts, person, { id: person.userId, role: 'admin' })
    await setTierLimit(parts, { ...person, role: 'admin' }, { tier: 'tier-1', model: '*', requestsPerMinute: 1 })
    await refuse([() => createManagementKey(parts, person, { name: 'k', role: 'owner', ...everywhere })])
  })
})
