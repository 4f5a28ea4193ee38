// What an admin who may do a part of it alone can bring about by a provider that they look after: nothing of anybody who may
// do more than they.

import { deepEqual, equal } from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { createMember, findMemberPrincipal, setMemberRole } from '../../src/accounts/members.ts'
import { createConnection, setConnectionOn, updateConnection } from '../../src/accounts/single-sign-on/connections.ts'
import { setMappings, type GroupMapping } from '../../src/accounts/single-sign-on/group-mappings.ts'
import { previewConnectionMappings } from '../../src/accounts/single-sign-on/preview-mappings.ts'
import type { ConnectionId, MemberId, OrganizationId } from '../../src/core/ids.ts'
import { permissions, reachByRole } from '../../src/core/permission.ts'
import type { MemberPrincipal } from '../../src/core/principal.ts'
import type { Role } from '../../src/core/role.ts'
import { onEachDatabase } from '../harness/databases/databases.ts'
import { testSignIn } from '../harness/management.ts'
import { signInPerson } from '../harness/sign-in.ts'
import { newConnection } from '../http/api/sso-things.ts'
import { newMemberOfPart } from '../http/api/world.ts'
import { openSso, type Sso, type SsoBrowser } from './open-sso.ts'

const operator = { kind: 'operator' } as const

onEachDatabase((database) => {
  let sso: Sso
  let organizationId: OrganizationId
  /** May give developers their role, and look after connections. */
  let confined: MemberPrincipal
  let owner: MemberPrincipal
  let connectionId: ConnectionId
  before(async () => {
    sso = await openSso(await database.open())
    const { accounts } = sso.service
    organizationId = sso.company.organizationId
    owner = sso.company.members.owner
    const granted = permissions.filter((one) => reachByRole(one).developer !== 'none')
    const wanted = [...granted, 'connections:create', 'connections:update'] as const
    const id = await newMemberOfPart(accounts, sso.company, { base: 'admin', permissions: wanted })
    confined = (await findMemberPrincipal(accounts, id)) as MemberPrincipal
  })
  beforeEach(async () => {
    connectionId = await createConnection(parts(), confined, {
      ...newConnection,
      issuer: sso.provider.issuer,
      organizationId,
    })
    await setConnectionOn(parts(), confined, refer(connectionId), true)
  })
  after(() => sso.close())
  afterEach(() => {
    sso.provider.lie = {}
  })

  const parts = () => ({ ...sso.service.accounts, signIn: testSignIn })
  const refer = <Id extends string>(id: Id) => ({ id, organizationId })
  let count = 0
  const person = () => {
    count += 1
    return { sub: `person-${count}`, email: `person${count}@acme.example` }
  }
  const attempt = async (claims: Record<string, unknown>, browser = sso.browser(), begun?: string) => {
    sso.provider.lie = { claims: (truth) => ({ ...truth, ...claims }) }
    const begin = begun ?? (await browser.begin(connectionId))
    const { status } = await browser.back(connectionId, sso.provider.authorize(begin))
    return { browser, isIn: status === 303 }
  }
  /** A member who has linked their identity, as whom they sign in by the provider. */
  const linked = async (role: Role) => {
    const who = person()
    const given = { organizationId, email: who.email, name: 'M', role }
    const memberId = await createMember(sso.service.accounts, operator, given)
    const { headers } = await signInPerson(sso.service.accounts, { memberId })
    const browser = sso.browser()
    const [name = '', value = ''] = (headers['cookie'] ?? '').split('=')
    browser.cookies.set(name, value)
    const begun = await browser.ask('POST', 'me/identities', { connectionId })
    equal((await attempt(who, browser, String(begun.body['location']))).isIn, true)
    return { ...who, memberId }
  }
  const memberOf = async (browser: SsoBrowser) => {
    const { body } = await browser.ask('GET', 'session')
    const [membership] = (body['memberships'] ?? []) as { memberId: MemberId; role: Role; projectIds: string[] }[]
    return membership
  }
  const lastCode = async () => {
    const attempts = sso.service.db.selectFrom('login_attempts').select('code')
    const of = attempts.where('connection_id', '=', connectionId)
    return (await of.where('outcome', '=', 'refused').orderBy('at', 'desc').executeTakeFirst())?.code
  }
  const roleAt = async (claims: Record<string, unknown>) => (await memberOf((await attempt(claims)).browser))?.role
  const map = (mapper: MemberPrincipal, mappings: readonly GroupMapping[]) =>
    setMappings(parts(), mapper, refer(connectionId), mappings)

  describe('group mappings', () => {
    test('of such an admin change those whom they could change, and nobody else', async () => {
      const { siblingId } = sso.company
      const mappings = [{ group: 'staff', role: 'developer', projectIds: [siblingId] }] as const
      await map(confined, mappings)
      const [admin, biller, developer] = [await linked('admin'), await linked('billing'), await linked('developer')]
      for (const groups of [['staff'], []]) {
        equal(await roleAt({ ...admin, groups }), 'admin')
        equal(await roleAt({ ...biller, groups }), 'billing')
      }
      const mapped = await memberOf((await attempt({ ...developer, groups: ['staff'] })).browser)
      deepEqual([mapped?.role, mapped?.projectIds], ['developer', [siblingId]])
      await attempt({ ...developer, groups: [] })
      await attempt({ ...admin, groups: ['staff'] })
      const asked = { mappings, groups: null }
      const changed = async (asker: MemberPrincipal) => {
        const { changes } = await previewConnectionMappings(parts(), asker, refer(connectionId), asked)
        return changes.map(({ id }) => id)
      }
      // A full admin’s mappings do not make the provider theirs.
      deepEqual([await changed(confined), await changed(owner)], [[], []])
      await setConnectionOn(parts(), owner, refer(connectionId), true)
      equal(await roleAt({ ...admin, groups: ['staff'] }), 'admin')
      deepEqual(await changed(confined), [])
      deepEqual((await changed(owner)).toSorted(), [admin.memberId, biller.memberId].toSorted())
      await map(owner, mappings)
      equal(await roleAt({ ...admin, groups: ['staff'] }), 'developer')
    })

    test('of a full admin raise nobody by the word of a provider for which such an admin answers', async () => {
      await map(owner, [{ group: 'admins', role: 'admin', projectIds: [] }])
      const developer = await linked('developer')
      equal(await roleAt({ ...developer, groups: ['admins'] }), 'developer')
      await setConnectionOn(parts(), owner, refer(connectionId), true)
      equal(await roleAt({ ...developer, groups: ['admins'] }), 'admin')
    })

    test('count as such an admin’s when they have said where the groups stand, or what everybody else is', async () => {
      await setConnectionOn(parts(), owner, refer(connectionId), true)
      const mappings = [{ group: 'admins', role: 'admin', projectIds: [] }] as const
      const before = { groupsClaim: 'groups', defaultRole: 'auditor' } as const
      for (const changes of [{ groupsClaim: 'department' }, { defaultRole: 'developer' }] as const) {
        await updateConnection(parts(), owner, refer(connectionId), before)
        await map(owner, mappings)
        const claims = { department: ['admins'], groups: ['admins'] }
        equal(await roleAt({ ...(await linked('developer')), ...claims }), 'admin')
        await updateConnection(parts(), confined, refer(connectionId), { name: 'Another name', groupsClaim: 'groups' })
        equal(await roleAt({ ...(await linked('developer')), ...claims }), 'admin')
        await updateConnection(parts(), confined, refer(connectionId), changes)
        equal(await roleAt({ ...(await linked('developer')), ...claims }), 'developer')
      }
    })
  })

  describe('a member whom the provider has brought', () => {
    test('is out of its reach when they may do more than whoever answers for it', async () => {
      const who = person()
      const { browser } = await attempt(who)
      const id = (await memberOf(browser))?.memberId as MemberId
      await setMemberRole(sso.service.accounts, operator, refer(id), 'admin')
      equal((await browser.ask('GET', 'session')).status, 401)
      deepEqual([(await attempt(who)).isIn, await lastCode()], [false, 'above-answerer'])
      await setConnectionOn(parts(), confined, refer(connectionId), true)
      equal((await attempt(who)).isIn, false)
      await setMemberRole(sso.service.accounts, operator, refer(id), 'developer')
      equal(await roleAt(who), 'developer')
      await setMemberRole(sso.service.accounts, operator, refer(id), 'admin')
      await setConnectionOn(parts(), owner, refer(connectionId), true)
      equal(await roleAt(who), 'admin')
      // Whoever says anew which provider it is answers for it anew.
      const again = await attempt(who)
      await updateConnection(parts(), confined, refer(connectionId), { scopes: 'openid email' })
      equal((await again.browser.ask('GET', 'session')).status, 401)
    })

    test('comes in as what they are when they have linked their identity themselves', async () => {
      const admin = await linked('admin')
      equal(await roleAt(admin), 'admin')
      await setMemberRole(sso.service.accounts, operator, refer(admin.memberId), 'owner')
      equal(await roleAt(admin), 'owner')
    })
  })
})
