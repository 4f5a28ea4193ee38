import { equal, match, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { allClients } from '../../src/cli/connect/clients/all-clients.ts'
import { startService, type Service } from '../harness/start-service.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.stop())

test('what the first start prints to try the service is answered', async () => {
  const { stdout } = service.output()
  const [, url = '', body] = /curl (\S+) -H "x-api-key: \$ODYSSEY_KEY" -d '([^']+)'/.exec(stdout) ?? []
  ok(stdout.includes(`export ODYSSEY_KEY=${service.key}\n`))
  const response = await fetch(url, { method: 'POST', headers: { 'x-api-key': service.key }, body: body ?? '' })
  equal(response.status, 200)
  match(await response.text(), /"type":"message"/)
})

test('the client that the first start names is one that connect knows', () => {
  const named = /npx odyssey connect (\S+)/.exec(service.output().stdout)?.[1]
  ok(allClients.some(({ name }) => name === named))
})

test('a later start shows neither a key nor how to use it', async () => {
  await service.stop()
  service = await service.restart()
  ok(!/sk-ody-|curl/.test(service.output().stdout))
})
