import { deepEqual, equal, throws } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ScimFault } from './fault.ts'
import { matches, parseFilter } from './filter.ts'
import { applyPatch } from './patch.ts'
import { project, readResource, type Resource } from './resource.ts'
import { groups, users } from './schema.ts'

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const own = 'urn:example:own:1.0:User'
const work = { type: 'work', value: 'work@acme.example' }
const home = { type: 'home', value: 'home@acme.example' }

const ada: Resource = {
  userName: 'ada',
  active: true,
  name: { givenName: 'Ada', familyName: 'Byron' },
  emails: [{ ...work, primary: true }, home],
  [enterprise]: { department: 'Engines', manager: { value: 'mary', displayName: 'Mary' } },
  [own]: { floor: 3 },
}

const patch = (...Operations: readonly unknown[]) => applyPatch(users, ada, { Operations })

suite('a change of a user', () => {
  type Case = readonly [what: string, operation: unknown, changed: Readonly<Record<string, unknown>>]
  const cases: readonly Case[] = [
    ['takes a whole extension away', { op: 'remove', path: enterprise }, { [enterprise]: undefined }],
    [
      'adds to an extension what is named',
      { op: 'add', path: enterprise, value: { costCenter: '7' } },
      { [enterprise]: { department: 'Engines', manager: { value: 'mary', displayName: 'Mary' }, costCenter: '7' } },
    ],
    [
      'takes the last attribute of an extension with the extension',
      { op: 'remove', path: `${own}:floor` },
      { [own]: undefined },
    ],
    [
      'sets an attribute of a schema of its own',
      { op: 'add', path: `${own}:desk`, value: 'a' },
      { [own]: { floor: 3, desk: 'a' } },
    ],
    ['takes one away by setting nothing', { op: 'replace', path: `${own}:floor`, value: null }, { [own]: undefined }],
    [
      'makes a schema of its own',
      { op: 'add', path: 'urn:example:new:1.0:tag', value: 1 },
      { 'urn:example:new:1.0': { tag: 1 } },
    ],
    ['takes a part of a name away', { op: 'remove', path: 'name.givenName' }, { name: { familyName: 'Byron' } }],
    [
      'sets a part of what is not there',
      { op: 'add', path: `${enterprise}:manager.value`, value: 'x' },
      {
        [enterprise]: { department: 'Engines', manager: { value: 'x', displayName: 'Mary' } },
      },
    ],
    [
      'takes the values away that are named whole',
      { op: 'remove', path: 'emails', value: [home] },
      { emails: [{ ...work, primary: true }] },
    ],
    [
      'takes away those that a part without a value names',
      { op: 'remove', path: 'emails', value: [{ type: 'home' }] },
      {
        emails: [{ ...work, primary: true }],
      },
    ],
    ['leaves alone what no value is', { op: 'remove', path: 'emails', value: [{ value: 'none' }] }, {}],
    [
      'takes all of an attribute with its last value',
      { op: 'remove', path: 'emails[value pr]' },
      { emails: undefined },
    ],
    [
      'takes a part of chosen values away',
      { op: 'remove', path: 'emails[type eq "work"].primary' },
      { emails: [work, home] },
    ],
    ['leaves alone what a filter does not choose', { op: 'remove', path: 'emails[type eq "other"]' }, {}],
    [
      'lets a value become the primary one, and the one before it is it no more',
      { op: 'replace', path: 'emails[type eq "home"].primary', value: true },
      {
        emails: [
          { ...work, primary: false },
          { ...home, primary: true },
        ],
      },
    ],
    [
      'changes all values where no filter stands',
      { op: 'replace', path: 'emails.type', value: 'other' },
      {
        emails: [
          { ...work, type: 'other', primary: true },
          { ...home, type: 'other' },
        ],
      },
    ],
    [
      'puts parts of a chosen value in the place of others',
      { op: 'replace', path: 'emails[type eq "home"]', value: { value: 'new@acme.example' } },
      {
        emails: [
          { ...work, primary: true },
          { ...home, value: 'new@acme.example' },
        ],
      },
    ],
    [
      'makes a value of what a filter of several conditions asks for',
      {
        op: 'add',
        path: 'addresses[type eq "work" and country eq "UK"].locality',
        value: 'London',
      },
      { addresses: [{ type: 'work', country: 'UK', locality: 'London' }] },
    ],
    [
      'makes a part of what is not there yet',
      { op: 'add', path: 'addresses[type eq "work"].locality', value: 'Bonn' },
      { addresses: [{ type: 'work', locality: 'Bonn' }] },
    ],
    [
      'takes what is named by a text away as by its value',
      { op: 'remove', path: 'emails', value: [home.value] },
      { emails: [{ ...work, primary: true }] },
    ],
    ['puts nothing in the place of a chosen value', { op: 'replace', path: 'emails[type eq "home"]', value: [] }, {}],
    ['takes an unknown attribute away by nothing', { op: 'add', value: { favourite: null } }, {}],
    [
      'keeps an unknown part',
      { op: 'add', value: { 'name.pet': 'Cat' } },
      { name: { ...(ada['name'] as Resource), pet: 'Cat' } },
    ],
    [
      'overlooks a part that only the service says',
      { op: 'add', value: { [`${enterprise}:manager`]: { displayName: 'Other', value: 'mary' } } },
      {},
    ],
    [
      'adds a value beside the primary one, which stays it',
      { op: 'add', path: 'emails', value: [{ value: 'new@acme.example' }] },
      { emails: [{ ...work, primary: true }, home, { value: 'new@acme.example' }] },
    ],
    [
      'adds a primary value, and the one before is it no more',
      { op: 'add', path: 'emails', value: [{ value: 'new@acme.example', primary: true }] },
      { emails: [{ ...work, primary: false }, home, { value: 'new@acme.example', primary: true }] },
    ],
    ['keeps no password', { op: 'add', path: 'password', value: 'secret' }, {}],
    ['reads a path of nothing as none', { op: 'replace', path: '', value: { title: 'Dr.' } }, { title: 'Dr.' }],
    [
      'reads a path in brackets within a value',
      { op: 'add', value: { 'emails[type eq "home"].display': 'At home' } },
      {
        emails: [
          { ...work, primary: true },
          { ...home, display: 'At home' },
        ],
      },
    ],
  ]
  for (const [what, operation, changed] of cases) {
    test(what, () => {
      const expected = Object.fromEntries(
        Object.entries({ ...ada, ...changed }).filter(([, value]) => value !== undefined),
      )
      deepEqual(patch(operation), expected)
      deepEqual(ada['emails'], [{ ...work, primary: true }, home], 'What was there before was changed.')
    })
  }

  const refused: readonly (readonly [what: string, operation: unknown, type: string | null])[] = [
    ['a part of a schema that is not known', { op: 'add', path: `${own}:floor.part`, value: 1 }, 'invalidPath'],
    ['a filter in a schema that is not known', { op: 'add', path: `${own}:floor[a eq 1]`, value: 1 }, 'invalidPath'],
    ['a filter of an attribute with one value', { op: 'add', path: 'title[value eq "x"]', value: 'x' }, 'invalidPath'],
    ['a part that there is not', { op: 'add', path: 'name.colour', value: 'x' }, 'invalidPath'],
    ['a path that is no text', { op: 'add', path: 7, value: 'x' }, 'invalidPath'],
    ['what only the service says', { op: 'replace', path: 'groups', value: [] }, 'mutability'],
    [
      'a part of what only the service says',
      { op: 'add', path: `${enterprise}:manager.displayName`, value: 'x' },
      'mutability',
    ],
    ['the end of active', { op: 'remove', path: 'active' }, 'mutability'],
    [
      'a value that nothing says how to make',
      { op: 'add', path: 'phoneNumbers[type sw "w"].value', value: '1' },
      'noTarget',
    ],
    ['values of an attribute that has none', { op: 'replace', path: 'phoneNumbers.value', value: '1' }, 'noTarget'],
    ['nothing without a path', { op: 'remove' }, 'noTarget'],
    ['a value without a path that is none', { op: 'add', value: 'x' }, 'invalidValue'],
    ['an extension that is a text', { op: 'add', path: enterprise, value: 'x' }, 'invalidValue'],
    ['truth that is a number', { op: 'replace', path: 'active', value: 1 }, 'invalidValue'],
    [
      'two primary values',
      {
        op: 'add',
        path: 'emails',
        value: [
          { ...home, primary: true },
          { ...work, primary: true },
        ],
      },
      'invalidValue',
    ],
    ['another deed', { op: 'move', path: 'title', value: 'x' }, 'invalidSyntax'],
    ['a name that no attribute has', { op: 'add', value: { '1st': 'x' } }, 'invalidSyntax'],
  ]
  for (const [what, operation, type] of refused) {
    test(`is not ${what}`, () => {
      const isFault = (error: unknown) => error instanceof ScimFault && error.scimType === type
      throws(() => patch(operation), isFault, `not refused as ${type}`)
    })
  }

  test('is not none, nor more than a thousand', () => {
    throws(() => applyPatch(users, ada, { Operations: [] }), /one at least/)
    throws(() => applyPatch(users, ada, {}), /one at least/)
    const many = Array.from({ length: 1_001 }, () => ({ op: 'add', path: 'title', value: 'x' }))
    throws(() => applyPatch(users, ada, { Operations: many }), /At most 1000/)
    equal(applyPatch(users, ada, { Operations: many.slice(1) })['title'], 'x')
  })
})

test('a part is made with what it is a part of, and goes with it', () => {
  const plain = { userName: 'ada' }
  const named = applyPatch(users, plain, { Operations: [{ op: 'add', path: 'name.givenName', value: 'Ada' }] })
  deepEqual(named, { userName: 'ada', name: { givenName: 'Ada' } })
  deepEqual(applyPatch(users, named, { Operations: [{ op: 'remove', path: 'name.givenName' }] }), plain)
})

test('members of a group are taken away by a list and by a filter, and what is read only is not written', () => {
  const group = { displayName: 'G', members: [{ value: 'a' }, { value: 'b' }, { value: 'c' }] }
  const change = (...Operations: readonly unknown[]) => applyPatch(groups, group, { Operations })
  deepEqual(change({ op: 'Remove', path: 'members', value: [{ $ref: null, value: 'b' }] })['members'], [
    { value: 'a' },
    { value: 'c' },
  ])
  deepEqual(change({ op: 'remove', path: 'members[value eq "a" or value eq "c"]' })['members'], [{ value: 'b' }])
  equal('members' in change({ op: 'remove', path: 'members' }), false)
})

suite('a filter', () => {
  const finds = (text: string, resource: Resource = ada) => matches(users, parseFilter(users, text), resource)
  for (const [text, isFound] of [
    ['userName eq "ADA"', true],
    ['userName ne "ada"', false],
    ['nickName eq null', true],
    ['nickName ne null', false],
    ['userName eq null', false],
    ['userName ne null', true],
    ['active eq "TRUE"', true],
    ['active ne true', false],
    ['active gt false', false],
    [`${own}:floor ge 3`, true],
    [`${own}:floor gt 3`, false],
    [`${own}:floor lt 4`, true],
    [`${own}:floor le 2`, false],
    [`${own}:floor co 3`, false],
    [`${own}:floor eq "3"`, false],
    ['userName gt "ac" and userName lt "ae"', true],
    ['userName ge "ada" and not (userName le "acz")', true],
    ['emails co "HOME@"', true],
    ['emails.type ew "rk"', true],
    ['emails[type eq "home" and value sw "work"]', false],
    ['emails[type eq "home" or primary eq true]', true],
    ['nickName pr', false],
    ['name.givenName pr', true],
    [`${enterprise} pr`, true],
    [`${enterprise}:manager.value eq "mary"`, true],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "ada"', true],
    ['unknown[a eq 1]', false],
    ['emails[type eq "home"].value eq "HOME@acme.example"', true],
    ['emails[type eq "home"].value eq "work@acme.example"', false],
    ['emails[type eq "work"].display pr or emails[primary eq true].type sw "w" and userName pr', true],
    ['not (emails[type eq "work"].primary pr)', false],
  ] as const) {
    test(`${text} ${isFound ? 'finds' : 'does not find'} the user`, () => equal(finds(text), isFound))
  }

  test('asks for capitals where they count', () => {
    const photo = { photos: [{ value: 'https://a.example/P' }] }
    equal(finds('photos.value eq "https://a.example/P"', photo), true)
    equal(finds('photos.value eq "https://a.example/p"', photo), false)
  })

  for (const text of [
    'userName eq',
    'userName eq (',
    'userName "x"',
    'eq "x"',
    'emails[type eq "x"].value eq "y" extra',
    'a eq "x" b',
    '(a eq 1',
    'a eq x',
    'emails[type eq "x"',
    '1a eq 1',
    'emails[type eq "x"].value',
    'emails[type eq "x"] eq "y"',
    'emails.type[value eq "x"] eq "y"',
    'emails[type eq "x"].1 eq "y"',
    'a eq "x" ;',
  ]) {
    test(`${text} is none`, () => {
      throws(
        () => parseFilter(users, text),
        (error: unknown) => error instanceof ScimFault && error.scimType === 'invalidFilter',
      )
    })
  }
})

suite('a resource', () => {
  test('is told with what is asked for, down to parts of values', () => {
    const shown = { schemas: [users.schema.id], id: 'mem_1', ...ada }
    const only = (...names: readonly string[]) => project(users, shown, { only: names, without: [] })
    const least = { schemas: [users.schema.id], id: 'mem_1' }
    deepEqual(only('NAME.givenName', 'emails.value'), {
      ...least,
      name: { givenName: 'Ada' },
      emails: [{ value: work.value }, { value: home.value }],
    })
    deepEqual(only(`${enterprise}:department`), { ...least, [enterprise]: { department: 'Engines' } })
    deepEqual(only(`${enterprise}:manager.value`), { ...least, [enterprise]: { manager: { value: 'mary' } } })
    deepEqual(only(own, 'nothing'), { ...least, [own]: { floor: 3 } })
    deepEqual(only('active.part'), { ...least, active: true })
    const without = (...names: readonly string[]) => project(users, shown, { only: null, without: names })
    deepEqual(without('emails', 'name.familyName', enterprise, own, 'id'), {
      ...least,
      userName: 'ada',
      active: true,
      name: { givenName: 'Ada' },
    })
  })

  test('is read as directories write it', () => {
    const read = (body: unknown) => readResource(users, body)
    deepEqual(read({ USERNAME: ['ada'], Active: 'False', emails: 'a@b.example' }), {
      userName: 'ada',
      active: false,
      emails: [{ value: 'a@b.example' }],
    })
    deepEqual(read({ title: { value: 'Dr.' }, emails: [''], name: {}, nickName: null }), { title: 'Dr.' })
    deepEqual(read({ [`${enterprise}:schemas`]: [enterprise], [`${enterprise}:floor`]: '3' }), {
      [enterprise]: { floor: '3' },
    })
    deepEqual(read({ [enterprise]: null, id: 'x', meta: {}, groups: [{ value: 'g' }] }), {})
    for (const body of [
      null,
      [],
      'x',
      { title: 7 },
      { name: 'x' },
      { emails: [7] },
      { name: { '1': 'x' } },
      { [enterprise]: { '1': 1 } },
    ]) {
      throws(() => read(body), ScimFault, JSON.stringify(body))
    }
    throws(() => read({ emails: Array.from({ length: 10_001 }, () => work) }), /at most 10000/)
  })
})
