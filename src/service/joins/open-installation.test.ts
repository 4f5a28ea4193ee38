import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { ledgerRow } from '../../../test/harness/databases/ledger-row.ts'
import { tryCli } from '../../../test/harness/run-cli.ts'
import { insertRows } from '../../billing/ledger/writer/insert-rows.ts'
import { setPrice } from '../../billing/prices/prices.ts'
import { loadConfig } from '../../config/load.ts'
import { type DatabaseLocation, sqlitePath } from '../../db/database-location.ts'
import { backUp } from '../../db/portable/back-up.ts'
import { restore } from '../../db/portable/restore.ts'
import {
  openExistingInstallation,
  openInstallation,
  openServingInstallation,
  type Installation,
} from './open-installation.ts'

const folders = mkdtempSync(join(tmpdir(), 'odyssey-secrets-'))
after(() => rmSync(folders, { recursive: true }))

const secretIn = ({ home }: Pick<DatabaseLocation, 'home'>) => join(home, 'secret.key')
const newHome = () => mkdtempSync(join(folders, 'home-'))

async function open(location: DatabaseLocation, how = openInstallation): Promise<Installation['secrets']> {
  const installation = await how(loadConfig({ ODYSSEY_HOME: location.home, DATABASE_URL: location.databaseUrl ?? '' }))
  await installation.db.destroy()
  return installation.secrets
}

onEachDatabase(({ name, createLocation }) => {
  test('a new data folder gets a secret, which every later opening finds', async () => {
    const location = await createLocation()
    const first = await open(location)
    assert.equal(statSync(secretIn(location)).mode & 0o777, 0o600)
    assert.deepEqual(await open(location), first)
    assert.deepEqual(await open(location, openServingInstallation), first)
  })

  test('a command opens what a start has made, and makes nothing where there was none', async () => {
    const location = await createLocation()
    const folder = join(location.home, 'none')
    await assert.rejects(
      open({ ...location, home: folder }, openExistingInstallation),
      new Error(`There is no Odyssey in ${folder}. Set ODYSSEY_HOME to its data folder, or start it once.`),
    )
    assert.ok(!existsSync(folder))
    const secrets = await open(location, openServingInstallation)
    assert.deepEqual(await open(location, openExistingInstallation), secrets)
    if (location.databaseUrl === null) return
    const further = newHome()
    copyFileSync(secretIn(location), secretIn({ home: further }))
    assert.deepEqual(await open({ ...location, home: further }, openExistingInstallation), secrets)
  })

  test('a start with other settings than the last one leaves a row, and no secret in it', async () => {
    const location = await createLocation()
    const start = async (settings: object) => {
      writeFileSync(join(location.home, 'odyssey.json'), JSON.stringify(settings))
      const environment = { ODYSSEY_HOME: location.home, DATABASE_URL: location.databaseUrl ?? '' }
      const { db } = await openServingInstallation(loadConfig(environment))
      const rows = await db.selectFrom('audit').selectAll().where('action', '=', 'installation:configure').execute()
      await db.destroy()
      return rows.map(({ actor, before, after }) => [actor, JSON.parse(before ?? ''), JSON.parse(after ?? '')])
    }
    assert.deepEqual(await start({}), [], 'nothing is known of before the first')
    assert.deepEqual(await start({}), [])
    const changed = ['operator', { 'limits.countsPerKeyMinuteMax': '2000' }, { 'limits.countsPerKeyMinuteMax': '9' }]
    assert.deepEqual(await start({ limits: { countsPerKeyMinuteMax: 9 } }), [changed])
    assert.deepEqual(await start({ limits: { countsPerKeyMinuteMax: 9 } }), [changed])
    writeFileSync(join(location.home, 'settings-last-run.json'), 'damaged')
    assert.deepEqual(await start({}), [changed])
  })

  test('a start with another currency is refused while charges wait for their invoices, and leaves no row', async () => {
    const location = await createLocation()
    const start = (currency: string) => {
      writeFileSync(join(location.home, 'odyssey.json'), JSON.stringify({ billing: { currency } }))
      return openServingInstallation(
        loadConfig({ ODYSSEY_HOME: location.home, DATABASE_URL: location.databaseUrl ?? '' }),
      )
    }
    const { db, accounts, home } = await start('USD')
    const rates = { input: 1, cacheRead: 0, cacheWriteShort: 0, cacheWriteLong: 0, output: 0 }
    const price = { organizationId: null, model: 'hal-1.0', rates, effectiveAtMs: null }
    const { id } = await setPrice({ ...accounts, currency: 'USD' }, { kind: 'operator' }, price)
    const charged = { organization_id: home.organizationId, price_id: id, cost_micros: 1, cost_rest_picos: 0 }
    await insertRows(db, [{ ...ledgerRow(1), at: accounts.clock.nowMs(), ...charged }])
    await assert.rejects(start('JPY'), /charges in USD are not invoiced yet/)
    const changed = await db.selectFrom('audit').select('id').where('action', '=', 'installation:configure').execute()
    assert.deepEqual(changed, [])
    await db.destroy()
    await (await start('USD')).db.destroy()
  })

  test('a data folder with a secret and a new database is a new installation', async () => {
    const location = await createLocation()
    writeFileSync(secretIn(location), `${'ab'.repeat(32)}\n`)
    await open(location)
    assert.equal(readFileSync(secretIn(location), 'utf8'), `${'ab'.repeat(32)}\n`)
  })

  test('a secret that is gone is not replaced by a new one, and its return is enough', async () => {
    const location = await createLocation()
    const first = await open(location)
    const kept = readFileSync(secretIn(location))
    rmSync(secretIn(location))
    for (const how of [openInstallation, openServingInstallation]) {
      await assert.rejects(open(location, how), {
        message: `${secretIn(location)} is missing, and without it no API key of this database works. Put it back from where you keep the secret; with several gateways it is the same file on each.`,
      })
      assert.ok(!existsSync(secretIn(location)))
    }
    writeFileSync(secretIn(location), kept)
    assert.deepEqual(await open(location), first)
  })

  test('another installation’s secret is refused and left as it is', async () => {
    const location = await createLocation()
    await open(location)
    writeFileSync(secretIn(location), `${'cd'.repeat(32)}\n`)
    for (const how of [openInstallation, openServingInstallation]) {
      await assert.rejects(open(location, how), /secret\.key is not the secret that this database was made with/)
    }
    assert.equal(readFileSync(secretIn(location), 'utf8'), `${'cd'.repeat(32)}\n`)
  })

  test('a database from before fingerprints takes the secret it is opened with, and no new one', async () => {
    const location = await createLocation()
    const installation = await openInstallation(
      loadConfig({ ODYSSEY_HOME: location.home, DATABASE_URL: location.databaseUrl ?? '' }),
    )
    await installation.db.deleteFrom('installation').execute()
    await installation.db.destroy()
    const kept = readFileSync(secretIn(location))
    rmSync(secretIn(location))
    await assert.rejects(open(location), /secret\.key is missing/)
    writeFileSync(secretIn(location), kept)
    await open(location)
    writeFileSync(secretIn(location), `${'cd'.repeat(32)}\n`)
    await assert.rejects(open(location), /is not the secret/)
  })

  test('the database holds nothing that the secret could be found from', async () => {
    const location = await createLocation()
    const installation = await openInstallation(
      loadConfig({ ODYSSEY_HOME: location.home, DATABASE_URL: location.databaseUrl ?? '' }),
    )
    const rows = await installation.db.selectFrom('installation').selectAll().execute()
    await installation.db.destroy()
    assert.equal(rows.length, 1)
    const { fingerprint, ...keys } = installation.secrets
    assert.equal(rows[0]?.secret_fingerprint, fingerprint)
    for (const key of [readFileSync(secretIn(location), 'utf8').trim(), ...Object.values(keys)]) {
      const text = typeof key === 'string' ? key : Buffer.from(key).toString('hex')
      assert.ok(!JSON.stringify(rows).includes(text))
    }
  })

  test('a backup asks for the secret it was made beside', async () => {
    const [from, to] = [await createLocation(), await createLocation()]
    const first = await open(from)
    const path = join(from.home, 'backup.db')
    await backUp(from, path)
    await restore(to, { path, replaces: false })
    await assert.rejects(open(to), /secret\.key is missing/)
    copyFileSync(secretIn(from), secretIn(to))
    assert.deepEqual(await open(to), first)
  })

  if (name === 'PostgreSQL') {
    test('a gateway with another secret is refused, and one with the same is not', async () => {
      const location = await createLocation()
      const first = await open(location)
      const [stranger, empty, second] = [newHome(), newHome(), newHome()].map((home) => ({ ...location, home }))
      assert.ok(stranger && empty && second)
      writeFileSync(secretIn(stranger), `${'cd'.repeat(32)}\n`)
      await assert.rejects(open(stranger), /is not the secret/)
      await assert.rejects(open(empty), /secret\.key is missing/)
      assert.ok(!existsSync(secretIn(empty)))
      copyFileSync(secretIn(location), secretIn(second))
      assert.deepEqual(await open(second), first)
    })

    test('one of the gateways that start at once on a new database wins, and the others keep no secret of their own', async () => {
      const location = await createLocation()
      const gateways = Array.from({ length: 5 }, () => ({ ...location, home: newHome() }))
      const ended = await Promise.allSettled(gateways.map((gateway) => open(gateway)))
      const winners = gateways.filter((_, index) => ended[index]?.status === 'fulfilled')
      assert.equal(winners.length, 1)
      for (const end of ended) if (end.status === 'rejected') assert.match(String(end.reason), /secret\.key/)
      assert.deepEqual(
        gateways.filter((gateway) => existsSync(secretIn(gateway))),
        winners,
      )
    })
  } else {
    test('commands that start at once on a new data folder have one secret', async () => {
      const location = await createLocation()
      await tryCli(location, 'migrate')
      const ended = await Promise.all(Array.from({ length: 4 }, () => tryCli(location, 'keys', 'list', '--json')))
      assert.deepEqual(
        ended.map(({ exitCode, stderr }) => [exitCode, stderr]),
        ended.map(() => [0, '']),
      )
      await open(location)
    })

    test('a new database file beside an old secret is a new installation', async () => {
      const location = await createLocation()
      const first = await open(location)
      for (const suffix of ['', '-wal', '-shm']) rmSync(sqlitePath(location) + suffix, { force: true })
      assert.deepEqual(await open(location), first)
    })
  }
})
