import { deepEqual, equal, match } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setOrganizationDisabled } from '../../../src/accounts/organizations.ts'
import { relaxConnection } from '../../../src/accounts/single-sign-on/enforcement.ts'
import { setProjectArchived } from '../../../src/accounts/projects.ts'
import { installationChain } from '../../../src/db/change.ts'
import type { AuditTable } from '../../../src/db/tables/audit.ts'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import { testSignIn } from '../../harness/management.ts'
import { signInPerson } from '../../harness/sign-in.ts'
import { openManagementService, type Ask, type ManagementService } from '../../harness/management-service.ts'
import { keyFor, nameOf, permittedRoutes, requestFor, thingsNamed } from './ask-route.ts'
import { createThings, renewThings, type Things } from './things.ts'
import { createCompany, type Company } from './world.ts'

const operator = { kind: 'operator' } as const

onEachDatabase((database) => {
  describe('what every change leaves in the audit', () => {
    let service: ManagementService
    let company: Company
    let standing: Things

    before(async () => {
      service = await openManagementService(await database.open())
      company = await createCompany(service.accounts)
      standing = await createThings(service.accounts, wanted())
    })
    after(() => service.close())

    const wanted = () => ({ company, projectId: company.projectId, ownerId: company.members.developer.memberId })
    const rows = (): Promise<AuditTable[]> => service.db.selectFrom('audit').selectAll().execute()

    for (const route of permittedRoutes.filter(({ method }) => method !== 'GET')) {
      test(nameOf(route), async () => {
        const names = thingsNamed(route)
        const things = await renewThings(service.accounts, wanted(), { known: standing, names })
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

    const exports = permittedRoutes.filter(({ answer }) => answer === 'export')
    for (const route of exports) {
      test(`${nameOf(route)}, with who has saved it and by which filters`, async () => {
        const { path } = await requestFor(service, route, standing)
        const known = new Set((await rows()).map(({ id }) => id))
        const ask = (query: string, key: string) => service.ask({ path: path + query, key, address: '192.0.2.7' })
        equal((await ask('?format=csv', service.key)).status, 200)
        const added = (await rows()).filter(({ id }) => !known.has(id))
        const names = route.path.split('/').slice(0, -1)
        const what = names.findLast((name) => !name.startsWith('{'))
        deepEqual(
          added.map(({ action, address, organization_id: id }) => [action, address, id]),
          [[`${what}:export`, '192.0.2.7', chainOf(route, standing)]],
        )
        match(added[0]?.after ?? '', /"format":"csv"/)
        const refused = await ask('?format=csv', await service.createKey('developer', null))
        deepEqual([refused.status, (await rows()).length], [403, known.size + 2], 'Only the key leaves a row.')
      })
    }

    for (const what of ['audit', 'ledger']) {
      test(`a person who looks at the ${what}, once an hour, and a key that does not`, async () => {
        const { headers } = await signInPerson(service.accounts, { memberId: company.members.auditor.memberId })
        const path = `/api/v1/organizations/${company.organizationId}/${what}`
        const look = async (given: Partial<Ask>) => equal((await service.ask({ path, ...given })).status, 200)
        const count = async () => (await rows()).filter(({ action }) => action === `${what}:read`).length
        await look({ key: service.key })
        equal(await count(), 0)
        for (const expected of [1, 1]) {
          await look({ headers })
          equal(await count(), expected)
        }
        // Half an hour without asking ends a session.
        service.clock.advance(3_600_000)
        const again = await signInPerson(service.accounts, { memberId: company.members.auditor.memberId })
        await look({ headers: again.headers })
        equal(await count(), 2)
      })
    }

    const chainOf = ({ path }: { readonly path: string }, { organizationId }: Things) =>
      path.includes('{organizationId}') ? organizationId : installationChain

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
