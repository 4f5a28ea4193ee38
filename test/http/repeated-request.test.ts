import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { readLedger, startService, until, type Service } from '../harness/start-service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

const body = JSON.stringify({
  model: 'tycho-1.0',
  max_tokens: 12,
  stream: true,
  messages: [{ role: 'user', content: 'Tell me something.' }],
})

async function ask(headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const response = await fetch(`${service.address}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': service.key, ...headers },
    body,
  })
  assert.match(await response.text(), /message_stop/)
  return response.headers.get('request-id') ?? ''
}

type Row = { request_id: string; kind: string; protocol: string; is_stream: number; client_request_id: string | null }
const rows = () => readLedger(service.home) as unknown as Row[]

test('a request that its client repeats is charged once when its answer did not arrive, and twice when it did', async () => {
  const first = await ask({ 'x-client-request-id': 'mine-1' })
  const db = new DatabaseSync(join(service.home, 'odyssey.db'), { timeout: 5_000 })
  const marks = () =>
    db
      .prepare('SELECT request_id FROM deliveries')
      .all()
      .map((row) => String(row['request_id']))
  await until(() => marks().includes(first), 'The delivery was not noted.')
  const second = await ask({ 'x-stainless-retry-count': '1' })
  assert.deepEqual(
    rows().map(({ kind }) => kind),
    ['charge', 'charge'],
  )
  await until(() => marks().includes(second), 'The delivery was not noted.')

  // As if the service had ended before the second answer's last bytes left.
  db.prepare('DELETE FROM deliveries WHERE request_id = ?').run(second)
  await ask({ 'x-stainless-retry-count': '0' })
  assert.equal(rows().length, 3, 'a new request voids nothing')
  const third = rows()[2]?.request_id ?? ''
  await until(() => marks().includes(third), 'The delivery was not noted.')
  db.prepare('DELETE FROM deliveries WHERE request_id = ?').run(third)
  await ask({ 'x-stainless-retry-count': '1' })
  db.close()
  const reversals = await until(() => {
    const found = rows().filter(({ kind }) => kind === 'reversal')
    return found.length > 0 ? found : null
  }, 'The charge is not void.')
  assert.deepEqual(
    reversals.map(({ request_id: id }) => id),
    [third, second],
  )
  const [row] = rows()
  assert.deepEqual([row?.protocol, row?.is_stream, row?.client_request_id], ['messages', 1, 'mine-1'])
})
