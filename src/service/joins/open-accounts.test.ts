import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases.ts'
import { tryCli } from '../../../test/harness/run-cli.ts'
import { loadConfig } from '../../config/load.ts'
import type { DatabasePlace } from '../../db/database-place.ts'
import { sqlitePath } from '../../db/database-place.ts'
import { backUp } from '../../db/portable/back-up.ts'
import { restore } from '../../db/portable/restore.ts'
import { openAccounts, openServingAccounts, type Accounts } from './open-accounts.ts'

const folders = mkdtempSync(join(tmpdir(), 'odyssey-secrets-'))
after(() => rmSync(folders, { recursive: true }))

const secretIn = ({ home }: Pick<DatabasePlace, 'home'>) => join(home, 'secret.key')
const newHome = () => mkdtempSync(join(folders, 'home-'))

async function open(place: DatabasePlace, how = openAccounts): Promise<Accounts['secrets']> {
  const accounts = await how(loadConfig({ ODYSSEY_HOME: place.home, DATABASE_URL: place.databaseUrl ?? '' }))
  await accounts.db.destroy()
  return accounts.secrets
}

onEachDatabase(({ name, createPlace }) => {
  test('a new data folder gets a secret, which every later opening finds', async () => {
    const place = await createPlace()
    const first = await open(place)
    assert.equal(statSync(secretIn(place)).mode & 0o777, 0o600)
    assert.deepEqual(await open(place), first)
    assert.deepEqual(await open(place, openServingAccounts), first)
  })

  test('a data folder with a secret and a new database is a new installation', async () => {
    const place = await createPlace()
    writeFileSync(secretIn(place), `${'ab'.repeat(32)}\n`)
    await open(place)
    assert.equal(readFileSync(secretIn(place), 'utf8'), `${'ab'.repeat(32)}\n`)
  })

  test('a secret that is gone is not replaced by a new one, and its return is enough', async () => {
    const place = await createPlace()
    const first = await open(place)
    const kept = readFileSync(secretIn(place))
    rmSync(secretIn(place))
    for (const how of [openAccounts, openServingAccounts]) {
      await assert.rejects(open(place, how), {
        message: `${secretIn(place)} is missing, and without it no API key of this database works. Put it back from the backup; with several gateways it is the same file on each.`,
      })
      assert.ok(!existsSync(secretIn(place)))
    }
    writeFileSync(secretIn(place), kept)
    assert.deepEqual(await open(place), first)
  })

  test('another installation’s secret is refused and left as it is', async () => {
    const place = await createPlace()
    await open(place)
    writeFileSync(secretIn(place), `${'cd'.repeat(32)}\n`)
    for (const how of [openAccounts, openServingAccounts]) {
      await assert.rejects(open(place, how), /secret\.key is not the secret that this database was made with/)
    }
    assert.equal(readFileSync(secretIn(place), 'utf8'), `${'cd'.repeat(32)}\n`)
  })

  test('a database from before fingerprints takes the secret it is opened with, and no new one', async () => {
    const place = await createPlace()
    const accounts = await openAccounts(loadConfig({ ODYSSEY_HOME: place.home, DATABASE_URL: place.databaseUrl ?? '' }))
    await accounts.db.deleteFrom('installation').execute()
    await accounts.db.destroy()
    const kept = readFileSync(secretIn(place))
    rmSync(secretIn(place))
    await assert.rejects(open(place), /secret\.key is missing/)
    writeFileSync(secretIn(place), kept)
    await open(place)
    writeFileSync(secretIn(place), `${'cd'.repeat(32)}\n`)
    await assert.rejects(open(place), /is not the secret/)
  })

  test('the database holds nothing that the secret could be found from', async () => {
    const place = await createPlace()
    const accounts = await openAccounts(loadConfig({ ODYSSEY_HOME: place.home, DATABASE_URL: place.databaseUrl ?? '' }))
    const rows = await accounts.db.selectFrom('installation').selectAll().execute()
    await accounts.db.destroy()
    assert.equal(rows.length, 1)
    const { fingerprint, ...keys } = accounts.secrets
    assert.equal(rows[0]?.secret_fingerprint, fingerprint)
    for (const key of [readFileSync(secretIn(place), 'utf8').trim(), ...Object.values(keys)]) {
      const text = typeof key === 'string' ? key : Buffer.from(key).toString('hex')
      assert.ok(!JSON.stringify(rows).includes(text))
    }
  })

  test('a backup asks for the secret it was made beside', async () => {
    const [from, to] = [await createPlace(), await createPlace()]
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
      const place = await createPlace()
      const first = await open(place)
      const [stranger, empty, second] = [newHome(), newHome(), newHome()].map((home) => ({ ...place, home }))
      assert.ok(stranger && empty && second)
      writeFileSync(secretIn(stranger), `${'cd'.repeat(32)}\n`)
      await assert.rejects(open(stranger), /is not the secret/)
      await assert.rejects(open(empty), /secret\.key is missing/)
      assert.ok(!existsSync(secretIn(empty)))
      copyFileSync(secretIn(place), secretIn(second))
      assert.deepEqual(await open(second), first)
    })

    test('of gateways that start at once on a new database one wins, and the others keep no secret of their own', async () => {
      const place = await createPlace()
      const gateways = Array.from({ length: 5 }, () => ({ ...place, home: newHome() }))
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
      const place = await createPlace()
      const ended = await Promise.all(Array.from({ length: 4 }, () => tryCli(place, 'keys', 'list', '--json')))
      assert.deepEqual(
        ended.map(({ exitCode, stderr }) => [exitCode, stderr]),
        ended.map(() => [0, '']),
      )
      await open(place)
    })

    test('a new database file beside an old secret is a new installation', async () => {
      const place = await createPlace()
      const first = await open(place)
      for (const suffix of ['', '-wal', '-shm']) rmSync(sqlitePath(place) + suffix, { force: true })
      assert.deepEqual(await open(place), first)
    })
  }
})
