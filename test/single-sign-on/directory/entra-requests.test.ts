// What Microsoft Entra sends a directory, request by request, in the order in which its documentation and the list of its
// SCIM validator have them, and what it expects.

import { deepEqual, equal, ok, partialDeepStrictEqual } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import type { Answer } from '../../harness/management-service.ts'
import { enterpriseSchema, groupSchema, openDirectory, userSchema, type Fields } from './open-directory.ts'
import type { TestDirectory } from './open-directory.ts'

const adGroupSchema = 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'
const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

type Check = (answer: Answer, ids: ReadonlyMap<string, string>) => void

type Row = {
  readonly what: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With names in braces for the ids of what was made before. */
  readonly path: string
  readonly body?: Fields
  readonly status: number
  /** What stands in the answer, beside other things. */
  readonly told?: Fields
  /** The name that the id of what is made has from here on. */
  readonly makes?: string
  readonly check?: Check
}

function patch(...Operations: readonly Fields[]): Fields {
  return { schemas: [patchSchema], Operations }
}

function found(ids: readonly string[]): Check {
  return ({ body }, known) => {
    const resources = body['Resources'] as readonly { readonly id: string }[]
    deepEqual([body['totalResults'], resources.map(({ id }) => id)], [ids.length, ids.map((name) => known.get(name))])
  }
}

const isEmpty: Check = ({ text }) => equal(text, '')

const ada = {
  schemas: [userSchema, enterpriseSchema],
  externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
  userName: 'Ada_ab6490ee@acme.example',
  active: true,
  emails: [{ primary: true, type: 'work', value: 'Ada_fd0ea19b@acme.example' }],
  meta: { resourceType: 'User' },
  name: { formatted: 'Ada Byron', familyName: 'Byron', givenName: 'Ada' },
  roles: [],
}

const engineers = {
  schemas: [groupSchema, adGroupSchema],
  externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
  displayName: 'Engineers',
  meta: { resourceType: 'Group' },
  members: [],
}

const rows: readonly Row[] = [
  {
    what: 'asks what may be spoken',
    method: 'GET',
    path: '/ServiceProviderConfig',
    status: 200,
    told: { patch: { supported: true }, filter: { supported: true } },
  },
  {
    what: 'asks for the schemas',
    method: 'GET',
    path: '/Schemas',
    status: 200,
    check({ body }) {
      const ids = (body['Resources'] as readonly { readonly id: string }[]).map(({ id }) => id)
      for (const schema of [userSchema, enterpriseSchema, groupSchema]) ok(ids.includes(schema), schema)
    },
  },
  {
    what: 'tries the token by a user who is not there',
    method: 'GET',
    path: '/Users?filter=userName eq "non-existent user"',
    status: 200,
    told: { totalResults: 0, startIndex: 1, itemsPerPage: 0, Resources: [] },
  },
  { what: 'reads a user who is not there', method: 'GET', path: '/Users/5171a35d82074e068ce2', status: 404 },
  {
    what: 'makes a user',
    method: 'POST',
    path: '/Users',
    body: ada,
    status: 201,
    makes: 'ada',
    told: { userName: ada.userName, externalId: ada.externalId, active: true, name: ada.name, emails: ada.emails },
  },
  { what: 'makes the same user again', method: 'POST', path: '/Users', body: ada, status: 409 },
  {
    what: 'makes their manager',
    method: 'POST',
    path: '/Users',
    body: { ...ada, userName: 'Mary_7f@acme.example', externalId: 'mary', emails: [] },
    status: 201,
    makes: 'mary',
  },
  {
    what: 'reads the user',
    method: 'GET',
    path: '/Users/{ada}',
    status: 200,
    told: { userName: ada.userName, meta: { resourceType: 'User' } },
  },
  {
    what: 'finds the user by name',
    method: 'GET',
    path: `/Users?filter=userName eq "${ada.userName}"`,
    status: 200,
    check: found(['ada']),
  },
  {
    what: 'finds the user by name in other capitals',
    method: 'GET',
    path: `/Users?filter=userName eq "${ada.userName.toUpperCase()}"`,
    status: 200,
    check: found(['ada']),
  },
  {
    what: 'finds the user by its own id',
    method: 'GET',
    path: `/Users?filter=externalId eq "${ada.externalId}"`,
    status: 200,
    check: found(['ada']),
  },
  {
    what: 'finds the user by the address at work',
    method: 'GET',
    path: '/Users?filter=emails[type eq "work"].value eq "ada_fd0ea19b@acme.example"',
    status: 200,
    check: found(['ada']),
  },
  {
    what: 'changes the address at work and a part of the name',
    method: 'PATCH',
    path: '/Users/{ada}',
    body: patch(
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updated@acme.example' },
      { op: 'Replace', path: 'name.familyName', value: 'Lovelace' },
    ),
    status: 200,
    told: { name: { familyName: 'Lovelace', givenName: 'Ada' }, emails: [{ value: 'updated@acme.example' }] },
  },
  {
    what: 'changes the name that the user has',
    method: 'PATCH',
    path: '/Users/{ada}',
    body: patch({ op: 'Replace', path: 'userName', value: '5b50642d@acme.example' }),
    status: 200,
    told: { userName: '5b50642d@acme.example' },
  },
  {
    what: 'adds attributes that were not there',
    method: 'PATCH',
    path: '/Users/{ada}',
    body: patch(
      { op: 'Add', path: 'displayName', value: 'Ada' },
      { op: 'Add', path: 'title', value: 'Analyst' },
      { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+44 1' },
      { op: 'Add', path: 'addresses[type eq "work"].locality', value: 'London' },
      { op: 'Add', path: `${enterpriseSchema}:department`, value: 'Engines' },
    ),
    status: 200,
    told: {
      displayName: 'Ada',
      title: 'Analyst',
      phoneNumbers: [{ type: 'mobile', value: '+44 1' }],
      addresses: [{ type: 'work', locality: 'London' }],
      [enterpriseSchema]: { department: 'Engines' },
    },
  },
  {
    what: 'changes several attributes by a value without a path',
    method: 'PATCH',
    path: '/Users/{ada}',
    body: patch({ op: 'replace', value: { title: 'Countess', 'name.formatted': 'Ada Lovelace' } }),
    status: 200,
    told: { title: 'Countess', name: { formatted: 'Ada Lovelace', givenName: 'Ada' } },
  },
  {
    what: 'adds a manager',
    method: 'PATCH',
    path: '/Users/{ada}',
    body: patch({
      op: 'Add',
      path: `${enterpriseSchema}:manager`,
      value: [{ $ref: 'https://ai.example.com/scim/v2/Users/{mary}', value: '{mary}' }],
    }),
    status: 200,
    check: ({ body }, ids) =>
      partialDeepStrictEqual(body, { [enterpriseSchema]: { manager: { value: ids.get('mary') } } }),
  },
  {
    what: 'changes the manager',
    method: 'PATCH',
    path: '/Users/{ada}',
    body: patch({ op: 'Replace', path: `${enterpriseSchema}:manager`, value: '{ada}' }),
    status: 200,
    check: ({ body }, ids) =>
      partialDeepStrictEqual(body, { [enterpriseSchema]: { manager: { value: ids.get('ada') } } }),
  },
  {
    what: 'removes the manager',
    method: 'PATCH',
    path: '/Users/{ada}',
    body: patch({ op: 'Remove', path: `${enterpriseSchema}:manager` }),
    status: 200,
    check: ({ body }) => equal('manager' in (body[enterpriseSchema] as Fields), false),
  },
  {
    what: 'gives the user a role of the application',
    method: 'PATCH',
    path: '/Users/{ada}',
    body: patch({
      op: 'Add',
      path: 'roles',
      value: [{ primary: 'True', type: 'WindowsAzureActiveDirectoryRole', value: 'User' }],
    }),
    status: 200,
    told: { roles: [{ primary: true, type: 'WindowsAzureActiveDirectoryRole', value: 'User' }] },
  },
  {
    what: 'switches the user off',
    method: 'PATCH',
    path: '/Users/{ada}',
    body: patch({ op: 'Replace', path: 'active', value: false }),
    status: 200,
    told: { active: false },
  },
  {
    what: 'still reads whom it has switched off',
    method: 'GET',
    path: '/Users/{ada}',
    status: 200,
    told: { active: false },
  },
  {
    what: 'switches the user on, as it wrote truth once',
    method: 'PATCH',
    path: '/Users/{ada}',
    body: patch({ op: 'Replace', path: 'active', value: 'True' }),
    status: 200,
    told: { active: true },
  },
  {
    what: 'makes a group',
    method: 'POST',
    path: '/Groups',
    body: engineers,
    status: 201,
    makes: 'engineers',
    told: { displayName: 'Engineers', externalId: engineers.externalId },
  },
  { what: 'makes the same group again', method: 'POST', path: '/Groups', body: engineers, status: 409 },
  {
    what: 'reads the group without its members',
    method: 'GET',
    path: '/Groups/{engineers}?excludedAttributes=members',
    status: 200,
    told: { displayName: 'Engineers' },
  },
  {
    what: 'finds the group by its name',
    method: 'GET',
    path: '/Groups?excludedAttributes=members&filter=displayName eq "Engineers"',
    status: 200,
    check: found(['engineers']),
  },
  {
    what: 'gives the group another name',
    method: 'PATCH',
    path: '/Groups/{engineers}',
    body: patch({ op: 'Replace', path: 'displayName', value: 'Analysts' }),
    status: 204,
    check: isEmpty,
  },
  {
    what: 'puts somebody into the group',
    method: 'PATCH',
    path: '/Groups/{engineers}',
    body: patch({ op: 'Add', path: 'members', value: [{ $ref: null, value: '{ada}' }] }),
    status: 204,
    check: isEmpty,
  },
  {
    what: 'finds the group by who is in it',
    method: 'GET',
    path: '/Groups?excludedAttributes=members&filter=id eq "{engineers}" and members[value eq "{ada}"]',
    status: 200,
    check: found(['engineers']),
  },
  {
    what: 'takes somebody out of the group',
    method: 'PATCH',
    path: '/Groups/{engineers}',
    body: patch({ op: 'Remove', path: 'members', value: [{ $ref: null, value: '{ada}' }] }),
    status: 204,
    check: isEmpty,
  },
  {
    what: 'finds nobody in the group',
    method: 'GET',
    path: '/Groups/{engineers}',
    status: 200,
    told: { displayName: 'Analysts' },
    check: ({ body }) => equal('members' in body, false),
  },
  {
    what: 'puts somebody into the group as the flag for strict SCIM has it',
    method: 'PATCH',
    path: '/Groups/{engineers}?aadOptscim062020',
    body: patch({ op: 'add', path: 'members', value: [{ value: '{mary}' }] }),
    status: 204,
    check: isEmpty,
  },
  {
    what: 'takes somebody out of the group as the flag for strict SCIM has it',
    method: 'PATCH',
    path: '/Groups/{engineers}?aadOptscim062020',
    body: patch({ op: 'remove', path: 'members[value eq "{mary}"]' }),
    status: 204,
    check: isEmpty,
  },
  { what: 'deletes the group', method: 'DELETE', path: '/Groups/{engineers}', status: 204, check: isEmpty },
  { what: 'reads the deleted group', method: 'GET', path: '/Groups/{engineers}', status: 404 },
  { what: 'deletes the user', method: 'DELETE', path: '/Users/{ada}', status: 204, check: isEmpty },
  { what: 'reads the deleted user', method: 'GET', path: '/Users/{ada}', status: 404 },
  {
    what: 'finds the deleted user no more',
    method: 'GET',
    path: '/Users?filter=userName eq "5b50642d@acme.example"',
    status: 200,
    told: { totalResults: 0 },
  },
]

onEachDatabase((database) => {
  describe('Entra', () => {
    let directory: TestDirectory
    const ids = new Map<string, string>()
    before(async () => {
      directory = await openDirectory(await database.open())
    })
    after(() => directory.service.close())

    const named = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: string) => ids.get(name) ?? 'none')

    for (const { what, method, path, body, status, told, makes, check } of rows) {
      test(`${what}: ${status}`, async () => {
        const sent = body === undefined ? undefined : (JSON.parse(named(JSON.stringify(body))) as unknown)
        const answer = await directory.ask(method, encodeURI(named(path)), sent)
        equal(answer.status, status, answer.text)
        if (answer.text !== '') equal(answer.headers['content-type'], 'application/scim+json; charset=utf-8')
        if (status >= 400) equal(answer.body['status'], String(status))
        if (told !== undefined) partialDeepStrictEqual(answer.body, told)
        if (makes !== undefined) ids.set(makes, answer.body['id'] as string)
        check?.(answer, ids)
      })
    }
  })
})
