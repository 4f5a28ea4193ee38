import { equal, ok } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { openMemoryDatabase } from '../harness/databases/memory-database.ts'
import { routes } from '../../src/http/api/routes.ts'
import { openManagementService, type ManagementService } from '../harness/management-service.ts'

const run = promisify(execFile)
const page = readFileSync(join(import.meta.dirname, '../../docs/operations/management-api.md'), 'utf8')
const commands = [...page.matchAll(/^```sh\n([^]*?)^```$/gm)]
  .map(([, code = '']) => code)
  .filter((code) => code.includes('curl'))

describe('the page on the management API', () => {
  let service: ManagementService
  let address: string

  before(async () => {
    service = await openManagementService(await openMemoryDatabase())
    address = await service.app.listen({ host: '127.0.0.1', port: 0 })
  })
  after(() => service.close())

  for (const code of commands) {
    test(code.split('\n', 1)[0] ?? '', async () => {
      const command = code
        .replaceAll('http://127.0.0.1:8080', address)
        .replaceAll('curl ', 'curl --silent --show-error --fail ')
      const environment = { PATH: process.env['PATH'] ?? '', ODYSSEY_MANAGEMENT_KEY: service.key }
      const { stdout } = await run('sh', ['-e', '-c', command], { env: environment })
      ok(stdout.length > 0)
    })
  }

  test('runs what it shows', () => equal(commands.length, 7))

  test('names every resource that there is', () => {
    for (const { path } of routes) {
      const [resource = ''] = path.replace('/api/v1/', '').replace('organizations/{organizationId}/', '').split('/')
      ok(page.includes(`\`${resource}`) || page.includes(`/${resource}\``), resource)
    }
  })
})
