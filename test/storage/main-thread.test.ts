import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startService, until } from '../harness/start-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-statements-'))
after(() => rmSync(folder, { recursive: true }))
const noted = join(folder, 'statements')
const noting = fileURLToPath(new URL('../harness/databases/note-statements.ts', import.meta.url))

/** All that the thread which serves may ask itself while it does: the three counters of changes, and single keys. */
const allowed: readonly RegExp[] = [
  /^select "topic", "counter" from "changes"$/,
  /^select .* from "api_keys" .* "key_hash" in/,
]

test('while it serves, the main thread writes nothing and reads nothing but counters and single keys', async (context) => {
  const service = await startService({
    environment: { NODE_OPTIONS: `--import=${noting}`, ODYSSEY_TEST_STATEMENTS: noted },
  })
  context.after(() => service.stop())
  assert.ok(existsSync(noted), 'Nothing was noted, so nothing would be found.')
  const before = readFileSync(noted, 'utf8').length
  const ask = async (isStream: boolean) => {
    const response = await fetch(`${service.address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}` },
      body: JSON.stringify({
        model: 'clarke-1.0',
        max_tokens: 4,
        stream: isStream,
        messages: [{ role: 'user', content: 'Hello' }],
      }),
    })
    assert.equal(response.status, 200)
    await response.text()
  }
  for (let count = 0; count < 4; count += 1) await ask(count % 2 === 0)

  const count = (table: string) => {
    const file = new DatabaseSync(join(service.home, 'odyssey.db'), { readOnly: true })
    const found = Number(file.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count'])
    file.close()
    return found
  }
  assert.equal(count('ledger'), 4)
  await until(() => count('deliveries') === 4, 'The marks of the answers were not written.')
  await until(() => count('usage_hours') > 0, 'The ledger was not rolled up.')
  await service.stop()

  const statements = readFileSync(noted, 'utf8').slice(before).trimEnd().split('\n')
  const others = statements.filter((statement) => !allowed.some((pattern) => pattern.test(statement)))
  assert.ok(statements.length > 0)
  assert.deepEqual(others, [])
})
