import { ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { may, permissions, type Permission } from '../../src/core/permission.ts'
import type { ManagementKeyPrincipal, MemberPrincipal } from '../../src/core/principal.ts'
import { roles, type Role } from '../../src/core/role.ts'

const page = readFileSync(new URL('../../docs/operations/keys.md', import.meta.url), 'utf8')

const own = { organizationId: 'org_1', projectId: 'proj_1', ownerId: 'mem_1' } as const

/** What a permission reaches for a role, in the words of the page. */
function reachOf(permission: Permission, role: Role): string {
  const member: MemberPrincipal = {
    kind: 'member',
    memberId: 'mem_1',
    organizationId: 'org_1',
    role,
    projectIds: ['proj_1'],
  }
  const key: ManagementKeyPrincipal = { kind: 'management-key', managementKeyId: 'mkey_1', organizationId: null, role }
  if (may(member, permission, { organizationId: 'org_1' })) return 'all'
  if (may(member, permission, { ...own, ownerId: 'mem_2' })) return 'projects'
  if (may(member, permission, own)) return 'own'
  return may(key, permission, { organizationId: null }) ? 'installation' : '-'
}

test('the page on keys says what each role may do, as it is decided', () => {
  const rows = permissions.map((permission) => {
    return `| \`${permission}\` | ${roles.map((role) => reachOf(permission, role)).join(' | ')} |`
  })
  const table = [
    `| | ${roles.map((role) => `\`${role}\``).join(' | ')} |`,
    `|${' - |'.repeat(roles.length + 1)}`,
    ...rows,
  ].join('\n')
  ok(page.includes(table), `docs/operations/keys.md needs this table:\n${table}`)
})
