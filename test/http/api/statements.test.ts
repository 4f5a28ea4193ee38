// What a change of a limit asks of the database, from the check of the key to the answer.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createApiKey } from '../../../src/accounts/api-keys.ts'
import type { OrganizationId } from '../../../src/core/ids.ts'
import { createCompany } from './world.ts'
import { statementsOf } from '../../harness/databases/count-statements.ts'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import { openManagementService, type ManagementService } from '../../harness/management-service.ts'

/** The key, and whether it stands still; the subject with its limit, the limit, the change feed, and three for the audit. */
const statementsMax = 8

onEachDatabase(({ open }) => {
  let service: ManagementService
  let organizationId: OrganizationId
  let subjects: readonly { readonly kind: string; readonly id: string }[]
  let keys: readonly string[]
  beforeEach(async () => {
    service = await openManagementService(await open())
    const company = await createCompany(service.accounts)
    organizationId = company.organizationId
    const { id } = await createApiKey(
      service.accounts,
      { kind: 'operator' },
      { name: 'key', organizationId, projectId: company.projectId },
    )
    subjects = [
      { kind: 'organization', id: organizationId },
      { kind: 'project', id: company.projectId },
      { kind: 'api-key', id },
    ]
    keys = [await service.createKey('owner', organizationId), service.key]
  })
  afterEach(() => service.close())

  const pathOf = (id = '') => `/api/v1/organizations/${organizationId}/limits${id}`

  async function count(wanted: number, ask: Parameters<ManagementService['ask']>[0]): Promise<unknown> {
    let answered: Awaited<ReturnType<ManagementService['ask']>> | undefined
    const statements = await statementsOf(async () => {
      answered = await service.ask(ask)
    })
    equal(answered?.status, wanted, answered?.text ?? '')
    ok(statements.length <= statementsMax, `${statements.length} statements:\n${statements.join('\n')}`)
    ok(statements.length > 4, 'The statements were not counted.')
    return answered?.body['id']
  }

  test(`a limit is set, set anew and removed with at most ${statementsMax} statements each`, async () => {
    for (const key of keys) {
      for (const subject of subjects) {
        const set = { method: 'PUT', path: pathOf(), key, body: { subject, model: '*', concurrency: 3 } } as const
        const id = await count(200, set)
        equal(await count(200, set), id)
        await count(204, { method: 'DELETE', path: pathOf(`/${String(id)}`), key })
      }
    }
    const { body } = await service.ask({ path: pathOf(), key: service.key })
    deepEqual(body['data'], [])
  })
})
