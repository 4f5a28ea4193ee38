import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startFakeService, type FakeService } from '../harness/fake-service.ts'

let service: FakeService
before(async () => {
  service = await startFakeService({})
})
after(() => service.close())

async function series(): Promise<Map<string, number>> {
  const { text } = await service.metrics.expose()
  const lines = text.split('\n').filter((line) => line.startsWith('odyssey_'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

const ask = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${service.address}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}`, ...headers },
    body: JSON.stringify(body),
  }).then((answer) => answer.text())

const question = { model: 'hal-1.0', max_tokens: 50, messages: [{ role: 'user', content: 'Well?' }] }

test('answers and refusals are counted under the names of the routes', async () => {
  await ask('/v1/messages', question)
  await ask('/v1/messages', { ...question, max_tokens: -1 })
  await ask('/v1/chat/completions', { ...question, model: 'other' })
  const counted = await series()
  const requests = (route: string, status: number) =>
    counted.get(`odyssey_http_requests_total{route="${route}",method="POST",status="${status}"}`)
  assert.equal(requests('/v1/messages', 200), 1)
  assert.equal(requests('/v1/messages', 400), 1)
  assert.equal(requests('/v1/chat/completions', 404), 1)
  assert.equal(counted.get('odyssey_errors_total{code="invalid-request"}'), 1)
  assert.equal(counted.get('odyssey_errors_total{code="model-not-found"}'), 1)
  assert.equal(counted.get('odyssey_generations_total{model="hal-1.0",outcome="finished",reason="end"}'), 1)
  assert.ok((counted.get('odyssey_tokens_total{model="hal-1.0",kind="output"}') ?? 0) > 0)
})

test('nothing that clients send adds a series to the metrics', async () => {
  const send = async (turn: number) => {
    await ask(`/v1/nowhere-${turn}`, question)
    await ask('/v1/messages', { ...question, model: `model-${turn}` })
    await ask(`/v1/messages?turn=${turn}`, { ...question, [`field_${turn}`]: turn }, { 'x-turn': String(turn) })
    await ask('/v1/messages', question, { authorization: `Bearer ${turn}` })
    await fetch(`${service.address}/v1/models/${turn}`, { method: 'PUT' }).then((answer) => answer.text())
  }
  await send(0)
  const before = (await series()).size
  for (let turn = 1; turn <= 20; turn++) await send(turn)
  assert.equal((await series()).size, before)
})
