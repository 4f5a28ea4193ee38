import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { until } from '../../../test/harness/start-service.ts'
import { signingKeyPathIn } from '../../accounts/transparency/signing-keys.ts'
import { loadConfig } from '../../config/load.ts'
import type { CanaryParts } from '../../inference/canary.ts'
import type { Clock } from '../../lib/clock.ts'
import { createLog } from '../../telemetry/log.ts'
import { openAvailability } from './open-availability.ts'

const hourMs = 3_600_000

/** Nobody is served here. */
function canaryPartsOf(clock: Clock): CanaryParts {
  const requireWritable = () => {
    throw new Error('Nobody is served here.')
  }
  return {
    catalog: { list: () => [], find: () => null } as never,
    ledger: { append: () => Promise.resolve(), requireWritable },
    clock,
    areKeysChecked: () => false,
  }
}

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
    availability.begin(canaryPartsOf(clock))
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

  test('the invoices of a month that is over are written soon after a start, and not only once an hour is over', async (context) => {
    const home = mkdtempSync(join(tmpdir(), 'odyssey-availability-'))
    context.after(() => rmSync(home, { recursive: true }))
    const db = await open()
    const startMs = Date.UTC(2027, 2, 1)
    const clock = createManualClock(startMs)
    const organization = { id: 'org_1', name: 'One', created_at: startMs, disabled_at: null } as const
    await db.insertInto('organizations').values(organization).execute()
    const span = { boot_id: 'boot_1', number: 1, subject: '', from_at: startMs, until_at: startMs + 1, ended_by: null }
    await db.insertInto('life_spans').values(span).execute()
    writeFileSync(join(home, 'odyssey.json'), '{"availability": {"canary": "off"}}')
    const config = loadConfig({ ODYSSEY_HOME: home })
    clock.advance(Date.UTC(2027, 3, 1, 7) - startMs)
    const availability = openAvailability({ db, clock, log: createLog('silent'), config, isStopping: () => false })
    availability.begin(canaryPartsOf(clock))
    clock.advance(60_000)
    const months = () => db.selectFrom('invoices').select('month').execute()
    equal(await until(async () => (await months())[0]?.month, 'There is no invoice.'), '2027-03')
    await availability.close()
    await db.destroy()
  })
})
