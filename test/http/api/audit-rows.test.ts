import { deepEqual, equal, match } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setOrganizationDisabled } from '../../../src/accounts/organizations.ts'
import { relaxConnection } from '../../../src/accounts/single-sign-on/enforcement.ts'
import { setProjectArchived } from '../../../src/accounts/projects.ts'
import { installationChain } from '../../../src/db/change.ts'
import type { AuditTable } from '../../../src/db/tables/audit.ts'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import { testSignIn } from '../../harness/management.ts'
import { openManagementService, type ManagementService } from '../../harness/management-service.ts'
import { keyFor, nameOf, permittedRoutes, requestFor } from './ask-route.ts'
import { createCompany, createThings, type Company, type Things } from './world.ts'

const operator = { kind: 'operator' } as const

onEachDatabase((database) => {
  describe('what every change leaves in the audit', () => {
    let service: ManagementService
    let company: Company

    before(async () => {
      service = await openManagementService(await database.open())
      company = await createCompany(service.accounts)
    })
    after(() => service.close())

    const rows = (): Promise<AuditTable[]> => service.db.selectFrom('audit').selectAll().execute()

    for (const route of permittedRoutes.filter(({ method }) => method !== 'GET')) {
      test(nameOf(route), async () => {
        const ownerId = company.members.developer.memberId
        const things = await createThings(service.accounts, { company, projectId: company.projectId, ownerId })
        const request = await requestFor(service, route, things)
        const known = new Set((await rows()).map(({ id }) => id))
        const answer = await service.ask({ ...request, key: keyFor(service, route), address: '192.0.2.7' })
        equal(answer.status < 300, true, answer.text)
        const added = (await rows()).filter(({ id }) => !known.has(id))
        equal(added.length, 1)
        const [row] = added
        equal(row?.address, '192.0.2.7')
        equal(row.request_id, answer.headers['x-request-id'])
        match(row.actor, /^(mkey_|operator$)/)
        if (route.path.includes('{organizationId}')) equal(row.organization_id, things.organizationId)
        else if (route.path !== '/api/v1/organizations') equal(row.organization_id, installationChain)
        equal(JSON.stringify(row).includes('sk-ody'), false, 'The audit shows no key.')
        await undo(request.path, things)
      })
    }

    async function undo(path: string, { organizationId, projectId, connectionId }: Things): Promise<void> {
      if (path.endsWith('/enforce')) {
        await relaxConnection({ ...service.accounts, signIn: testSignIn }, operator, {
          id: connectionId,
          organizationId,
        })
      }
      const project = { id: projectId, organizationId }
      if (path.endsWith('/archive')) await setProjectArchived(service.accounts, operator, project, false)
      if (path.endsWith('/disable')) {
        await setOrganizationDisabled(service.accounts, operator, { organizationId, isDisabled: false })
      }
    }

    test('a change that is refused leaves no row in the audit', async () => {
      const rowsBefore = (await rows()).length
      const path = `/api/v1/organizations/${company.organizationId}/members`
      const email = 'twice@example.org'
      const ask = () =>
        service.ask({ method: 'POST', path, key: service.key, body: { email, name: 'T', role: 'auditor' } })
      deepEqual([(await ask()).status, (await ask()).status], [201, 409])
      equal((await rows()).length, rowsBefore + 1)
    })
  })
})
