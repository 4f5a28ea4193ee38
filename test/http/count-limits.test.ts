// The limits of counting tokens, which are those of no generation. The engine is scripted and the
// service's clock is moved by hand.

import { deepEqual, equal, match } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { setLimit } from '../../src/limits/settings/limit-settings.ts'
import { bodyFor, paths } from '../harness/http/ask.ts'
import { startFakeService, type FakeService } from '../harness/fake-service.ts'

const countPath = '/v1/messages/count_tokens'
const words = { messages: [{ role: 'user', content: 'two words' }] }

let service: FakeService
beforeEach(async () => {
  service = await startFakeService({}, {}, { counts: { perKeyMinuteMax: 60, concurrentPerKeyMax: 3 } })
})
afterEach(() => service.close())

async function ask(path = countPath, body: RequestInit['body'] = JSON.stringify(bodyFor('messages', words))) {
  const response = await fetch(`${service.address}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}` },
    body: body ?? null,
    duplex: 'half',
  } as RequestInit)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

test('a count says how many are left, and takes nothing of the limit of requests', async () => {
  const { organizationId, projectId } = service.home
  const subject = { kind: 'project', id: projectId } as const
  await setLimit(service.accounts, { kind: 'operator' }, { organizationId, subject, model: '*', requestsPerMinute: 5 })
  await service.limits.look()
  const { status, headers, text } = await ask()
  deepEqual([status, text], [200, '{"input_tokens":10}'])
  equal(headers.get('anthropic-ratelimit-requests-limit'), '60')
  equal(headers.get('anthropic-ratelimit-requests-remaining'), '59')
  equal(headers.get('x-ratelimit-limit-requests'), '60')
  equal(headers.get('x-ratelimit-remaining-requests'), '59')
  const answer = await ask(paths.messages, JSON.stringify(bodyFor('messages', { ...words, max_tokens: 10 })))
  equal(answer.headers.get('anthropic-ratelimit-requests-limit'), '5')
  equal(answer.headers.get('anthropic-ratelimit-requests-remaining'), '4')
})

test('a count too many is refused with the time after which the next one succeeds, also just before', async () => {
  for (let count = 0; count < 60; count += 1) equal((await ask()).status, 200)
  const refused = await ask()
  equal(refused.status, 429)
  match(refused.text, /rate_limit_error/)
  equal(refused.headers.get('retry-after'), '1')
  equal(refused.headers.get('anthropic-ratelimit-requests-remaining'), '0')
  service.clock.advance(999)
  equal((await ask()).status, 429)
  service.clock.advance(1)
  equal((await ask()).status, 200)
  equal((await ask()).status, 429)
  // Generations go on meanwhile.
  equal((await ask(paths.messages, JSON.stringify(bodyFor('messages', { ...words, max_tokens: 10 })))).status, 200)
})

test('counts under way take places, before their bodies are read, and give them back', async () => {
  const bodies = Array.from({ length: 3 }, () => new TransformStream<Uint8Array, Uint8Array>())
  const sending = bodies.map(({ readable }) => ask(countPath, readable))
  const writers = bodies.map(({ writable }) => writable.getWriter())
  for (const writer of writers) await writer.write(new TextEncoder().encode('{'))
  let refused = await ask()
  // The three have to arrive first.
  for (; refused.status !== 429; refused = await ask());
  match(refused.text, /limit of requests under way, 3, is reached/)
  equal(refused.headers.get('retry-after'), '1')
  const rest = new TextEncoder().encode(JSON.stringify(bodyFor('messages', words)).slice(1))
  for (const writer of writers) {
    await writer.write(rest)
    await writer.close()
  }
  deepEqual(
    (await Promise.all(sending)).map(({ status }) => status),
    [200, 200, 200],
  )
  equal((await ask()).status, 200)
})
