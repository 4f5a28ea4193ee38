// The way in that the commands of the service's own machine have, and nobody else.

import { equal, ok } from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { readServiceFile, type ServiceFile } from '../../src/service/status/service-file.ts'
import { runCli } from '../harness/run-cli.ts'
import { startService, type Service } from '../harness/start-service.ts'

let service: Service
let file: ServiceFile

before(async () => {
  service = await startService()
  file = readServiceFile(service.home)!
})
after(() => service.stop())

async function statusOf(address: string, path: string, headers: Record<string, string>): Promise<number> {
  const response = await fetch(`${address}${path}`, { headers })
  await response.text()
  return response.status
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

test('the operator’s key manages everything on the operator’s address', async () => {
  const { address, key } = file.operator
  for (const path of ['/api/v1/weights', '/api/v1/models', '/api/v1/organizations', '/api/v1/audit']) {
    equal(await statusOf(address, path, bearer(key)), 200, path)
  }
})

test('the operator’s key is refused on the address of clients', async () => {
  for (const path of ['/api/v1/weights', '/v1/models']) {
    equal(await statusOf(service.address, path, bearer(file.operator.key)), 401, path)
  }
})

test('an owner’s management key may not see which weights are loaded', async () => {
  const words = await runCli(service, 'management-keys', 'create', '--name', 'owner', '--role', 'owner', '--json')
  const { key } = JSON.parse(words) as { key: string }
  equal(await statusOf(service.address, '/api/v1/models', bearer(key)), 200)
  equal(await statusOf(service.address, '/api/v1/weights', bearer(key)), 403)
})

test('the operator’s address answers 401 to every other key and on the paths of clients', async () => {
  const { address, key } = file.operator
  equal(await statusOf(address, '/api/v1/weights', {}), 401)
  equal(await statusOf(address, '/api/v1/weights', bearer(service.key)), 401)
  equal(await statusOf(address, '/api/v1/weights', bearer(`${key}x`)), 401)
  equal(await statusOf(address, '/v1/models', bearer(key)), 401)
  equal(await statusOf(address, '/v1/models', bearer(service.key)), 401)
})

test('the operator’s address is of loopback', () => {
  equal(new URL(file.operator.address).hostname, '127.0.0.1')
})

test('the operator’s key is in a file for the service’s user alone, which goes with the service', async () => {
  const path = join(service.home, 'service.json')
  if (process.platform !== 'win32') equal(statSync(path).mode & 0o777, 0o600)
  equal(await service.stop(), 0)
  ok(!existsSync(path))
})
