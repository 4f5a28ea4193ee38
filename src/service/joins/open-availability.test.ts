import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { until } from '../../../test/harness/start-service.ts'
import { signingKeyPathIn } from '../../accounts/transparency/signing-keys.ts'
import { loadConfig } from '../../config/load.ts'
import { createLog } from '../../telemetry/log.ts'
import { openAvailability } from './open-availability.ts'

const hourMs = 3_600_000

onEachDatabase(({ open }) => {
  test('old signs of life are deleted within the hour, also where no month can be signed', async (context) => {
    const home = mkdtempSync(join(tmpdir(), 'odyssey-availability-'))
    context.after(() => rmSync(home, { recursive: true }))
    writeFileSync(signingKeyPathIn(home), 'no key')
    const db = await open()
    const clock = createManualClock()
    const spans = [12_000, clock.nowMs() - hourMs].map((from_at, number) => {
      return { boot_id: 'boot_1', number, subject: '', from_at, until_at: from_at + 1, ended_by: null }
    })
    await db.insertInto('life_spans').values(spans).execute()
    writeFileSync(join(home, 'odyssey.json'), '{"availability": {"canary": "off"}}')
    const config = loadConfig({ ODYSSEY_HOME: home })
    const availability = openAvailability({ db, clock, log: createLog('silent'), config, isStopping: () => false })
    const requireWritable = () => {
      throw new Error('Nobody is served here.')
    }
    const ledger = { append: () => Promise.resolve(), requireWritable }
    availability.begin({
      catalog: { list: () => [], find: () => null } as never,
      ledger,
      clock,
      areKeysChecked: () => false,
    })
    clock.advance(hourMs)
    const kept = async () => {
      const rows = await db.selectFrom('life_spans').select('number').where('boot_id', '=', 'boot_1').execute()
      return rows.map(({ number }) => number)
    }
    await until(async () => (await kept()).length === 1, 'The old sign was not deleted.')
    deepEqual(await kept(), [1])
    await availability.close()
    await db.destroy()
  })
})
