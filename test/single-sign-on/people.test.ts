// Whom a provider's word makes of somebody, where it counts, and what it can never do.

import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { listCandidates } from '../../src/accounts/installation/candidates.ts'
import { addInstallationPerson } from '../../src/accounts/installation/people.ts'
import { createRole } from '../../src/accounts/custom-roles.ts'
import { createMember, findMemberPrincipal, removeMember, setMemberRole } from '../../src/accounts/members.ts'
import { setMemberSuspended } from '../../src/accounts/leaving/suspend-member.ts'
import { createConnection, setConnectionOn, updateConnection } from '../../src/accounts/single-sign-on/connections.ts'
import { setMappings } from '../../src/accounts/single-sign-on/group-mappings.ts'
import { enforceConnection, relaxConnection } from '../../src/accounts/single-sign-on/enforcement.ts'
import type { ConnectionId, MemberId, OrganizationId } from '../../src/core/ids.ts'
import { permissions, reachByRole } from '../../src/core/permission.ts'
import type { Principal } from '../../src/core/principal.ts'
import type { Role } from '../../src/core/role.ts'
import { onEachDatabase } from '../harness/databases/databases.ts'
import { testSignIn } from '../harness/management.ts'
import { signInPerson } from '../harness/sign-in.ts'
import { newConnection } from '../http/api/sso-things.ts'
import { createCompany, newMemberOfPart } from '../http/api/world.ts'
import { addDomain, openSso, type Sso, type SsoBrowser } from './open-sso.ts'

const operator = { kind: 'operator' } as const
const dayMs = 86_400_000

onEachDatabase((database) => {
  let sso: Sso
  let organizationId: OrganizationId
  before(async () => {
    sso = await openSso(await database.open())
    organizationId = sso.company.organizationId
  })
  after(() => sso.close())
  afterEach(() => {
    sso.provider.lie = {}
  })

  let count = 0
  type Person = { readonly sub: string; readonly email: string }
  const person = (): Person => {
    count += 1
    return { sub: `person-${count}`, email: `person${count}@acme.example` }
  }
  const attempt = async (connectionId: ConnectionId, claims: Record<string, unknown>, browser = sso.browser()) => {
    sso.provider.lie = { claims: (truth) => ({ ...truth, ...claims }) }
    const { status } = await browser.back(connectionId, sso.provider.authorize(await browser.begin(connectionId)))
    const { code } = await sso.service.db
      .selectFrom('login_attempts')
      .select('code')
      .where('connection_id', '=', connectionId)
      .orderBy('at', 'desc')
      .orderBy('id')
      .executeTakeFirstOrThrow()
    sso.service.clock.advance(1)
    return { browser, isIn: status === 303, code }
  }
  const memberships = async (browser: SsoBrowser) =>
    ((await browser.ask('GET', 'session')).body['memberships'] ?? []) as {
      organizationId: string
      memberId: MemberId
      role: Role
      projectIds: string[]
      needsProof: { connectionId: string } | null
    }[]
  const create = (email: string, role: Role = 'developer') =>
    createMember(sso.service.accounts, operator, { organizationId, email, name: 'M', role })
  const refer = <Id extends string>(id: Id) => ({ id, organizationId })
  /** Somebody who has signed in with a passkey of their own. */
  const withPasskey = async (memberId: MemberId, installationRole: Role | null = null) => {
    const signedIn = await signInPerson(sso.service.accounts, { memberId, installationRole })
    const browser = sso.browser()
    const [name = '', value = ''] = (signedIn.headers['cookie'] ?? '').split('=')
    browser.cookies.set(name, value)
    return { browser, userId: signedIn.user.userId }
  }
  const usePasskey = async (user_id: `usr_${string}`, last_used_at: number) => {
    const key = { rp_id: 'ai.example.com', public_key: '', counter: 0, transports: '[]', is_backed_up: 0, name: 'P' }
    count += 1
    await sso.service.db
      .insertInto('passkeys')
      .values({ id: `p${count}`, user_id, ...key, created_at: 0, last_used_at })
      .execute()
  }
  const link = async (connectionId: ConnectionId, browser: SsoBrowser, claims: Record<string, unknown>) => {
    const begun = await browser.ask('POST', 'me/identities', { connectionId })
    if (begun.status !== 200) return begun
    sso.provider.lie = { claims: (truth) => ({ ...truth, ...claims }) }
    return browser.back(connectionId, sso.provider.authorize(String(begun.body['location'])))
  }

  describe('somebody unknown', () => {
    test('becomes a member with the role of the connection, where it makes members', async () => {
      const { browser, isIn } = await attempt(await sso.connect({ defaultRole: 'auditor' }), person())
      equal(isIn, true)
      deepEqual(
        (await memberships(browser)).map((one) => [one.organizationId, one.role]),
        [[organizationId, 'auditor']],
      )
      const none = await attempt(await sso.connect({ makesMembers: false }), person())
      deepEqual([none.isIn, none.code], [false, 'not-known'])
    })

    test('is given a role in the installation by the address that their own organization vouches for, and by no other', async () => {
      const known = person()
      await attempt(await sso.connect(), known)
      const [candidate] = await listCandidates(sso.service.accounts, operator, known.email)
      equal(candidate?.isProven, true)
      const { db } = sso.service
      const domain = db.updateTable('domains').where('organization_id', '=', organizationId)
      const { verified_at } = await db.selectFrom('domains').select('verified_at').executeTakeFirstOrThrow()
      const wanted = { email: known.email, role: 'auditor' } as const
      await domain.set({ verified_at: null }).execute()
      await rejects(addInstallationPerson(sso.service.accounts, operator, wanted), { code: 'conflict' })
      await domain.set({ verified_at }).execute()
      equal(await addInstallationPerson(sso.service.accounts, operator, wanted), candidate?.id)
    })

    test('is the same member the next time, under whatever address and name', async () => {
      const connectionId = await sso.connect()
      const who = person()
      const first = await attempt(connectionId, who)
      const changed = { ...who, email: 'owner@acme.example', email_verified: false, name: 'The Owner' }
      const again = await attempt(connectionId, changed)
      deepEqual(await memberships(again.browser), await memberships(first.browser))
      equal((await again.browser.ask('GET', 'me')).body['email'], who.email)
    })

    test('is somebody else at another connection, and does not take an address that is somebody’s', async () => {
      const who = person()
      equal((await attempt(await sso.connect(), who)).isIn, true)
      const other = await attempt(await sso.connect(), who)
      deepEqual([other.isIn, other.code], [false, 'link-first'])
      const third = person()
      const company = await createCompany(sso.service.accounts)
      const elsewhere = await createMember(sso.service.accounts, operator, {
        organizationId: company.organizationId,
        email: third.email,
        name: 'M',
        role: 'developer',
      })
      const { user } = await signInPerson(sso.service.accounts, { memberId: elsewhere })
      await sso.service.db
        .updateTable('user_emails')
        .set({ email: third.email } as never)
        .where('user_id', '=', user.userId)
        .execute()
      await usePasskey(user.userId, 0)
      const taken = await attempt(await sso.connect(), third)
      deepEqual([taken.isIn, taken.code], [false, 'email-taken'])
    })
  })

  describe('a member who is known', () => {
    test('by an address is who they were made as, if they have never signed in', async () => {
      const who = person()
      const memberId = await create(who.email, 'billing')
      const { browser } = await attempt(await sso.connect({ makesMembers: false }), who)
      deepEqual(
        (await memberships(browser)).map((one) => [one.memberId, one.role]),
        [[memberId, 'billing']],
      )
    })

    test('is not recognised by an address as an owner, or as somebody who signs in already', async () => {
      const [owner, known] = [person(), person()]
      await create(owner.email, 'owner')
      await withPasskey(await create(known.email))
      const connectionId = await sso.connect()
      equal((await attempt(connectionId, owner)).code, 'owner-links-first')
      equal((await attempt(connectionId, known)).code, 'link-first')
    })

    test('by an address is nobody who may do more than whoever has said which provider it is', async () => {
      const { db, accounts } = sso.service
      const parts = { ...accounts, signIn: testSignIn }
      const granted = permissions.filter((one) => reachByRole(one).developer !== 'none')
      const part = { base: 'admin', permissions: [...granted, 'connections:create', 'connections:update'] } as const
      const confined = await findMemberPrincipal(accounts, await newMemberOfPart(accounts, sso.company, part))
      if (confined === null) throw new Error('The member is not let in.')
      const made = { ...newConnection, issuer: sso.provider.issuer, organizationId }
      const id = await createConnection(parts, confined, made)
      await setConnectionOn(parts, confined, refer(id), true)
      const meet = async (role: Role) => {
        const who = person()
        await create(who.email, role)
        const { isIn, code } = await attempt(id, who)
        return isIn ? 'in' : code
      }
      deepEqual([await meet('developer'), await meet('admin')], ['in', 'above-answerer'])
      // Switched on by themselves once more it is what it was.
      await setConnectionOn(parts, confined, refer(id), true)
      equal(await meet('admin'), 'above-answerer')
      await setConnectionOn(parts, sso.company.members.owner, refer(id), true)
      equal(await meet('admin'), 'in')
      await updateConnection(parts, confined, refer(id), { name: 'Another name', scopes: newConnection.scopes })
      await setConnectionOn(parts, confined, refer(id), true)
      equal(await meet('admin'), 'in')
      await updateConnection(parts, confined, refer(id), { scopes: 'openid email' })
      equal(await meet('admin'), 'above-answerer')
      const known = db.selectFrom('identities').select('subject').where('connection_id', '=', id)
      equal((await known.execute()).length, 3, 'Who is refused is known by nothing afterwards.')
    })

    test('is let in no more when suspended or removed, and comes back by no new address', async () => {
      const connectionId = await sso.connect()
      const who = person()
      const { browser } = await attempt(connectionId, who)
      const [membership] = await memberships(browser)
      const id = membership?.memberId as MemberId
      await setMemberSuspended(sso.service.accounts, operator, refer(id), true)
      equal((await browser.ask('GET', 'session')).status, 401)
      equal((await attempt(connectionId, who)).code, 'member-suspended')
      await setMemberSuspended(sso.service.accounts, operator, refer(id), false)
      equal((await attempt(connectionId, who)).isIn, true)
      await removeMember(sso.service.accounts, operator, refer(id))
      equal((await attempt(connectionId, who)).code, 'member-removed')
      equal((await attempt(connectionId, { ...who, sub: 'another subject' })).code, 'member-removed')
    })

    test('is, once removed, the member that somebody makes of them anew, and never an owner', async () => {
      const connectionId = await sso.connect()
      const who = person()
      const idOf = async (browser: SsoBrowser) => (await memberships(browser))[0]?.memberId as MemberId
      await removeMember(sso.service.accounts, operator, refer(await idOf((await attempt(connectionId, who)).browser)))
      const unverified = { ...who, email_verified: false }
      const again = await create(who.email, 'billing')
      equal((await attempt(connectionId, unverified)).code, 'member-removed')
      equal(await idOf((await attempt(connectionId, who)).browser), again)
      await removeMember(sso.service.accounts, operator, refer(again))
      await create(who.email, 'owner')
      equal((await attempt(connectionId, who)).code, 'owner-links-first')
    })

    /** Somebody who accepts an invitation of this address as somebody new. */
    const comeNew = async (email: string, role: Role) => {
      const path = `/api/v1/organizations/${organizationId}/invitations`
      const sent = await sso.service.ask({ method: 'POST', path, key: sso.service.key, body: { email, role } })
      const token = String(sent.body['link']).split('#')[1]
      const browser = sso.browser()
      const credential = { kind: 'password', password: 'correct horse battery staple' }
      equal((await browser.ask('POST', 'invitations/accept', { token, name: 'Back', credential })).status, 200)
      return browser
    }

    test('is, once removed and invited anew, who they are here when they have linked their identity again', async () => {
      const connectionId = await sso.connect()
      const who = person()
      const [before] = await memberships((await attempt(connectionId, who)).browser)
      await removeMember(sso.service.accounts, operator, refer(before?.memberId as MemberId))
      const browser = await comeNew(who.email, 'auditor')
      equal((await attempt(connectionId, who)).code, 'link-first')
      equal((await link(connectionId, browser, who)).status, 303)
      const vouched = await attempt(connectionId, who)
      deepEqual(
        (await memberships(vouched.browser)).map(({ role }) => role),
        ['auditor'],
      )
    })

    test('is let in with an account of their own where the one they had was ended for another holder of the address', async () => {
      const connectionId = await sso.connect()
      const who = person()
      const [before] = await memberships((await attempt(connectionId, who)).browser)
      await removeMember(sso.service.accounts, operator, refer(before?.memberId as MemberId))
      const holder = await comeNew(who.email, 'auditor')
      const [held] = await memberships(holder)
      await removeMember(sso.service.accounts, operator, refer(held?.memberId as MemberId))
      const again = await create(who.email, 'billing')
      const { browser } = await attempt(connectionId, who)
      deepEqual(
        (await memberships(browser)).map(({ memberId }) => memberId),
        [again],
      )
      equal((await holder.ask('GET', 'session')).status, 401)
    })

    test('has no session when they are suspended while signing in', async () => {
      const connectionId = await sso.connect()
      const who = person()
      const memberId = await create(who.email)
      await attempt(connectionId, who)
      for (let round = 0; round < 5; round++) {
        const browser = sso.browser()
        const params = sso.provider.authorize(await browser.begin(connectionId))
        await Promise.all([
          browser.back(connectionId, params),
          setMemberSuspended(sso.service.accounts, operator, refer(memberId), true),
        ])
        equal((await browser.ask('GET', 'session')).status, 401)
        await setMemberSuspended(sso.service.accounts, operator, refer(memberId), false)
      }
    })
  })

  describe('a session that a provider vouches for', () => {
    test('opens its own organization alone, and nothing of the installation', async () => {
      const other = await createCompany(sso.service.accounts)
      const { browser, userId } = await withPasskey(await create(person().email, 'admin'), 'owner')
      await sso.service.db
        .updateTable('members')
        .set({ user_id: userId })
        .where('id', '=', other.members.owner.memberId)
        .execute()
      equal((await memberships(browser)).length, 2)
      const connectionId = await sso.connect()
      const who = person()
      equal((await link(connectionId, browser, who)).status, 303)
      const vouched = (await attempt(connectionId, who)).browser
      deepEqual(
        (await memberships(vouched)).map((one) => one.organizationId),
        [organizationId],
      )
      equal((await vouched.ask('GET', 'session')).body['installation'], null)
      equal((await vouched.ask('GET', `organizations/${other.organizationId}/projects`)).status, 404)
      equal((await vouched.ask('GET', `organizations/${organizationId}/projects`)).status, 200)
      equal((await vouched.ask('GET', 'management-keys')).status, 403)
    })

    test('changes nothing of how the person signs in', async () => {
      const { browser } = await attempt(await sso.connect(), person())
      for (const [path, body] of [
        ['me/totp', undefined],
        ['me/recovery-codes', undefined],
        ['me/identities', { connectionId: await sso.connect() }],
      ] as const) {
        const answer = await browser.ask('POST', path, body)
        equal(answer.status, 403, path)
        match(answer.text, /without your organization’s provider/)
      }
      equal((await browser.ask('DELETE', 'session')).status, 204)
    })

    test('ends when the connection is switched off', async () => {
      const connectionId = await sso.connect()
      const { browser } = await attempt(connectionId, person())
      await sso.service.db.updateTable('connections').set({ state: 'off' }).where('id', '=', connectionId).execute()
      equal((await browser.ask('GET', 'session')).status, 401)
    })

    test('is no fresh proof unless the provider says when it has asked', async () => {
      const connectionId = await sso.connect()
      const proofOf = async (claims: Record<string, unknown>) => {
        const { browser } = await attempt(connectionId, claims)
        const proof = (await browser.ask('GET', 'session')).body['proof'] as { freshUntil: string }
        return Date.parse(proof.freshUntil) > sso.service.clock.nowMs()
      }
      const now = Math.floor(sso.service.clock.nowMs() / 1_000)
      const who = person()
      equal(await proofOf({ ...who, auth_time: now }), true)
      equal(await proofOf({ ...who, auth_time: undefined }), false)
      equal(await proofOf({ ...who, auth_time: now - 3_600 }), false)
    })
  })

  describe('linking an identity', () => {
    test('lets an owner in, who stays one whatever the groups say', async () => {
      const { browser } = await withPasskey(await create(person().email, 'owner'))
      const connectionId = await sso.connect()
      await setMappings(
        { ...sso.service.accounts, signIn: testSignIn },
        operator,
        { id: connectionId, organizationId },
        [{ group: 'staff', role: 'auditor', projectIds: [] }],
      )
      const who = person()
      equal((await link(connectionId, browser, who)).status, 303)
      const vouched = await attempt(connectionId, { ...who, groups: ['staff'] })
      deepEqual(
        (await memberships(vouched.browser)).map(({ role }) => role),
        ['owner'],
      )
    })

    test('takes no identity that is somebody else’s, and is for members of the organization', async () => {
      const connectionId = await sso.connect()
      const who = person()
      await attempt(connectionId, who)
      const { browser } = await withPasskey(await create(person().email))
      equal((await link(connectionId, browser, who)).status, 400)
      const company = await createCompany(sso.service.accounts)
      const stranger = await withPasskey(company.members.owner.memberId)
      equal((await link(connectionId, stranger.browser, person())).status, 404)
    })

    test('tries a draft, for who looks after it alone', async () => {
      const connectionId = await sso.connect()
      await sso.service.db.updateTable('connections').set({ state: 'draft' }).where('id', '=', connectionId).execute()
      const developer = await withPasskey(await create(person().email))
      equal((await link(connectionId, developer.browser, person())).status, 404)
      const admin = await withPasskey(await create(person().email, 'admin'))
      equal((await link(connectionId, admin.browser, person())).status, 303)
      const row = await sso.service.db
        .selectFrom('connections')
        .select('tested_by')
        .where('id', '=', connectionId)
        .executeTakeFirst()
      equal(row?.tested_by, admin.userId)
    })
  })

  describe('groups of a provider', () => {
    const rolesFor = async (connectionId: ConnectionId, who: Person, claims: Record<string, unknown>) => {
      const { browser } = await attempt(connectionId, { ...who, ...claims })
      const [membership] = await memberships(browser)
      return [membership?.role, membership?.projectIds.length]
    }
    test('give the role of the first that is mapped and the projects of each, and take them back', async () => {
      const connectionId = await sso.connect({ defaultRole: 'auditor' })
      const { projectId, siblingId } = sso.company
      await setMappings(
        { ...sso.service.accounts, signIn: testSignIn },
        operator,
        { id: connectionId, organizationId },
        [
          { group: 'admins', role: 'admin', projectIds: [] },
          { group: 'engineers', role: 'developer', projectIds: [projectId] },
          { group: 'more', role: 'developer', projectIds: [siblingId] },
        ],
      )
      const who = person()
      deepEqual(await rolesFor(connectionId, who, { groups: ['more', 'engineers'] }), ['developer', 2])
      deepEqual(await rolesFor(connectionId, who, { groups: ['engineers'] }), ['developer', 1])
      deepEqual(await rolesFor(connectionId, who, { groups: ['engineers', 'admins'] }), ['admin', 0])
      for (const claims of [
        { groups: undefined },
        { groups: 'admins' },
        { groups: [], hasgroups: true },
        { groups: undefined, _claim_names: { groups: 'src1' } },
      ]) {
        deepEqual(await rolesFor(connectionId, who, claims), ['admin', 0], JSON.stringify(claims))
      }
      for (const groups of [['owner'], ['Admins'], [' admins'], ['admins,engineers'], []]) {
        deepEqual(await rolesFor(connectionId, who, { groups, role: 'owner', roles: ['owner'] }), ['auditor', 0])
      }
    })

    test('leave somebody the part of a role that they have until they give another role', async () => {
      const connectionId = await sso.connect()
      const parts = { ...sso.service.accounts, signIn: testSignIn }
      await setMappings(parts, operator, { id: connectionId, organizationId }, [
        { group: 'admins', role: 'admin', projectIds: [] },
        { group: 'more', role: 'developer', projectIds: [sso.company.siblingId] },
      ])
      const who = person()
      await attempt(connectionId, { ...who, groups: ['admins'] })
      const state = async () => ({
        ...(await sso.service.db
          .selectFrom('members')
          .leftJoin('project_members', 'project_members.member_id', 'members.id')
          .select(['members.id', 'members.role', 'members.role_id', 'project_members.project_id'])
          .where('members.email', '=', who.email)
          .executeTakeFirstOrThrow()),
      })
      const { id } = await state()
      const part = { organizationId, name: 'Reads members', base: 'admin', permissions: ['members:read'] } as const
      const roleId = await createRole(parts, operator, part)
      await setMemberRole(parts, operator, refer(id), roleId)
      await attempt(connectionId, { ...who, groups: ['admins', 'more'] })
      deepEqual(await state(), { id, role: 'admin', role_id: roleId, project_id: sso.company.siblingId })
      await attempt(connectionId, { ...who, groups: ['more'] })
      deepEqual(await state(), { id, role: 'developer', role_id: null, project_id: sso.company.siblingId })
    })

    test('tell what mappings would make of them, and whom it changes of those who have signed in before', async () => {
      const connectionId = await sso.connect()
      const [ann, ben] = [person(), person()]
      await attempt(connectionId, { ...ann, groups: ['engineers', 'all'] })
      await attempt(connectionId, { ...ben, groups: ['all'] })
      await attempt(connectionId, person())
      const owner = await create(person().email, 'owner')
      const rows = await sso.service.db.selectFrom('members').selectAll().orderBy('id').execute()
      const { projectId } = sso.company
      const mappings = [
        { group: 'engineers', role: 'admin', projectIds: [] },
        { group: 'all', role: 'developer', projectIds: [projectId] },
      ]
      const path = `/api/v1/organizations/${organizationId}/connections/${connectionId}/group-mappings/preview`
      const ask = (query: string, key = sso.service.key) =>
        sso.service.ask({ path: `${path}?mappings=${encodeURIComponent(JSON.stringify(mappings))}${query}`, key })
      const { status, body, text } = await ask('&group=all&group=unknown')
      equal(status, 200, text)
      const { made, data } = body as {
        made: { role: string; projectIds: string[]; permissions: string[] }
        data: { id: MemberId; email: string; roleBefore: string; roleAfter: string; opened: string[] }[]
      }
      deepEqual([made.role, made.projectIds], ['developer', [projectId]])
      deepEqual([made.permissions.includes('models:use'), made.permissions.includes('members:create')], [true, false])
      deepEqual(
        data.map(({ email, roleBefore, roleAfter, opened }) => [email, roleBefore, roleAfter, opened]),
        [
          [ann.email, 'developer', 'admin', [projectId]],
          [ben.email, 'developer', 'developer', [projectId]],
        ],
      )
      equal(
        data.some(({ id }) => id === owner),
        false,
      )
      equal((await ask('')).body['made'], null)
      equal((await ask('', await sso.service.createKey('auditor', organizationId))).status, 403)
      deepEqual(await sso.service.db.selectFrom('members').selectAll().orderBy('id').execute(), rows)
    })

    test('never make an owner, whoever says so', async () => {
      const connectionId = await sso.connect()
      const path = `/api/v1/organizations/${organizationId}/connections/${connectionId}`
      const ask = (method: 'PUT' | 'PATCH', where: string, body: unknown) =>
        sso.service.ask({ method, path: where, key: sso.service.key, body })
      equal((await ask('PUT', `${path}/group-mappings`, { data: [{ group: 'a', role: 'owner' }] })).status, 400)
      equal((await ask('PATCH', path, { defaultRole: 'owner' })).status, 400)
    })
  })

  describe('an organization that is entered by its connection alone', () => {
    const enforce = (id: ConnectionId, breakGlassId: MemberId, where = organizationId) =>
      enforceConnection({ ...sso.service.accounts, signIn: testSignIn }, operator, {
        id,
        organizationId: where,
        breakGlassId,
      })

    test('is not made before it is sure to be entered again', async () => {
      const company = await createCompany(sso.service.accounts)
      const where = company.organizationId
      const ownerId = company.members.owner.memberId
      const connectionId = await sso.connect({}, sso.provider.issuer, where)
      const { browser, userId } = await withPasskey(ownerId)
      const refused = (message: RegExp) =>
        enforce(connectionId, ownerId, where).then(
          () => equal('enforced', 'refused'),
          (error: Error) => match(error.message, message),
        )
      await refused(/Nobody has signed in/)
      equal((await link(connectionId, browser, person())).status, 303)
      await refused(/No domain/)
      await addDomain(sso.service, where, 'other.example')
      await refused(/neither a passkey nor/)
      await usePasskey(userId, sso.service.clock.nowMs() - 31 * dayMs)
      await refused(/neither a passkey nor/)
      await usePasskey(userId, sso.service.clock.nowMs())
      await enforce(connectionId, company.members.admin.memberId, where).catch((error: Error) =>
        match(error.message, /Only an owner/),
      )
      await sso.service.db.updateTable('connections').set({ state: 'off' }).where('id', '=', connectionId).execute()
      await refused(/not switched on/)
      await sso.service.db.updateTable('connections').set({ state: 'on' }).where('id', '=', connectionId).execute()
      await enforce(connectionId, ownerId, where)
    })

    test('keeps the owner who comes in without it until it is relaxed or has another', async () => {
      const { accounts } = sso.service
      const company = await createCompany(accounts)
      const { owner, admin } = company.members
      const where = company.organizationId
      const connectionId = await sso.connect({}, sso.provider.issuer, where)
      const { browser, userId } = await withPasskey(owner.memberId)
      await addDomain(sso.service, where, `d${count}.example`)
      await link(connectionId, browser, person())
      await usePasskey(userId, sso.service.clock.nowMs())
      const glass = { id: owner.memberId, organizationId: where }
      await setMemberRole(accounts, operator, { id: admin.memberId, organizationId: where }, 'owner')
      await enforce(connectionId, owner.memberId, where)
      const other: Principal = { ...admin, role: 'owner' }
      const ways = (by: Principal) => [
        () => setMemberRole(accounts, by, glass, 'admin'),
        () => setMemberSuspended(accounts, by, glass, true),
        () => removeMember(accounts, by, glass),
      ]
      for (const way of [...ways(other), ...ways(operator)]) {
        await rejects(way, { code: 'conflict', message: /where the provider fails/ })
      }
      await relaxConnection({ ...accounts, signIn: testSignIn }, operator, { id: connectionId, organizationId: where })
      for (const way of ways(other)) await way()
    })

    test('keeps what lets that owner in without it, as long as they have nothing else of the kind', async () => {
      const { db } = sso.service
      const company = await createCompany(sso.service.accounts)
      const ownerId = company.members.owner.memberId
      const connectionId = await sso.connect({}, sso.provider.issuer, company.organizationId)
      const { browser, userId } = await withPasskey(ownerId)
      await addDomain(sso.service, company.organizationId, `d${count}.example`)
      await link(connectionId, browser, person())
      await usePasskey(userId, sso.service.clock.nowMs())
      const passkey = `p${count}`
      await db.insertInto('passwords').values({ user_id: userId, phc: '', changed_at: 0 }).execute()
      await enforce(connectionId, ownerId, company.organizationId)
      const remove = async (what: string) => (await browser.ask('DELETE', `me/${what}`)).status
      equal(await remove(`passkeys/${passkey}`), 409, 'A password alone lets nobody in past the provider.')
      const totp = { user_id: userId, sealed: '', last_step: 0, confirmed_at: 1 }
      await db.insertInto('totp').values(totp).execute()
      equal(await remove(`passkeys/${passkey}`), 204)
      deepEqual([await remove('totp'), await remove('password')], [409, 409])
      await db.updateTable('connections').set({ enforced_at: null, break_glass_id: null }).execute()
      equal(await remove('totp'), 204)
    })

    test('lets in by another way the one owner alone, for an hour', async () => {
      const company = await createCompany(sso.service.accounts)
      const where = company.organizationId
      const [owner, admin] = [
        await withPasskey(company.members.owner.memberId),
        await withPasskey(company.members.admin.memberId),
      ]
      const connectionId = await sso.connect({}, sso.provider.issuer, where)
      await addDomain(sso.service, where, `d${count}.example`)
      await usePasskey(owner.userId, sso.service.clock.nowMs())
      await link(connectionId, owner.browser, person())
      const adminIdentity = person()
      await link(connectionId, admin.browser, adminIdentity)
      await enforce(connectionId, company.members.owner.memberId, where)
      const projects = async (browser: SsoBrowser) =>
        (await browser.ask('GET', `organizations/${where}/projects`)).status
      deepEqual([await projects(owner.browser), await projects(admin.browser)], [200, 404])
      deepEqual(
        (await memberships(admin.browser)).map(({ needsProof }) => needsProof),
        [{ connectionId }],
      )
      const vouched = await attempt(connectionId, adminIdentity)
      equal(await projects(vouched.browser), 200)
      const other = await sso.connect({}, sso.provider.issuer, where)
      await sso.service.db
        .insertInto('identities')
        .values({
          connection_id: other,
          subject: 'x',
          organization_id: where,
          user_id: admin.userId,
          created_at: 0,
          last_seen_at: 0,
        })
        .execute()
      equal(await projects((await attempt(other, { sub: 'x' })).browser), 404)
      await sso.service.db
        .updateTable('sessions')
        .set({ proof_method: 'password' })
        .where('user_id', '=', owner.userId)
        .execute()
      equal(await projects(owner.browser), 404)
      await sso.service.db
        .updateTable('sessions')
        .set({ proof_method: 'passkey' })
        .where('user_id', '=', owner.userId)
        .execute()
      const disable = `/api/v1/organizations/${where}/connections/${connectionId}/disable`
      equal((await sso.service.ask({ method: 'POST', path: disable, key: sso.service.key })).status, 409)
      sso.service.clock.advance(1_000_000)
      await owner.browser.ask('GET', 'session')
      sso.service.clock.advance(1_000_000)
      await owner.browser.ask('GET', 'session')
      equal(await projects(owner.browser), 200)
      sso.service.clock.advance(1_700_000)
      equal((await owner.browser.ask('GET', 'session')).status, 200)
      equal(await projects(owner.browser), 404)
    })
  })

  test('the secret of a client is in no answer, no row of the audit and in no column as it is', async () => {
    const clientSecret = 'canary-of-a-client'
    const path = `/api/v1/organizations/${organizationId}/connections`
    const body = { name: 'C', issuer: 'https://idp.example.com', clientId: 'c', clientSecret }
    const { key } = sso.service
    const made = await sso.service.ask({ method: 'POST', path, key, body })
    const changed = { clientSecret: `${clientSecret}-too` }
    const one = `${path}/${String(made.body['id'])}`
    const answers = [
      made,
      await sso.service.ask({ method: 'PATCH', path: one, key, body: changed }),
      await sso.service.ask({ path: one, key }),
    ]
    deepEqual(
      answers.map(({ status }) => status),
      [201, 200, 200],
    )
    const rows = [
      await sso.service.db.selectFrom('audit').selectAll().execute(),
      await sso.service.db.selectFrom('connections').selectAll().execute(),
      await sso.service.db.selectFrom('stored_answers').selectAll().execute(),
    ]
    equal(`${answers.map(({ text }) => text).join()}${JSON.stringify(rows)}`.includes('canary'), false)
  })

  test('a page finds the provider of an address by its domain, and says nothing of other addresses', async () => {
    await sso.connect()
    const find = async (email: string) =>
      (
        await sso.service.ask({
          method: 'POST',
          path: '/api/v1/session/sso',
          headers: { origin: 'https://ai.example.com', 'sec-fetch-site': 'same-origin' },
          body: { email },
        })
      ).body['location']
    match(String(await find('Anybody@ACME.example')), /^\/sso\/conn_\w+\/start$/)
    equal(await find('anybody@unknown.example'), null)
  })
})
