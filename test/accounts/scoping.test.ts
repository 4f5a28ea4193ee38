// Two organizations. Whoever belongs to one finds nothing of the other, whatever is asked for,
// and an id of the one is unknown under the name of the other.

import { deepEqual, equal, rejects } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { onEachDatabase } from '../harness/databases/databases.ts'
import type { ApiKeyId, ManagementKeyId, MemberId, OrganizationId, ProjectId } from '../../src/core/ids.ts'
import type { MemberPrincipal, Principal } from '../../src/core/principal.ts'
import { roles, type Role } from '../../src/core/role.ts'
import type { Database } from '../../src/db/database.ts'
import { systemClock } from '../../src/lib/clock.ts'
import {
  createApiKey,
  revokeApiKey,
  rotateApiKey,
  setApiKeyDisabled,
  updateApiKey,
} from '../../src/accounts/api-keys.ts'
import { readAudit } from '../../src/accounts/audit/read-audit.ts'
import { listApiKeys } from '../../src/accounts/read-api-keys.ts'
import {
  createManagementKey,
  findManagementPrincipal,
  listManagementKeys,
  revokeManagementKey,
} from '../../src/accounts/management-keys.ts'
import {
  createMember,
  findMemberPrincipal,
  listMembers,
  removeMember,
  setMemberRole,
} from '../../src/accounts/members.ts'
import {
  createOrganization,
  listOrganizations,
  readOrganization,
  renameOrganization,
  setOrganizationDisabled,
} from '../../src/accounts/organizations.ts'
import type { AccountsParts } from '../../src/accounts/parts.ts'
import {
  createProject,
  listProjects,
  updateProject,
  setProjectArchived,
  setProjectMember,
} from '../../src/accounts/projects.ts'

type World = {
  readonly organizationId: OrganizationId
  readonly projectId: ProjectId
  readonly siblingId: ProjectId
  readonly memberId: MemberId
  readonly keyId: ApiKeyId
  readonly siblingKeyId: ApiKeyId
  readonly managementKeyId: ManagementKeyId
}

/** Asks as `principal`, in the organization of `where`, about what belongs to `what`. */
type Ask = (parts: AccountsParts, principal: Principal, where: OrganizationId, what: World) => Promise<unknown>

/** Everything that reads or changes one thing by its id. */
const byId: Readonly<Record<string, Ask>> = {
  createApiKey: (parts, principal, organizationId, { projectId }) =>
    createApiKey(parts, principal, { name: 'x', organizationId, projectId }),
  createOwnedApiKey: (parts, principal, organizationId, { memberId: ownerId, projectId }) =>
    createApiKey(parts, principal, { name: 'x', organizationId, projectId, ownerId }),
  updateApiKey: (parts, principal, organizationId, { keyId: id }) =>
    updateApiKey(parts, principal, { id, organizationId }, { name: 'y' }),
  rotateApiKey: (parts, principal, organizationId, { keyId: id }) =>
    rotateApiKey(parts, principal, { id, organizationId }, 0),
  disableApiKey: (parts, principal, organizationId, { keyId: id }) =>
    setApiKeyDisabled(parts, principal, { id, organizationId }, true),
  revokeApiKey: (parts, principal, organizationId, { keyId: id }) =>
    revokeApiKey(parts, principal, { id, organizationId }),
  updateProject: (parts, principal, organizationId, { projectId: id }) =>
    updateProject(parts, principal, { id, organizationId }, { name: 'y' }),
  archiveProject: (parts, principal, organizationId, { projectId: id }) =>
    setProjectArchived(parts, principal, { id, organizationId }, true),
  setProjectMember: (parts, principal, organizationId, { projectId: id, memberId }) =>
    setProjectMember(parts, principal, { id, organizationId, memberId, maySee: true }),
  setMemberRole: (parts, principal, organizationId, { memberId: id }) =>
    setMemberRole(parts, principal, { id, organizationId }, 'developer'),
  removeMember: (parts, principal, organizationId, { memberId: id }) =>
    removeMember(parts, principal, { id, organizationId }),
  revokeManagementKey: (parts, principal, organizationId, { managementKeyId: id }) =>
    revokeManagementKey(parts, principal, { id, organizationId }),
}

/** Everything that is about an organization as a whole. */
const byOrganization: Readonly<Record<string, Ask>> = {
  listApiKeys: (parts, principal, organizationId) => listApiKeys(parts, principal, { organizationId }),
  createProject: (parts, principal, organizationId) => createProject(parts, principal, { organizationId, name: 'x' }),
  listProjects: (parts, principal, organizationId) => listProjects(parts, principal, { organizationId }),
  createMember: (parts, principal, organizationId) =>
    createMember(parts, principal, { organizationId, email: 'x@example.org', name: 'x', role: 'developer' }),
  listMembers: (parts, principal, organizationId) => listMembers(parts, principal, { organizationId }),
  createManagementKey: (parts, principal, organizationId) =>
    createManagementKey(parts, principal, { organizationId, name: 'x', role: 'developer', expiresAtMs: null }),
  listManagementKeys: (parts, principal, organizationId) => listManagementKeys(parts, principal, { organizationId }),
  readOrganization: (parts, principal, organizationId) => readOrganization(parts, principal, organizationId),
  renameOrganization: (parts, principal, organizationId) =>
    renameOrganization(parts, principal, { organizationId, name: 'y' }),
  disableOrganization: (parts, principal, organizationId) =>
    setOrganizationDisabled(parts, principal, { organizationId, isDisabled: true }),
  readAudit: (parts, principal, organizationId) =>
    readAudit(parts, principal, { organizationId, afterSequence: 0, limit: 10 }),
}

const operator = { kind: 'operator' } as const
const notFound = { code: 'not-found' }

onEachDatabase((database) => {
  let db: Database
  let parts: AccountsParts
  let own: World
  let other: World

  beforeEach(async () => {
    db = await database.open()
    parts = { db, clock: systemClock, hashSecret: new Uint8Array(32) }
    own = await createWorld('own')
    other = await createWorld('other')
  })
  afterEach(() => db.destroy())

  async function createWorld(name: string): Promise<World> {
    const { organizationId, projectId } = await createOrganization(parts, operator, { name })
    const siblingId = await createProject(parts, operator, { organizationId, name: 'sibling' })
    const email = `${name}@example.org`
    await createMember(parts, operator, { organizationId, email: `owner-${email}`, name, role: 'owner' })
    const memberId = await createMember(parts, operator, { organizationId, email, name, role: 'developer' })
    const key = await createApiKey(parts, operator, { name, organizationId, projectId, ownerId: memberId })
    const siblingKey = await createApiKey(parts, operator, { name, organizationId, projectId: siblingId })
    const managed = { organizationId, name, role: 'auditor', expiresAtMs: null } as const
    const management = await createManagementKey(parts, operator, managed)
    return {
      organizationId,
      projectId,
      siblingId,
      memberId,
      keyId: key.id,
      siblingKeyId: siblingKey.id,
      managementKeyId: management.id,
    }
  }

  const memberWith = (role: Role): MemberPrincipal => {
    const { memberId, organizationId, projectId } = own
    return { kind: 'member', memberId, organizationId, role, projectIds: [projectId] }
  }
  const insiders = (): readonly Principal[] =>
    roles.flatMap((role): Principal[] => [
      memberWith(role),
      { kind: 'management-key', managementKeyId: own.managementKeyId, organizationId: own.organizationId, role },
    ])

  /** A member who has the role, as what hands out secrets makes sure of. */
  const standingMember = async (role: Role): Promise<MemberPrincipal> => {
    const { organizationId, projectId } = own
    const email = `${role}@example.org`
    const memberId = await createMember(parts, operator, { organizationId, email, name: role, role })
    await setProjectMember(parts, operator, { id: projectId, organizationId, memberId, maySee: true })
    return { kind: 'member', memberId, organizationId, role, projectIds: [projectId] }
  }
  const standingKey = async (role: Role): Promise<Principal> => {
    const { organizationId } = own
    const { id } = await createManagementKey(parts, operator, { organizationId, name: role, role, expiresAtMs: null })
    return { kind: 'management-key', managementKeyId: id, organizationId, role }
  }
  const standingInsiders = async (): Promise<readonly Principal[]> => {
    const standing: Principal[] = []
    for (const role of roles) standing.push(await standingMember(role), await standingKey(role))
    return standing
  }

  /** Everything that could have changed. */
  const snapshot = async () => {
    const tables = ['organizations', 'projects', 'members', 'project_members', 'api_keys', 'management_keys'] as const
    const rows = []
    for (const table of tables) rows.push(await db.selectFrom(table).selectAll().execute())
    rows.push(await db.selectFrom('audit').select('id').execute())
    return JSON.stringify(rows)
  }

  test('everything works in its own organization', async () => {
    for (const [name, ask] of Object.entries({ ...byOrganization, ...byId })) {
      const world = await createWorld('fresh')
      await ask(parts, operator, world.organizationId, world).catch((error: unknown) => {
        throw new Error(name, { cause: error })
      })
    }
  })

  test('another organization is not there for anybody who belongs to one', async () => {
    const principals = await standingInsiders()
    const before = await snapshot()
    for (const [name, ask] of Object.entries({ ...byOrganization, ...byId })) {
      for (const principal of principals) {
        await rejects(
          ask(parts, principal, other.organizationId, other),
          notFound,
          `${name} as ${JSON.stringify(principal)}`,
        )
      }
    }
    equal(await snapshot(), before)
  })

  test('what belongs to another organization is not found under one’s own, by the operator either', async () => {
    const owner = await standingMember('owner')
    const before = await snapshot()
    for (const [name, ask] of Object.entries(byId)) {
      for (const principal of [owner, operator]) {
        await rejects(ask(parts, principal, own.organizationId, other), notFound, name)
      }
    }
    const { organizationId, projectId } = own
    const { memberId } = other
    const mixed = { organizationId, id: projectId, memberId, maySee: true }
    await rejects(setProjectMember(parts, owner, mixed), notFound)
    const foreignOwner = { name: 'x', organizationId, projectId, ownerId: memberId }
    await rejects(createApiKey(parts, owner, foreignOwner), notFound)
    equal(await snapshot(), before)
  })

  test('an API key manages nothing', async () => {
    const { keyId: apiKeyId, organizationId, projectId } = own
    const before = await snapshot()
    for (const [name, ask] of Object.entries({ ...byOrganization, ...byId })) {
      const principal: Principal = { kind: 'api-key', apiKeyId, organizationId, projectId }
      await rejects(ask(parts, principal, organizationId, own), { code: 'permission-denied' }, name)
    }
    equal(await snapshot(), before)
  })

  test('a developer finds what is in a project of theirs and nothing in a sibling', async () => {
    const developer = memberWith('developer')
    const { organizationId, keyId, siblingKeyId, siblingId, projectId, memberId } = own
    await setProjectMember(parts, operator, { id: projectId, organizationId, memberId, maySee: true })
    deepEqual(
      (await listApiKeys(parts, developer, { organizationId })).items.map(({ id }) => id),
      [keyId],
    )
    deepEqual((await listApiKeys(parts, developer, { organizationId, projectId: siblingId })).items, [])
    deepEqual(
      (await listProjects(parts, developer, { organizationId })).items.map(({ id }) => id),
      [projectId],
    )
    const sibling = { ...own, keyId: siblingKeyId, projectId: siblingId }
    for (const name of ['createApiKey', 'updateApiKey', 'rotateApiKey', 'disableApiKey', 'revokeApiKey']) {
      await rejects(byId[name]!(parts, developer, organizationId, sibling), notFound, name)
    }
    await byId['rotateApiKey']!(parts, developer, organizationId, own)
    const made = await createApiKey(parts, developer, { name: 'mine', organizationId, projectId })
    const listed = (await listApiKeys(parts, developer, { organizationId })).items
    equal(listed.find(({ id }) => id === made.id)?.ownerId, own.memberId)
  })

  test('lists of everything show one’s own organization only', async () => {
    const { organizationId } = own
    const seen = async (principal: Principal) => (await listOrganizations(parts, principal)).items.map(({ id }) => id)
    for (const principal of insiders()) deepEqual(await seen(principal), [organizationId])
    equal((await seen(operator)).length, 2)
    const keys = await listManagementKeys(parts, memberWith('auditor'), { organizationId })
    deepEqual(
      keys.items.map(({ id }) => id),
      [own.managementKeyId],
    )
    await rejects(listManagementKeys(parts, memberWith('owner'), { organizationId: null }), notFound)
  })

  test('a role is taken from the database at the moment it is asked for', async () => {
    const { memberId, organizationId, projectId } = own
    const reference = { id: memberId, organizationId }
    equal((await findMemberPrincipal(parts, memberId))?.role, 'developer')
    await setProjectMember(parts, operator, { ...reference, id: projectId, memberId, maySee: true })
    deepEqual((await findMemberPrincipal(parts, memberId))?.projectIds, [projectId])
    await setProjectMember(parts, operator, { ...reference, id: projectId, memberId, maySee: false })
    await setMemberRole(parts, operator, reference, 'admin')
    deepEqual(await findMemberPrincipal(parts, memberId), { ...memberWith('admin'), projectIds: [] })
    await setOrganizationDisabled(parts, operator, { organizationId, isDisabled: true })
    equal(await findMemberPrincipal(parts, memberId), null)
    await setOrganizationDisabled(parts, operator, { organizationId, isDisabled: false })
    await removeMember(parts, operator, reference)
    equal(await findMemberPrincipal(parts, memberId), null)
  })

  test('a management key leads to its role until it is revoked, expired or its organization disabled', async () => {
    const { organizationId } = own
    const create = (role: Role) =>
      createManagementKey(parts, operator, { organizationId, name: 'x', role, expiresAtMs: Date.now() + 60_000 })
    const { id, key } = await create('billing')
    const principal = { kind: 'management-key', managementKeyId: id, organizationId, role: 'billing' }
    deepEqual(await findManagementPrincipal(parts, key), principal)
    const later = { ...systemClock, nowMs: () => Date.now() + 61_000 }
    equal(await findManagementPrincipal({ ...parts, clock: later }, key), null)
    await setOrganizationDisabled(parts, operator, { organizationId, isDisabled: true })
    equal(await findManagementPrincipal(parts, key), null)
    await setOrganizationDisabled(parts, operator, { organizationId, isDisabled: false })
    await revokeManagementKey(parts, operator, { id, organizationId })
    equal(await findManagementPrincipal(parts, key), null)
    const apiKey = await createApiKey(parts, operator, { name: 'x', ...own })
    equal(await findManagementPrincipal(parts, apiKey.key), null)
  })
})
