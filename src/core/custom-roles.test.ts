import { equal, fail } from 'node:assert/strict'
import { test } from 'node:test'
import { covers, may, permissions, type Target } from './permission.ts'
import type { MemberPrincipal } from './principal.ts'
import { roles, type Role } from './role.ts'

/** The same numbers each time (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const random = createRandom(72)
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
const somebody = (role: Role, custom?: readonly string[]): MemberPrincipal => ({
  kind: 'member',
  memberId: 'mem_1',
  organizationId: 'org_1',
  role,
  projectIds: ['proj_1'],
  ...(custom !== undefined && { custom: { id: 'role_1', permissions: custom } }),
})
const targets: readonly Target[] = [
  { organizationId: 'org_1' },
  { organizationId: 'org_1', projectId: 'proj_1', ownerId: 'mem_1' },
  { organizationId: 'org_1', projectId: 'proj_1', ownerId: 'mem_2' },
  { organizationId: 'org_1', projectId: 'proj_2', ownerId: 'mem_1' },
  { organizationId: 'org_2' },
]

test('of 100,000 roles that somebody may make, none may do what its maker may not', () => {
  let made = 0
  for (let round = 0; round < 100_000; round++) {
    const share = random()
    const some = () => permissions.filter(() => random() < share)
    const maker = somebody(pick(roles), random() < 0.3 ? undefined : some())
    const base = pick(roles)
    // Half of them are drawn from what the maker has, as others are seldom covered.
    const own = maker.custom?.permissions ?? permissions
    const chosen = random() < 0.5 ? some() : own.filter(() => random() < 0.5)
    if (!covers(maker, base, { permissions: chosen })) continue
    made += 1
    const member = somebody(base, chosen)
    for (const target of targets) {
      const exceeding = permissions.find((name) => may(member, name, target) && !may(maker, name, target))
      if (exceeding !== undefined) fail(`${exceeding} ${JSON.stringify({ maker, base, chosen, target })}`)
    }
  }
  equal(made > 10_000, true, `${made} were made.`)
})
