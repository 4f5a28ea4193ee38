import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { bodyFor, longMessages } from '../harness/http/ask.ts'
import { openFormatStream } from '../harness/http/open-stream.ts'
import { readLedger, startService, until } from '../harness/start-service.ts'

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

test('a stream that the drain is too short for is cut, has failed on our side, and was not left by its client', async () => {
  const service = await startService({ config: { server: { drainSeconds: 0 } } })
  const stream = await openFormatStream(service, 'chat', bodyFor('chat', { messages: longMessages(16_000) }))
  ok(await stream.has(/"role"/))
  equal(await service.stop(), 0)
  const { text, isWhole } = await stream.ended
  equal(isWhole, false)
  match(text, /server_is_overloaded/)
  deepEqual(
    readLedger(service.home).map(({ outcome, reason }) => [outcome, reason]),
    [['failed', 'service-stopping']],
  )
  match(service.output().stderr, /"broke_off":"service-stopping"/)
})
