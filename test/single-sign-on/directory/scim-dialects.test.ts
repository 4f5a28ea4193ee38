// What directories of different makers send, and what comes of it. The requests are as Entra and Okta describe theirs.

import { deepEqual, equal } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createApiKey } from '../../../src/accounts/api-keys.ts'
import { createDirectory, rotateDirectoryToken } from '../../../src/accounts/directory/directories.ts'
import { setDirectoryMappings } from '../../../src/accounts/directory/mappings.ts'
import { setMemberSuspended } from '../../../src/accounts/leaving/suspend-member.ts'
import { createManagementKey, findManagementPrincipal } from '../../../src/accounts/management-keys.ts'
import { findMemberPrincipal, removeMember } from '../../../src/accounts/members.ts'
import type { MemberId } from '../../../src/core/ids.ts'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import { signInPerson } from '../../harness/sign-in.ts'
import {
  enterpriseSchema,
  openDirectory,
  operator,
  userSchema,
  type Fields,
  type TestDirectory,
} from './open-directory.ts'

onEachDatabase((database) => {
  let directory: TestDirectory
  before(async () => {
    directory = await openDirectory(await database.open())
  })
  after(() => directory.service.close())

  const read = async (path: string) => (await directory.ask('GET', path)).body
  const list = async (query: string) => {
    const { status, body } = await directory.ask('GET', query)
    equal(status, 200, JSON.stringify(body))
    return body as { totalResults: number; itemsPerPage: number; Resources: (Fields & { id: string })[] }
  }
  const filter = (path: string, text: string, more = '') => list(`${path}?filter=${encodeURIComponent(text)}${more}`)

  describe('a directory', () => {
    test('26 says true and false as texts, and what is to be done in capitals', async () => {
      const { id } = await directory.user({ active: 'True', emails: [{ value: 'a@b.example', primary: 'True' }] })
      equal((await read(`/Users/${id}`))['active'], true)
      const off = await directory.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' })
      deepEqual([off.status, off.body['active']], [200, false])
      equal((await directory.readMember(id)).isSuspended, true)
      const on = await directory.patch(`/Users/${id}`, { op: 'Add', path: 'active', value: [{ value: 'TRUE' }] })
      equal(on.body['active'], true)
      equal((await directory.readMember(id)).isSuspended, false)
    })

    test('27 names parts, and attributes of an extension, in a value without a path', async () => {
      const { id } = await directory.user({ name: { familyName: 'Kept' } })
      const { body } = await directory.patch(`/Users/${id}`, {
        op: 'Replace',
        value: {
          'name.givenName': 'Given',
          [`${enterpriseSchema}:department`]: 'Tools',
          [enterpriseSchema]: { schemas: [enterpriseSchema], costCenter: '7', floor: '3' },
          [`${userSchema}:title`]: 'Dr.',
          'emails[type eq "work"].value': 'work@acme.example',
          'urn:example:made:1.0:User': { tag: 'x' },
        },
      })
      deepEqual(body['name'], { familyName: 'Kept', givenName: 'Given' })
      deepEqual(body[enterpriseSchema], { department: 'Tools', costCenter: '7', floor: '3' })
      deepEqual([body['title'], body['emails']], ['Dr.', [{ type: 'work', value: 'work@acme.example' }]])
      deepEqual(body['schemas'], [userSchema, enterpriseSchema, 'urn:example:made:1.0:User'])
      const manager = { op: 'Add', path: `${enterpriseSchema}:manager`, value: id }
      const managed = await directory.patch(`/Users/${id}`, manager)
      deepEqual((managed.body[enterpriseSchema] as Fields)['manager'], { value: id })
      const without = await directory.patch(`/Users/${id}`, { op: 'Remove', path: `${enterpriseSchema}:department` })
      equal('department' in (without.body[enterpriseSchema] as Fields), false)
    })

    test('28 takes members away by a list of values and by a filter, and each takes their role', async () => {
      const [one, two] = [await directory.user(), await directory.user()]
      const { service, organizationId } = directory
      const mappings = [{ group: 'Admins', role: 'admin', projectIds: [] }] as const
      await setDirectoryMappings(service.accounts, operator, { id: directory.id, organizationId }, mappings)
      const { id } = await directory.group('Admins', [one.id, two.id])
      const roles = async () => [(await directory.readMember(one.id)).role, (await directory.readMember(two.id)).role]
      deepEqual(await roles(), ['admin', 'admin'])
      const ways = [
        [
          { op: 'Remove', path: 'members', value: [{ value: one.id }] },
          { op: 'Remove', path: 'members', value: [{ $ref: null, value: two.id }] },
        ],
        [one, two].map((user) => ({ op: 'remove', path: `members[value eq "${user.id}"]` })),
        [{ op: 'remove', path: 'members' }],
        [{ op: 'replace', path: 'members', value: [] }],
        [{ op: 'replace', value: { members: [] } }],
      ]
      for (const operations of ways) {
        equal((await directory.patch(`/Groups/${id}`, ...operations)).status < 300, true)
        deepEqual(await roles(), ['developer', 'developer'])
        equal('members' in (await read(`/Groups/${id}`)), false)
        const value = [{ value: one.id }, { value: two.id }]
        await directory.patch(`/Groups/${id}`, { op: 'Add', path: 'members', value })
        deepEqual(await roles(), ['admin', 'admin'])
      }
      await directory.patch(`/Groups/${id}`, { op: 'remove', path: 'members', value: [{ value: 'mem_nobody' }] })
      deepEqual(await roles(), ['admin', 'admin'])
      await directory.ask('DELETE', `/Groups/${id}`)
      deepEqual(await roles(), ['developer', 'developer'])
      await setDirectoryMappings(service.accounts, operator, { id: directory.id, organizationId }, [])
    })

    test('leaves an id out of a group that can be nobody’s, and takes the others', async () => {
      const { id: userId } = await directory.user()
      const { id } = await directory.group('Sales')
      const value = [{ value: 'fake-member-id' }, { value: userId }]
      equal((await directory.patch(`/Groups/${id}`, { op: 'add', path: 'members', value })).status, 200)
      const members = (await read(`/Groups/${id}`))['members'] as { value: string }[]
      deepEqual(
        members.map((member) => member.value),
        [userId],
      )
      const nobody = [{ value: 'fake-member-id' }]
      equal((await directory.patch(`/Groups/${id}`, { op: 'add', path: 'members', value: nobody })).status, 200)
    })

    test('29 changes a value of a kind that is not there yet', async () => {
      const { id } = await directory.user()
      const add = (path: string, value: string) => directory.patch(`/Users/${id}`, { op: 'Replace', path, value })
      await add('emails[type eq "work"].value', 'one@acme.example')
      await add('emails[type eq "work"].value', 'two@acme.example')
      await add('phoneNumbers[type eq "mobile" and primary eq "True"].value', '+1 555')
      const { emails, phoneNumbers } = await read(`/Users/${id}`)
      deepEqual(emails, [{ type: 'work', value: 'two@acme.example' }])
      deepEqual(phoneNumbers, [{ type: 'mobile', primary: true, value: '+1 555' }])
      equal((await directory.readMember(id)).email, 'two@acme.example')
    })

    test('30 makes somebody who is not let in yet', async () => {
      const { id } = await directory.user({ active: false })
      deepEqual([(await read(`/Users/${id}`))['active'], (await directory.readMember(id)).isSuspended], [false, true])
      equal(await findMemberPrincipal(directory.service.accounts, id), null)
    })

    test('31 gives roles anew when somebody comes back and when a group has another name', async () => {
      const { service, organizationId } = directory
      const { id } = await directory.user()
      const group = await directory.group('Auditors of old', [id])
      const mappings = [{ group: 'Auditors', role: 'auditor', projectIds: [] }] as const
      await setDirectoryMappings(service.accounts, operator, { id: directory.id, organizationId }, mappings)
      const role = async () => (await directory.readMember(id)).role
      equal(await role(), 'developer')
      await directory.patch(`/Groups/${group.id}`, { op: 'replace', value: { id: group.id, displayName: 'Auditors' } })
      equal(await role(), 'auditor')
      await directory.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })
      await service.db.updateTable('members').set({ role: 'billing' }).where('id', '=', id).execute()
      await directory.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true })
      equal(await role(), 'auditor')
      await directory.patch(`/Groups/${group.id}`, { op: 'replace', path: 'displayName', value: 'Nobody' })
      equal(await role(), 'developer')
      await setDirectoryMappings(service.accounts, operator, { id: directory.id, organizationId }, [])
    })

    test('32 still reads whom it has switched off', async () => {
      const { id, userName } = await directory.user({ title: 'Dr.' })
      await directory.patch(`/Users/${id}`, { op: 'replace', value: { active: false } })
      deepEqual(
        [(await read(`/Users/${id}`))['active'], (await filter('/Users', `userName eq "${userName}"`)).totalResults],
        [false, 1],
      )
    })

    test('33 leaves out members, and asks for parts alone', async () => {
      const { id, userName } = await directory.user({ name: { givenName: 'G', familyName: 'F' }, title: 'Dr.' })
      const group = await directory.group('Large', [id])
      for (const path of ['/Groups', `/Groups/${group.id}`]) {
        equal((await directory.ask('GET', `${path}?excludedAttributes=members`)).text.includes('"members"'), false)
      }
      const { body } = await directory.ask('GET', `/Users/${id}?attributes=USERNAME,name.givenName`)
      deepEqual(body, { schemas: [userSchema], id, userName, name: { givenName: 'G' } })
      const member = `id eq "${group.id}" and members eq "${id}"`
      equal((await filter('/Groups', member, '&excludedAttributes=members')).totalResults, 1)
      equal((await filter('/Groups', `members[value eq "${id}"]`)).Resources[0]?.id, group.id)
    })

    test('34 is answered a change of a group with the group, and with nothing where Entra asks and wants nothing of it', async () => {
      const { id } = await directory.group('Quiet')
      const operation = { op: 'add', path: 'externalId', value: 'q' }
      const plain = await directory.patch(`/Groups/${id}`, operation)
      deepEqual([plain.status, plain.body['displayName']], [200, 'Quiet'])
      for (const [query, op] of [
        ['', 'Add'],
        ['?aadOptscim062020', 'add'],
      ] as const) {
        const quiet = await directory.patch(`/Groups/${id}${query}`, { ...operation, op })
        deepEqual([quiet.status, quiet.text], [204, ''])
      }
      const asked = await directory.patch(`/Groups/${id}?attributes=displayName`, { ...operation, op: 'Add' })
      deepEqual([asked.status, asked.body['displayName'], asked.body['externalId']], [200, 'Quiet', undefined])
    })

    test('35 gets back what no schema has', async () => {
      const fields = { favouriteColour: 'green', 'urn:example:own:2.0:User': { floor: 3, tags: ['a', 'b'] } }
      const { id } = await directory.user(fields)
      const { favouriteColour, ...rest } = await read(`/Users/${id}`)
      equal(favouriteColour, 'green')
      deepEqual(rest['urn:example:own:2.0:User'], { floor: 3, tags: ['a', 'b'] })
      equal((await filter('/Users', 'urn:example:own:2.0:User:floor eq 3')).Resources[0]?.id, id)
    })

    test('36 is told of nobody with a list of nobody', async () => {
      const found = await filter('/Users', 'userName eq "nobody@acme.example"')
      deepEqual([found.totalResults, found.Resources], [0, []])
    })

    test('37 reads pages in which nobody is twice or missing while others are added', async () => {
      const fresh = await directory.another()
      const made: string[] = []
      for (let index = 0; index < 7; index++) made.push((await fresh.user()).id)
      const seen: string[] = []
      for (let start = 1; start <= 7; start += 3) {
        const { body } = await fresh.ask('GET', `/Users?startIndex=${start}&count=3`)
        seen.push(...(body['Resources'] as { id: string }[]).map(({ id }) => id))
        await fresh.user()
      }
      deepEqual(seen.slice(0, 7), made)
      const last = await fresh.ask('GET', '/Users?startIndex=10&count=3')
      deepEqual([last.body['totalResults'], last.body['itemsPerPage']], [10, 1])
    })

    test('makes somebody new of whom somebody here has removed', async () => {
      const { service, organizationId } = directory
      const first = await directory.user({ externalId: 'removed' })
      await removeMember(service.accounts, operator, { id: first.id, organizationId })
      equal((await directory.ask('GET', `/Users/${first.id}`)).status, 404)
      const second = await directory.user({ userName: first.userName, externalId: 'removed' })
      equal(second.id === first.id, false)
      equal((await directory.ask('GET', `/Users/${second.id}`)).status, 200)
    })

    test('38 makes somebody new of whom it had deleted, and no key comes back', async () => {
      const { service, organizationId } = directory
      const first = await directory.user({ externalId: 'again' })
      const project = await service.db
        .selectFrom('projects')
        .select('id')
        .where('organization_id', '=', organizationId)
        .executeTakeFirstOrThrow()
      const wanted = { name: 'k', organizationId, projectId: project.id, ownerId: first.id }
      const key = await createApiKey(service.accounts, operator, wanted)
      equal((await directory.ask('DELETE', `/Users/${first.id}`)).status, 204)
      equal((await directory.ask('GET', `/Users/${first.id}`)).status, 404)
      const second = await directory.user({ userName: first.userName, externalId: 'again' })
      equal(second.id === first.id, false)
      deepEqual((await directory.readMember(first.id)).isRemoved, true)
      equal((await service.ask({ path: '/v1/models', key: key.key })).status, 401)
    })
  })

  describe('whom a directory switches off', () => {
    const off = (id: string) => directory.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })
    const on = (id: string) => directory.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true })

    test('has no session and no key that works, and gets back exactly these keys', async () => {
      const { service, organizationId } = directory
      const { accounts } = service
      const { id } = await directory.user()
      await service.db.updateTable('members').set({ role: 'owner' }).where('id', '=', id).execute()
      const { id: projectId } = await service.db
        .selectFrom('projects')
        .select('id')
        .where('organization_id', '=', organizationId)
        .executeTakeFirstOrThrow()
      const principal = { kind: 'member', memberId: id, organizationId, role: 'owner', projectIds: [] } as const
      const key = await createApiKey(accounts, principal, { name: 'k', organizationId, projectId })
      const managing = { name: 'm', role: 'admin', organizationId, expiresAtMs: null } as const
      const made = await createManagementKey(accounts, principal, managing)
      const person = await signInPerson(accounts, { memberId: id })
      const works = async () => [
        (await service.ask({ path: '/v1/models', key: key.key })).status,
        (await findManagementPrincipal(accounts, made.key)) !== null,
        (await service.ask({ path: '/api/v1/session', headers: person.headers })).status,
      ]
      deepEqual(await works(), [200, true, 200])
      await off(id)
      deepEqual(await works(), [401, false, 401])
      await on(id)
      deepEqual(await works(), [200, true, 401])
    })

    test('is let in again by the directory alone, and whom somebody here has suspended is not', async () => {
      const { accounts } = directory.service
      const { organizationId } = directory
      const suspended = async (id: MemberId, isSuspended: boolean) =>
        setMemberSuspended(accounts, operator, { id, organizationId }, isSuspended).catch(
          (error: { code: string }) => error.code,
        )
      const { id } = await directory.user()
      await off(id)
      equal(await suspended(id, false), 'conflict')
      await on(id)
      await suspended(id, true)
      await on(id)
      await directory.patch(`/Users/${id}`, { op: 'add', path: 'title', value: 'x' })
      await off(id)
      await on(id)
      equal((await directory.readMember(id)).isSuspended, true)
      equal(await suspended(id, false), undefined)
      equal((await directory.readMember(id)).isSuspended, false)
    })
  })

  test('a directory finds its people by every way of comparing', async () => {
    const fresh = await directory.another()
    const fields = { title: 'Engineer', emails: [{ value: 'Ann@corp.example', type: 'work' }], active: false }
    const { id } = await fresh.user({ userName: 'ann', externalId: 'Ext', ...fields })
    const found = async (text: string) => {
      const { body } = await fresh.ask('GET', `/Users?filter=${encodeURIComponent(text)}`)
      return (body['Resources'] as { id: string }[] | undefined)?.some((one) => one.id === id)
    }
    const yes = [
      'userName eq "ANN"',
      'UserName Eq "ann"',
      `${userSchema}:userName eq "ann"`,
      'externalId eq "Ext" and title co "gin"',
      'title sw "eng" and title ew "EER"',
      'title ne "Boss"',
      'title gt "Eng" and title le "engineer"',
      'not (title eq "Boss") and (userName eq "x" or userName eq "ann")',
      'emails[type eq "work" and value co "@corp"]',
      'emails.value eq "ann@CORP.example"',
      'emails co "corp"',
      'emails pr and title pr',
      'active eq false',
      'active eq "False"',
      'meta.created gt "1960-01-01T00:00:00Z"',
      'nickName eq null',
      `id eq "${id}"`,
    ]
    for (const text of yes) equal(await found(text), true, text)
    const no = [
      'externalId eq "ext"',
      'nickName pr',
      'active eq true',
      'emails[type eq "home" and value co "@corp"]',
      'title eq null',
      'title gt 5',
      'not (userName eq "ann")',
      'emails[type eq "work"] and title eq "Boss"',
    ]
    for (const text of no) equal(await found(text), false, text)
  })

  test('a search is a list whose terms stand in a body', async () => {
    const fresh = await directory.another()
    const [ann, bob] = [
      await fresh.user({ userName: 'ann@x.example' }),
      await fresh.user({ userName: 'bob@x.example' }),
    ]
    const group = await fresh.group('all', [ann.id, bob.id])
    const search = async (path: string, terms: Fields) => {
      const { body } = await fresh.ask('POST', `${path}/.search`, terms)
      const ids = (body['Resources'] as { id: string }[]).map(({ id }) => id)
      return { ids, total: body['totalResults'] }
    }
    deepEqual(await search('/Users', { filter: 'userName sw "b"' }), { ids: [bob.id], total: 1 })
    deepEqual(await search('', { startIndex: 2, count: 2 }), { ids: [bob.id, group.id], total: 3 })
    deepEqual(await search('', { startIndex: 3, count: 5 }), { ids: [group.id], total: 3 })
  })

  test('what a directory was refused stands among its conflicts, and what it did in the audit', async () => {
    const fresh = await directory.another()
    const { id, userName } = await fresh.user()
    await fresh.ask('POST', '/Users', { userName })
    const { service, organizationId } = fresh
    const path = `/api/v1/organizations/${organizationId}/directories/${fresh.id}`
    const conflicts = (await service.ask({ path: `${path}/conflicts`, key: service.key })).body['data'] as Fields[]
    deepEqual(
      conflicts.map(({ status, method, path: at }) => [status, method, at]),
      [[409, 'POST', '/scim/v2/Users']],
    )
    const found = await service.ask({ path, key: service.key })
    deepEqual([found.body['users'], found.body['activeUsers'], found.body['groups']], [1, 1, 0])
    const rows = await service.db
      .selectFrom('audit')
      .select(['action', 'target'])
      .where('organization_id', '=', organizationId)
      .where('actor', '=', fresh.id)
      .execute()
    deepEqual(
      rows.map(({ action, target }) => [action, target]),
      [['members:create', id]],
    )
  })

  test('in a list of directories each has its own users, groups and tokens', async () => {
    const fresh = await directory.another()
    const { service, organizationId } = fresh
    const { id } = await fresh.user()
    await fresh.user({ active: false })
    await fresh.group('all', [id])
    await rotateDirectoryToken(service.accounts, operator, { id: fresh.id, organizationId }, 60_000)
    service.clock.advance(1)
    await createDirectory(service.accounts, operator, { organizationId, name: 'Second', defaultRole: 'developer' })
    const path = `/api/v1/organizations/${organizationId}/directories`
    const found = (await service.ask({ path, key: service.key })).body['data'] as (Fields & { tokens: Fields[] })[]
    deepEqual(
      found.map(({ name, users, activeUsers, groups, tokens }) => [name, users, activeUsers, groups, tokens.length]),
      [
        ['Directory', 2, 1, 1, 2],
        ['Second', 0, 0, 0, 1],
      ],
    )
  })
})
