import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { startService, until } from '../harness/start-service.ts'

test('a service with time to give notice is not ready at once, and refuses nothing until the notice is over', async () => {
  const service = await startService({ config: { server: { noticeSeconds: 3 } } })
  const ask = async (path: string, init?: RequestInit) => (await fetch(`${service.address}${path}`, init)).status
  const question = {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}` },
    body: JSON.stringify({ model: 'tycho-1.0', max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] }),
  }
  const stopped = service.stop()
  await until(async () => (await ask('/readyz')) === 503, 'The service goes on saying that it is ready.')
  equal(await ask('/v1/chat/completions', question), 200)
  equal(await ask('/healthz'), 200)
  equal(await stopped, 0)
  match(service.output().stderr, /"msg":"draining"/)
})

test('a second signal ends the notice as it ends the drain', async () => {
  const service = await startService({ config: { server: { noticeSeconds: 300 } } })
  const stopped = service.stop()
  await until(async () => (await fetch(`${service.address}/readyz`)).status === 503, 'No notice was given.')
  equal(await service.stop(), 0)
  equal(await stopped, 0)
})
