import { deepEqual, equal } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createApiKey, updateApiKey } from '../../../src/accounts/api-keys.ts'
import { removeMember } from '../../../src/accounts/members.ts'
import type { MemberId } from '../../../src/core/ids.ts'
import type { Permission } from '../../../src/core/permission.ts'
import type { Role } from '../../../src/core/role.ts'
import { askForLimits } from '../../../src/limits/settings/limit-requests.ts'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import { openManagementService, type ManagementService } from '../../harness/management-service.ts'
import { signInPerson } from '../../harness/sign-in.ts'
import { createCompany, newMember, newMemberOfPart, type Company } from './world.ts'

const operator = { kind: 'operator' } as const
const dayMs = 24 * 60 * 60 * 1_000

onEachDatabase(({ open }) => {
  describe('what somebody should look at', () => {
    let service: ManagementService
    let company: Company
    before(async () => {
      service = await openManagementService(await open(), {
        readSystem: () =>
          Promise.resolve({
            version: 'test',
            startedAtMs: 0,
            database: 'file',
            migrations: { latest: null, waiting: 0 },
            disk: null,
            ledger: { rows: 0, notYetSummed: 0 },
            reconciliation: null,
            lastBackupAtMs: null,
            settings: [],
            warnings: ['backup'],
          }),
      })
      company = await createCompany(service.accounts)
      const { organizationId, projectId, siblingId } = company
      const leaver = await newMember(service.accounts, organizationId, 'admin')
      const { accounts } = service
      const leaving = { kind: 'member', memberId: leaver, organizationId, role: 'admin', projectIds: [] } as const
      const ownerId = company.members.developer.memberId
      const make = (name: string, by: typeof leaving, project = projectId, of: Role = 'owner') =>
        createApiKey(accounts, by, {
          name,
          organizationId,
          projectId: project,
          ownerId: company.members[of].memberId,
        })
      await createApiKey(accounts, operator, { name: 'in order', organizationId, projectId, ownerId })
      const ending = await makeEnding('ending', company.members.owner.memberId)
      await make('of the leaver', leaving)
      await make('elsewhere', leaving, siblingId)
      await make('of the developer', leaving, projectId, 'developer')
      await removeMember(accounts, operator, { id: leaver, organizationId })
      const asked = { organizationId, apiKeyId: ending.id, model: '*', wanted: { concurrency: 9 } }
      await askForLimits(accounts, operator, { ...asked, reason: 'More.', contact: null })
    })
    after(() => service.close())

    const makeEnding = async (name: string, ownerId: MemberId) => {
      const { organizationId, projectId } = company
      const made = await createApiKey(service.accounts, operator, { name, organizationId, projectId, ownerId })
      const expiresAtMs = service.clock.nowMs() + 5 * dayMs
      await updateApiKey(service.accounts, operator, { id: made.id, organizationId }, { expiresAtMs })
      return made
    }
    const tasksOf = async (headers: Readonly<Record<string, string>>) => {
      const path = `/api/v1/organizations/${company.organizationId}/tasks`
      const { status, body, text } = await service.ask({ path, headers })
      equal(status, 200, text)
      return (body['data'] as readonly { readonly kind: string; readonly name: string | null }[])
        .map(({ kind, name }) => (name === null ? kind : `${kind} ${name}`))
        .toSorted()
    }
    const as = async (role: keyof Company['members']) =>
      tasksOf((await signInPerson(service.accounts, { memberId: company.members[role].memberId })).headers)

    test('is told to each reader as far as they may do something about it', async () => {
      const all = [
        'key-ends ending',
        'key-of-gone-member elsewhere',
        'key-of-gone-member of the developer',
        'key-of-gone-member of the leaver',
        'limit-request ending',
        'second-owner',
      ]
      deepEqual(await as('owner'), all)
      // Of the keys in their project they may change their own alone.
      deepEqual(await as('developer'), ['key-of-gone-member of the developer'])
      deepEqual(await as('billing'), [])
      deepEqual(await as('auditor'), [])
    })

    test('is told to a part of a role as far as it reaches, and is no refusal where it does not', async () => {
      const part = async (...permissions: Permission[]) => {
        const given = { base: 'developer', permissions: ['organizations:read', ...permissions] } as const
        const memberId = await newMemberOfPart(service.accounts, company, given)
        if (permissions.includes('api-keys:update')) await makeEnding('of a part', memberId)
        return tasksOf((await signInPerson(service.accounts, { memberId })).headers)
      }
      deepEqual(await part('usage:read'), [])
      deepEqual(await part('api-keys:read'), [])
      deepEqual(await part('api-keys:read', 'api-keys:update'), ['key-ends of a part'])
    })

    test('is of the installation too for who runs it', async () => {
      const person = await signInPerson(service.accounts, {
        memberId: company.members.owner.memberId,
        installationRole: 'owner',
      })
      equal((await tasksOf(person.headers)).includes('backup'), true)
    })

    test('names a key that nobody has used for 90 days', async () => {
      const lastUsed = { last_used_at: service.clock.nowMs() - 91 * dayMs }
      await service.db.updateTable('api_keys').set(lastUsed).where('name', '=', 'in order').execute()
      equal((await as('owner')).includes('key-unused in order'), true)
    })
  })
})
