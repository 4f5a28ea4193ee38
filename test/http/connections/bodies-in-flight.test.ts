// What one key, and all together, may have of bodies in memory, and that it is looked at before they are read.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createApiKey } from '../../../src/accounts/api-keys.ts'
import type { FakeStep } from '../../../src/engines/fake/fake-engine.ts'
import { setLimit } from '../../../src/limits/settings/limit-settings.ts'
import { checkErrorResponse } from '../../campaigns/bodies/error-bodies.ts'
import { RawConnection, authorize, exchange, toBytes } from '../../campaigns/raw-http.ts'
import { bodyFor } from '../../harness/http/ask.ts'
import { startFakeService, type FakeService } from '../../harness/fake-service.ts'
import { until } from '../../harness/start-service.ts'

const mebibyte = 1_024 * 1_024
const operator = { kind: 'operator' } as const
const shapes = { '/v1/chat/completions': 'chat', '/v1/messages': 'messages' } as const

let service: FakeService
afterEach(async () => {
  service.app.server.closeAllConnections()
  await service.close()
})

async function start(bodyBytesMax = 256 * mebibyte, script: readonly FakeStep[] = []): Promise<void> {
  const steps = [...script, { kind: 'end', reason: { kind: 'end' } }] as const
  service = await startFakeService({ script: () => steps }, undefined, { bounds: { bodyBytesMax } })
}

/** Sends the head of a request, whose body is still to come. */
async function announce(path: string, key: string, length: number | null): Promise<RawConnection> {
  const framing = length === null ? ['transfer-encoding', 'chunked'] : ['content-length', String(length)]
  const connection = new RawConnection(service.address)
  await connection.send(toBytes({ path, headers: [...authorize(key), framing as [string, string]], body: '' }))
  return connection
}

async function createKey(): Promise<string> {
  return (await createApiKey(service.accounts, operator, { name: 'other', ...service.home })).key
}

async function refused(connection: RawConnection, status: number, path: keyof typeof shapes): Promise<void> {
  ok(await connection.until(({ isComplete }) => isComplete), 'There is no answer.')
  equal(connection.response.status, status, connection.response.text)
  checkErrorResponse(connection.response, shapes[path])
  ok(connection.response.headers.has('retry-after'))
  equal(connection.response.headers.get('connection'), 'close')
  await until(() => connection.isClosed, 'It stays open.')
}

for (const path of Object.keys(shapes) as (keyof typeof shapes)[]) {
  describe(path, () => {
    test('a key over its concurrency is refused before its body comes', async () => {
      await start()
      const { organizationId, projectId } = service.home
      const subject = { kind: 'project', id: projectId } as const
      await setLimit(service.accounts, operator, { organizationId, subject, model: '*', concurrency: 1 })
      await service.limits.look()
      const first = await announce(path, service.key, 100)
      await new Promise((resolve) => setTimeout(resolve, 100))
      await refused(await announce(path, service.key, 100), 429, path)
      first.leave('rst')
      const body = JSON.stringify(bodyFor(shapes[path]))
      await until(async () => {
        const response = await exchange(service.address, { path, headers: authorize(service.key), body })
        return response.status === 200
      }, 'The place does not come back.')
    })

    test("a body beyond a key's share of memory is refused before it comes, and others go on", async () => {
      await start(128 * mebibyte)
      const first = await announce(path, service.key, 31 * mebibyte)
      await new Promise((resolve) => setTimeout(resolve, 100))
      await refused(await announce(path, service.key, 2 * mebibyte), 429, path)
      const body = JSON.stringify(bodyFor(shapes[path]))
      const headers = authorize(await createKey())
      equal((await exchange(service.address, { path, headers, body })).status, 200)
      first.leave('rst')
    })

    test('every body is refused while all together take too much memory, and none afterwards', async () => {
      await start(64 * mebibyte)
      const [one, two] = [await createKey(), await createKey()]
      const holding = [await announce(path, one, 32 * mebibyte), await announce(path, two, 31 * mebibyte)]
      await new Promise((resolve) => setTimeout(resolve, 100))
      await refused(await announce(path, service.key, 2 * mebibyte), path === '/v1/messages' ? 529 : 503, path)
      for (const connection of holding) connection.leave('rst')
      const body = JSON.stringify(bodyFor(shapes[path], { user: 'x'.repeat(10) }))
      await until(async () => {
        const response = await exchange(service.address, { path, headers: authorize(service.key), body })
        return response.status !== 529 && response.status !== 503
      }, 'The room does not come back.')
    })
  })
}

test('a chunked body counts against the memory as it comes', async () => {
  await start(128 * mebibyte)
  const first = await announce('/v1/messages', service.key, 30 * mebibyte)
  await new Promise((resolve) => setTimeout(resolve, 100))
  const chunked = await announce('/v1/messages', service.key, null)
  const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(mebibyte, 0x20), Buffer.from('\r\n')])
  for (let sent = 0; sent < 4 && !chunked.isClosed; sent += 1) await chunked.send(chunk)
  await refused(chunked, 429, '/v1/messages')
  first.leave('rst')
})

test('a gzip body counts against the memory as it unpacks', async () => {
  await start(128 * mebibyte)
  const first = await announce('/v1/messages', service.key, 30 * mebibyte)
  await new Promise((resolve) => setTimeout(resolve, 100))
  // Random enough for the ratio, and long enough for the budget.
  const text = Array.from({ length: 700_000 }, (_, index) => (index * 7_919) % 999_983).join(' ')
  const body = gzipSync(JSON.stringify(bodyFor('messages', { system: text })))
  const headers = [...authorize(service.key), ['content-encoding', 'gzip']] as const
  const response = await exchange(service.address, { path: '/v1/messages', headers, body })
  equal(response.status, 429, response.text)
  first.leave('rst')
})

test('40 packed bodies of one key at once leave room for others, and nothing behind', async () => {
  await start(128 * mebibyte)
  const noise = Array.from({ length: 2_000 }, (_, index) => (index * 7_919) % 999_983).join(' ')
  const body = gzipSync(JSON.stringify(bodyFor('messages', { system: noise.repeat(1_500) })), { level: 9 })
  const headers = [...authorize(service.key), ['content-encoding', 'gzip']] as const
  const statuses = await Promise.all(
    Array.from(
      { length: 40 },
      async () => (await exchange(service.address, { path: '/v1/messages', headers, body })).status,
    ),
  )
  const counted = Map.groupBy(statuses, (status) => status ?? 0)
  deepEqual(
    [...counted.keys()].filter((status) => status !== 413 && status !== 429 && status !== 200),
    [],
  )
  const plain = JSON.stringify(bodyFor('messages'))
  const after = await exchange(service.address, { path: '/v1/messages', headers: authorize(service.key), body: plain })
  equal(after.status, 200, after.text)
})

test('the refusal of a key says that its own requests are too large together', async () => {
  await start(128 * mebibyte)
  const first = await announce('/v1/messages', service.key, 32 * mebibyte)
  await new Promise((resolve) => setTimeout(resolve, 100))
  const second = await announce('/v1/messages', service.key, 2)
  await refused(second, 429, '/v1/messages')
  match(second.response.text, /under way are too large together/)
  first.leave('rst')
})
