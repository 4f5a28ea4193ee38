// What a directory is refused. Each is one difference away from a request that is carried out.

import { deepEqual, equal, match } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createApiKey } from '../../../src/accounts/api-keys.ts'
import { rotateDirectoryToken } from '../../../src/accounts/directory/directories.ts'
import { setOrganizationDisabled } from '../../../src/accounts/organizations.ts'
import type { Answer } from '../../harness/management-service.ts'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import { signInPerson } from '../../harness/sign-in.ts'
import { openDirectory, operator, userSchema, type TestDirectory } from './open-directory.ts'

onEachDatabase((database) => {
  let directory: TestDirectory
  let other: TestDirectory
  before(async () => {
    directory = await openDirectory(await database.open())
    other = await directory.another()
  })
  after(() => directory.service.close())

  /** Everything that a directory could have changed. */
  const snapshot = async () => {
    const tables = ['members', 'directory_users', 'directory_groups', 'directory_group_members'] as const
    const rows = []
    for (const table of tables) rows.push(await directory.service.db.selectFrom(table).selectAll().execute())
    return JSON.stringify(rows)
  }
  /** Throws unless an answer is an error as SCIM has it. */
  const isRefused = ({ status, body, headers, text }: Answer, expected: number, scimType?: string) => {
    deepEqual([status, body['scimType']], [expected, scimType], text)
    deepEqual(body['schemas'], ['urn:ietf:params:scim:api:messages:2.0:Error'])
    equal(body['status'], String(expected))
    match(String(body['detail']), /\w/)
    match(String(headers['content-type']), /^application\/scim\+json/)
  }
  /** Tells that a request is refused and has changed nothing. */
  const refuses = async (expected: number, scimType: string | undefined, ask: () => Promise<Answer>) => {
    const known = await snapshot()
    isRefused(await ask(), expected, scimType)
    equal(await snapshot(), known)
  }

  describe('a directory is refused', () => {
    test('1 without a token, and with one that is shown in another way', async () => {
      for (const authorization of [undefined, `Basic ${directory.token}`, directory.token, 'Bearer', 'Bearer x']) {
        const headers = authorization === undefined ? {} : { authorization }
        const answer = await directory.ask('GET', '/Users', undefined, { headers, token: null })
        isRefused(answer, 401)
        equal(answer.headers['www-authenticate'], 'Bearer')
      }
      const shown = { headers: { 'x-api-key': directory.token }, token: null }
      isRefused(await directory.ask('GET', '/Users', undefined, shown), 401)
    })

    test('2 with a token that was replaced, that has ended, and that is of a disabled organization', async () => {
      const third = await directory.another()
      const { accounts, clock } = directory.service
      const reference = { id: third.id, organizationId: third.organizationId }
      const second = await rotateDirectoryToken(accounts, operator, reference, 60_000)
      equal((await third.ask('GET', '/Users')).status, 200)
      clock.advance(60_000)
      isRefused(await third.ask('GET', '/Users'), 401)
      const newest = await rotateDirectoryToken(accounts, operator, reference, 0)
      isRefused(await third.ask('GET', '/Users', undefined, { token: second }), 401)
      equal((await third.ask('GET', '/Users', undefined, { token: newest })).status, 200)
      const { organizationId } = third
      await setOrganizationDisabled(accounts, operator, { organizationId, isDisabled: true })
      isRefused(await third.ask('GET', '/Users', undefined, { token: newest }), 401)
    })

    test('3 what is another organization’s, to read and to change', async () => {
      const { id } = await other.user()
      const group = await other.group('theirs', [id])
      for (const path of [`/Users/${id}`, `/Groups/${group.id}`]) {
        await refuses(404, undefined, () => directory.ask('GET', path))
        await refuses(404, undefined, () => directory.ask('DELETE', path))
        await refuses(404, undefined, () => directory.ask('PUT', path, { userName: 'x@y.example', displayName: 'x' }))
        await refuses(404, undefined, () => directory.patch(path, { op: 'replace', path: 'externalId', value: 'x' }))
      }
      const all = await directory.ask('GET', `/Users?filter=id eq "${id}"`)
      equal(all.body['totalResults'], 0)
    })

    test('4 somebody of another organization in a group', async () => {
      const { id } = await other.user()
      const group = await directory.group('ours alone')
      await refuses(400, 'invalidValue', () =>
        directory.ask('POST', '/Groups', { displayName: 'mixed', members: [{ value: id }] }),
      )
      await refuses(400, 'invalidValue', () =>
        directory.patch(`/Groups/${group.id}`, { op: 'add', path: 'members', value: [{ value: id }] }),
      )
      await refuses(400, 'invalidValue', () =>
        directory.ask('PUT', `/Groups/${group.id}`, { displayName: 'ours alone', members: [{ value: group.id }] }),
      )
    })

    test('5 a member whom it did not make and has not taken over', async () => {
      const id = await directory.member('hand@made.example')
      for (const target of [id, directory.ownerId]) {
        await refuses(404, undefined, () => directory.ask('GET', `/Users/${target}`))
        await refuses(404, undefined, () =>
          directory.patch(`/Users/${target}`, { op: 'replace', path: 'active', value: false }),
        )
        await refuses(404, undefined, () => directory.ask('DELETE', `/Users/${target}`))
      }
    })

    test('6 a member’s address that comes with another one of a domain that is not the organization’s', async () => {
      const { email } = await directory.readMember(directory.ownerId)
      const emails = [
        { value: email, primary: true },
        { value: 'attacker@evil.example', type: 'home' },
      ]
      await refuses(409, 'uniqueness', () => directory.ask('POST', '/Users', { userName: 'takeover', emails }))
      const id = await directory.member(email.replace('owner', 'adopted'))
      const adopted = await directory.user({ userName: email.replace('owner', 'adopted') })
      equal(adopted.id, id)
      const value = [{ value: email.replace('owner', 'attacker'), primary: true }]
      await directory.patch(`/Users/${id}`, { op: 'replace', path: 'emails', value })
      equal((await directory.readMember(id)).email, email.replace('owner', 'adopted'))
    })

    test('7 a member’s address of a domain that is not verified', async () => {
      await directory.member('known@unverified.example')
      const userName = 'known@unverified.example'
      await refuses(409, 'uniqueness', () => directory.ask('POST', '/Users', { userName }))
    })

    test('8 the end of the last owner, and of the one who comes in where the provider fails', async () => {
      const third = await directory.another()
      const { email } = await third.readMember(third.ownerId)
      await third.user({ userName: email })
      const ways = [
        () => third.patch(`/Users/${third.ownerId}`, { op: 'replace', path: 'active', value: false }),
        () => third.ask('PUT', `/Users/${third.ownerId}`, { userName: email, active: false }),
        () => third.ask('DELETE', `/Users/${third.ownerId}`),
      ]
      const { db } = directory.service
      const rows = () =>
        db
          .selectFrom('audit')
          .select('after')
          .where('organization_id', '=', third.organizationId)
          .where('action', '=', 'directories:refuse')
          .execute()
      for (const way of ways) await refuses(409, undefined, way)
      equal((await rows()).length, 3)
      await third.member(email.replace('owner', 'second'), 'owner')
      const glass = { id: 'conn_glass', organization_id: third.organizationId, break_glass_id: third.ownerId } as const
      await db
        .insertInto('connections')
        .values({ ...glass, ...plainConnection })
        .execute()
      for (const way of ways) await refuses(409, undefined, way)
      await db.deleteFrom('connections').where('id', '=', 'conn_glass').execute()
      equal((await ways[0]?.())?.status, 200)
      equal((await third.readMember(third.ownerId)).isSuspended, true)
    })

    test('9 roles that sound like an owner’s', async () => {
      const { id } = await directory.user()
      for (const role of ['owner', 'Owner', ' owner ']) {
        for (const roles of [[{ value: role }], [role], [{ value: 'x', display: role }]]) {
          await refuses(400, 'invalidValue', () => directory.ask('POST', '/Users', { userName: 'o@x.example', roles }))
          await refuses(400, 'invalidValue', () =>
            directory.patch(`/Users/${id}`, { op: 'add', path: 'roles', value: roles }),
          )
        }
      }
      const roles = [{ value: 'admin', primary: true }]
      const admin = await directory.user({ roles, groups: [{ value: 'grp_owners' }], role: 'owner' })
      equal((await directory.readMember(admin.id)).role, 'developer')
    })

    test('10 and 11 a second user of the same name, also in other capitals', async () => {
      const { userName } = await directory.user({ userName: 'Twice@acme.example', title: 'first' })
      for (const name of [userName, 'twice@ACME.example']) {
        await refuses(409, 'uniqueness', () => directory.ask('POST', '/Users', { userName: name, title: 'second' }))
      }
      const { id } = await directory.user()
      await refuses(409, 'uniqueness', () =>
        directory.patch(`/Users/${id}`, { op: 'replace', path: 'userName', value: 'TWICE@acme.example' }),
      )
    })

    test('12 a second group of the same name, made and renamed', async () => {
      await directory.group('Engineers')
      const { id } = await directory.group('Designers')
      await refuses(409, 'uniqueness', () => directory.ask('POST', '/Groups', { displayName: 'engineers' }))
      await refuses(409, 'uniqueness', () =>
        directory.patch(`/Groups/${id}`, { op: 'replace', value: { displayName: 'ENGINEERS' } }),
      )
      await refuses(409, 'uniqueness', () => directory.ask('PUT', `/Groups/${id}`, { displayName: 'Engineers' }))
    })

    test('13 what is ours to say', async () => {
      const fields = { id: 'mem_mine', meta: { version: 'W/"9"' }, groups: [{ value: 'grp_x' }] }
      const made = await directory.user(fields)
      equal(made.id === fields.id, false)
      equal('groups' in made, false)
      for (const path of ['id', 'meta', 'groups', 'meta.version']) {
        await refuses(400, 'mutability', () =>
          directory.patch(`/Users/${made.id}`, { op: 'replace', path, value: 'x' }),
        )
      }
      const put = await directory.ask('PUT', `/Users/${made.id}`, { ...fields, userName: made.userName })
      deepEqual([put.status, put.body['id']], [200, made.id])
    })

    test('14 changes that are none, that have no such target, and that are too many', async () => {
      const { id } = await directory.user()
      const path = `/Users/${id}`
      const invalid = [
        [{ op: 'move', path: 'title', value: 'x' }, 'invalidSyntax'],
        [{ path: 'title', value: 'x' }, 'invalidSyntax'],
        [{ op: 'add', path: 'noSuchThing', value: 'x' }, 'invalidPath'],
        [{ op: 'add', path: 'title[', value: 'x' }, 'invalidPath'],
        [{ op: 'add', path: 'title.sub', value: 'x' }, 'invalidPath'],
        [{ op: 'add', path: 'title[value eq "x"]', value: 'x' }, 'invalidPath'],
        [{ op: 'add', path: ['title'], value: 'x' }, 'invalidPath'],
        [{ op: 'remove' }, 'noTarget'],
        [{ op: 'replace', path: 'emails[value sw "x"].display', value: 'x' }, 'noTarget'],
        [{ op: 'replace', value: 'x' }, 'invalidValue'],
        [{ op: 'replace', path: 'active', value: 'perhaps' }, 'invalidValue'],
        [{ op: 'replace', path: 'title', value: { x: 1 } }, 'invalidValue'],
        [{ op: 'remove', path: 'userName' }, 'invalidValue'],
        [{ op: 'remove', path: 'active' }, 'mutability'],
      ] as const
      for (const [operation, scimType] of invalid) await refuses(400, scimType, () => directory.patch(path, operation))
      await refuses(400, 'invalidSyntax', () => directory.ask('PATCH', path, { Operations: [] }))
      await refuses(400, 'invalidSyntax', () => directory.ask('PATCH', path, [1]))
      const many = Array.from({ length: 1_001 }, () => ({ op: 'add', path: 'title', value: 'x' }))
      await refuses(413, 'tooMany', () => directory.patch(path, ...many))
    })

    test('15 filters that are too long, too deep, or none', async () => {
      await directory.user()
      const invalid = [
        `title eq "${'x'.repeat(4_096)}"`,
        `${'('.repeat(11)}title pr${')'.repeat(11)}`,
        `${'emails[not ('.repeat(6)}value pr${')]'.repeat(6)}`,
        `${'title pr and '.repeat(400)}`,
        `title eq "${'\\'.repeat(2_000)}`,
        'title',
        'title eq',
        'title is "x"',
        'title eq x',
        'eq "x"',
        'title eq "x" and',
        '(title pr',
        'title pr)',
        'emails[type eq "work"',
        'not title pr',
        'title eq "x" "y"',
        '"title" eq "x"',
        '',
        '()',
        'tïtle pr',
      ]
      for (const filter of invalid) {
        await refuses(400, 'invalidFilter', () => directory.ask('GET', `/Users?filter=${encodeURIComponent(filter)}`))
      }
    })

    test('16 a filter that would be something else in a database', async () => {
      const known = await directory.user()
      const values = ['" or "1" eq "1', "' or '1'='1", '%', '_', `${known.userName}\u0000`, '\\', ') or (id pr']
      for (const value of values) {
        for (const name of ['userName', 'externalId', 'id', 'title']) {
          const filter = encodeURIComponent(`${name} eq ${JSON.stringify(value)}`)
          const { status, body } = await directory.ask('GET', `/Users?filter=${filter}`)
          deepEqual([status, body['totalResults']], [200, 0], value)
        }
      }
      const raw = encodeURIComponent('userName eq "" or "1" eq "1"')
      isRefused(await directory.ask('GET', `/Users?filter=${raw}`), 400, 'invalidFilter')
    })

    test('17 pages of less than nothing and of more than there may be', async () => {
      const { body } = await directory.ask('GET', '/Users?count=-1&startIndex=-5')
      deepEqual([body['Resources'], body['startIndex']], [[], 1])
      equal(Number(body['totalResults']) > 0, true)
      const many = await directory.ask('GET', '/Users?count=999999999999&startIndex=1')
      equal((many.body['Resources'] as unknown[]).length <= 200, true)
      for (const query of ['count=x', 'count=1.5', 'startIndex=1e3']) {
        isRefused(await directory.ask('GET', `/Users?${query}`), 400, 'invalidValue')
      }
    })

    test('18 many at once, as is announced, and what would be about itself', async () => {
      isRefused(await directory.ask('POST', '/Bulk', { Operations: [] }), 501)
      isRefused(await directory.ask('GET', '/Me'), 501)
      const { body } = await directory.ask('GET', '/ServiceProviderConfig')
      equal((body['bulk'] as Record<string, unknown>)['supported'], false)
    })

    test('19 a password is neither kept nor told', async () => {
      const secret = 'correct horse battery'
      const { id } = await directory.user({ password: secret, [`${userSchema}:password`]: secret })
      await directory.patch(`/Users/${id}`, { op: 'replace', path: 'password', value: secret })
      await directory.patch(`/Users/${id}`, { op: 'replace', value: { Password: secret, title: 'x' } })
      equal((await directory.ask('GET', `/Users/${id}?attributes=password`)).text.includes(secret), false)
      equal((await snapshot()).includes(secret), false)
    })

    test('20 what is no JSON', async () => {
      const body = JSON.stringify({ userName: 'typed@acme.example' })
      for (const type of ['application/xml', 'text/plain', 'application/x-www-form-urlencoded']) {
        const headers = { 'content-type': type }
        await refuses(415, undefined, () => directory.ask('POST', '/Users', body, { headers }))
      }
      await refuses(400, 'invalidSyntax', () => directory.ask('POST', '/Users', '<user/>'))
      await refuses(400, 'invalidSyntax', () => directory.ask('POST', '/Users', '[]'))
    })

    test('21 what is too large and too deep', async () => {
      const fields = { userName: 'large@acme.example' }
      await refuses(413, undefined, () => directory.ask('POST', '/Users', { ...fields, title: 'x'.repeat(1_048_576) }))
      await refuses(413, undefined, () => directory.ask('POST', '/Users', { ...fields, title: 'x'.repeat(70_000) }))
      const deep = JSON.parse(`${'{"a":'.repeat(21)}1${'}'.repeat(21)}`) as unknown
      await refuses(400, 'invalidSyntax', () => directory.ask('POST', '/Users', { ...fields, deep }))
    })

    test('22 a change of a version that there was', async () => {
      const user = await directory.user()
      const { headers } = await directory.patch(`/Users/${user.id}`, { op: 'add', path: 'title', value: 'x' })
      equal(headers['etag'], 'W/"2"')
      const old = { headers: { 'if-match': 'W/"1"' } }
      const path = `/Users/${user.id}`
      const body = { userName: user.userName }
      await refuses(412, undefined, () => directory.ask('PUT', path, body, old))
      await refuses(412, undefined, () => directory.ask('DELETE', path, undefined, old))
      const group = await directory.group('versions')
      await directory.patch(`/Groups/${group.id}`, { op: 'add', path: 'externalId', value: 'x' })
      await refuses(412, undefined, () => directory.ask('DELETE', `/Groups/${group.id}`, undefined, old))
      const now = { headers: { 'if-match': 'W/"1" , W/"2"' } }
      equal((await directory.ask('PUT', path, body, now)).status, 200)
      equal((await directory.ask('GET', path, undefined, { headers: { 'if-none-match': 'W/"3"' } })).status, 304)
    })

    test('23 another user’s own name in the directory', async () => {
      await directory.user({ externalId: 'ext-1' })
      const { id } = await directory.user({ externalId: 'ext-2' })
      await refuses(409, 'uniqueness', () =>
        directory.patch(`/Users/${id}`, { op: 'replace', path: 'externalId', value: 'ext-1' }),
      )
      await refuses(409, 'uniqueness', () =>
        directory.ask('POST', '/Users', { userName: 'third@acme.example', externalId: 'ext-1' }),
      )
      equal((await directory.user({ externalId: 'EXT-1' })).userName.length > 0, true)
    })

    test('24 all of a change of which a part fails', async () => {
      const { id } = await directory.user()
      await refuses(400, 'invalidPath', () =>
        directory.patch(
          `/Users/${id}`,
          { op: 'replace', path: 'title', value: 'changed' },
          { op: 'replace', path: 'active', value: false },
          { op: 'replace', path: 'nothing.here', value: 'x' },
        ),
      )
      const group = await directory.group('half')
      await refuses(400, 'invalidValue', () =>
        directory.patch(
          `/Groups/${group.id}`,
          { op: 'replace', path: 'displayName', value: 'changed' },
          { op: 'add', path: 'members', value: [{ value: id }, { value: 'mem_nobody' }] },
        ),
      )
    })

    test('25 with a key for models, a management key, and a session', async () => {
      const { accounts, key, createKey } = directory.service
      const { organizationId } = directory
      const { id: projectId } = await accounts.db
        .selectFrom('projects')
        .select('id')
        .where('organization_id', '=', organizationId)
        .executeTakeFirstOrThrow()
      const apiKey = await createApiKey(accounts, operator, { name: 'k', organizationId, projectId })
      for (const token of [apiKey.key, key, await createKey('owner', organizationId)]) {
        isRefused(await directory.ask('GET', '/Users', undefined, { token }), 401)
      }
      const { headers } = await signInPerson(accounts, { memberId: directory.ownerId })
      isRefused(await directory.ask('GET', '/Users', undefined, { headers, token: null }), 401)
      // Nor does the token open anything else.
      const path = `/api/v1/organizations/${organizationId}/members`
      equal((await directory.service.ask({ path, key: directory.token })).status, 401)
      equal((await directory.service.ask({ path: '/v1/models', key: directory.token })).status, 401)
    })

    test('ids and paths with the one character that PostgreSQL keeps in no text', async () => {
      for (const path of ['/Users/mem_%00', '/Groups/grp_%00']) {
        await refuses(404, undefined, () => directory.ask('GET', path))
        await refuses(404, undefined, () => directory.ask('DELETE', path))
        await refuses(404, undefined, () => directory.patch(path, { op: 'replace', path: 'externalId', value: 'x' }))
      }
      const members = [{ value: 'mem_\u0000' }]
      await refuses(400, 'invalidValue', () => directory.ask('POST', '/Groups', { displayName: 'nobody’s', members }))
      const { id } = await directory.group('somebody’s')
      await refuses(400, 'invalidValue', () =>
        directory.patch(`/Groups/${id}`, { op: 'add', path: 'members', value: members }),
      )
      await refuses(400, 'invalidPath', () =>
        directory.patch(`/Groups/${id}`, { op: 'replace', path: 'a\u0000', value: 'x' }),
      )
    })

    test('at addresses and in ways that there are not', async () => {
      isRefused(await directory.ask('GET', '/Nothing'), 404)
      const { status, headers } = await directory.ask('DELETE', '/Users')
      deepEqual([status, headers['allow']], [405, 'GET, POST'])
    })
  })
})

const plainConnection = {
  kind: 'oidc',
  name: 'x',
  state: 'on',
  issuer: 'https://idp.example.com',
  client_id: '',
  secret_sealed: '',
  token_auth: 'client_secret_basic',
  signing_algorithm: 'RS256',
  scopes: 'openid',
  tenant: null,
  groups_claim: 'groups',
  makes_members: 0,
  default_role: 'developer',
  enforced_at: 1,
  tested_by: null,
  tested_at: null,
  created_at: 1,
} as const
