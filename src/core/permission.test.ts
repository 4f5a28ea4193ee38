import { deepEqual, equal, throws } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from './error.ts'
import { may, permissions, requirePermission, visibleProjects, type Permission, type Target } from './permission.ts'
import type { ManagementKeyPrincipal, MemberPrincipal, Principal } from './principal.ts'
import { mayGrant, roles, type Role } from './role.ts'

/**
 * What each role may do, told apart from the table that decides it.
 *
 *     O everything in its organization   P in projects it may see   S of its own in these
 *     C everything in its organization, and nothing for the installation
 *     I in any organization, if it is the key of none   - nothing
 */
const expected: Readonly<Record<Permission, string>> = {
  //                        owner admin developer billing auditor
  'organizations:read': 'OOOOO',
  'organizations:update': 'OO---',
  'organizations:create': 'II---',
  'organizations:disable': 'II---',
  'settings:read': 'OO--O',
  'settings:update': 'OO---',
  'projects:read': 'OOPOO',
  'projects:create': 'OO---',
  'projects:update': 'OO---',
  'projects:archive': 'OO---',
  'members:read': 'OO--O',
  'members:create': 'OO---',
  'members:update': 'OO---',
  'members:remove': 'OO---',
  'api-keys:read': 'OOP-O',
  'api-keys:create': 'OOS--',
  'api-keys:update': 'OOS--',
  'api-keys:rotate': 'OOS--',
  'api-keys:disable': 'OOS--',
  'api-keys:revoke': 'OOS--',
  'service-accounts:read': 'OOP-O',
  'service-accounts:create': 'OO---',
  'service-accounts:update': 'OO---',
  'service-accounts:remove': 'OO---',
  'models:use': 'OOP--',
  'roles:read': 'OO--O',
  'roles:create': 'OO---',
  'roles:update': 'OO---',
  'roles:remove': 'OO---',
  'sessions:read': 'OO--O',
  'sessions:revoke': 'OO---',
  'management-keys:read': 'OO--O',
  'management-keys:create': 'O----',
  'management-keys:revoke': 'OO---',
  'connections:read': 'OO--O',
  'connections:create': 'OO---',
  'connections:update': 'OO---',
  'connections:remove': 'OO---',
  'connections:enforce': 'O----',
  'directories:read': 'OO--O',
  'directories:create': 'O----',
  'directories:update': 'O----',
  'directories:remove': 'O----',
  'limits:read': 'OOPOO',
  'limits:update': 'OO---',
  'limits:ask': 'OOP--',
  'tiers:read': 'OOOOO',
  'tiers:update': 'II---',
  'tiers:assign': 'II---',
  'budgets:read': 'OOPOO',
  'budgets:update': 'OO-O-',
  'alerts:read': 'OO-OO',
  'alerts:update': 'OO-O-',
  'alert-channels:read': 'OO--O',
  'alert-channels:update': 'OO---',
  'usage:read': 'OOPOO',
  'refusals:read': 'OO-OO',
  'requests:read': 'OOP-O',
  'recordings:read': 'CCS--',
  'recordings:update': 'C----',
  'prices:read': 'OOOOO',
  'prices:update': 'II---',
  'availability:read': 'OO-OO',
  'objectives:update': 'II---',
  'invoices:read': 'OO-OO',
  'invoices:adjust': 'II---',
  'audit:read': 'OO--O',
  'audit-sinks:read': 'OO--O',
  'audit-sinks:update': 'OO---',
  'engines:read': 'II--I',
  'engines:update': 'II---',
  'installation:read': 'II--I',
  'installation:update': 'II---',
  'weights:read': '-----',
  'weights:update': '-----',
}

const member = (role: Role): MemberPrincipal => ({
  kind: 'member',
  memberId: 'mem_me',
  organizationId: 'org_own',
  role,
  projectIds: ['proj_mine'],
})
const managementKey = (role: Role, organizationId: 'org_own' | null): ManagementKeyPrincipal => {
  return { kind: 'management-key', managementKeyId: 'mkey_1', organizationId, role }
}

const targets = {
  mine: { organizationId: 'org_own', projectId: 'proj_mine', ownerId: 'mem_me' },
  colleagues: { organizationId: 'org_own', projectId: 'proj_mine', ownerId: 'mem_other' },
  sibling: { organizationId: 'org_own', projectId: 'proj_other', ownerId: 'mem_me' },
  whole: { organizationId: 'org_own' },
  foreign: { organizationId: 'org_other', projectId: 'proj_mine', ownerId: 'mem_me' },
  none: { organizationId: null },
} as const satisfies Record<string, Target>
type Relation = keyof typeof targets

const reached: Readonly<Record<string, { readonly member: readonly Relation[]; readonly key: readonly Relation[] }>> = {
  O: { member: ['mine', 'colleagues', 'sibling', 'whole'], key: ['mine', 'colleagues', 'sibling', 'whole'] },
  C: { member: ['mine', 'colleagues', 'sibling', 'whole'], key: ['mine', 'colleagues', 'sibling', 'whole'] },
  P: { member: ['mine', 'colleagues'], key: [] },
  S: { member: ['mine'], key: [] },
  I: { member: [], key: [] },
  '-': { member: [], key: [] },
}
const relations = Object.keys(targets) as Relation[]

test('the table says something of every permission and every role', () => {
  deepEqual([...permissions].sort(), Object.keys(expected).sort())
  for (const cells of Object.values(expected)) equal(cells.length, roles.length)
})

for (const [index, role] of roles.entries()) {
  describe(role, () => {
    for (const permission of permissions) {
      const cell = expected[permission][index]!
      test(`${permission}: ${cell}`, () => {
        for (const relation of relations) {
          const target = targets[relation]
          const { member: forMember, key: forKey } = reached[cell]!
          equal(may(member(role), permission, target), forMember.includes(relation), `member, ${relation}`)
          equal(may(managementKey(role, 'org_own'), permission, target), forKey.includes(relation), `key, ${relation}`)
          const isEverywhere = cell === 'O' || cell === 'I'
          equal(may(managementKey(role, null), permission, target), isEverywhere, `installation's key, ${relation}`)
        }
      })
    }
  })
}

test('an API key may do nothing here, the operator everything', () => {
  const apiKey: Principal = { kind: 'api-key', apiKeyId: 'key_1', organizationId: 'org_own', projectId: 'proj_mine' }
  for (const permission of permissions) {
    for (const relation of relations) {
      equal(may(apiKey, permission, targets[relation]), false)
      equal(may({ kind: 'operator' }, permission, targets[relation]), true)
    }
  }
})

function codeOf(principal: Principal, permission: Permission, target: Target): string | null {
  try {
    requirePermission(principal, permission, target)
    return null
  } catch (error) {
    return error instanceof ApiError ? error.code : 'another error'
  }
}

test('what may not be known of is not found, what may be known of is refused', () => {
  equal(codeOf(member('developer'), 'api-keys:revoke', targets.mine), null)
  equal(codeOf(member('developer'), 'api-keys:revoke', targets.colleagues), 'permission-denied')
  equal(codeOf(member('developer'), 'api-keys:revoke', targets.sibling), 'not-found')
  for (const role of roles) {
    for (const permission of permissions) equal(codeOf(member(role), permission, targets.foreign), 'not-found')
  }
})

test('lists are confined to the projects that a developer may see', () => {
  deepEqual(visibleProjects(member('developer'), 'api-keys:read', 'org_own'), ['proj_mine'])
  equal(visibleProjects(member('auditor'), 'api-keys:read', 'org_own'), null)
  throws(() => visibleProjects(member('billing'), 'api-keys:read', 'org_own'), /api-keys:read/)
  throws(() => visibleProjects(member('developer'), 'api-keys:read', 'org_other'), { code: 'not-found' })
  throws(() => visibleProjects(managementKey('developer', 'org_own'), 'api-keys:read', 'org_own'), {
    code: 'permission-denied',
  })
})

test('nobody grants a role above their own', () => {
  const grants = roles.map((role) => roles.filter((granted) => mayGrant(role, granted)))
  deepEqual(grants, [[...roles], roles.filter((role) => role !== 'owner'), [], [], []])
})
