import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Database } from '../../src/db/database.ts'
import type { DatabasePlace } from '../../src/db/database-place.ts'
import { openDatabase } from '../../src/db/open-database.ts'
import { isPostgres } from '../../src/db/is-postgres.ts'
import { openRowWriter } from '../../src/db/rows/open-row-writer.ts'
import { createRandom } from '../campaigns/random.ts'
import { onEachDatabase } from '../harness/databases.ts'
import { ledgerRow } from '../harness/ledger-row.ts'

const program = join(import.meta.dirname, 'writing-program.ts')
const kills = { SQLite: 200, PostgreSQL: 50 }
const lanes = 2
/** Numbers of one round are never those of another. */
const numbersPerRound = 1_000_000

/** Kills the program some milliseconds after its first row. Returns the rows of which it said that they are there. */
function writeUntilKilled(place: DatabasePlace, first: number, livesMs: number): Promise<number[]> {
  const url = place.databaseUrl === null ? [] : [place.databaseUrl]
  const child = spawn(process.execPath, [program, place.home, String(first), ...url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), livesMs))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (_code, signal) => {
      if (signal !== 'SIGKILL') return reject(new Error(`The program ended by itself: ${signal}.`))
      // A line that broke off says nothing.
      resolve(readFileSync(join(place.home, 'told'), 'utf8').split('\n').slice(0, -1).map(Number))
    })
  })
}

async function checkRows(db: Database, first: number, acknowledged: readonly number[]): Promise<void> {
  const rows = await db
    .selectFrom('ledger')
    .select(['request_id', 'output'])
    .where('output', '>=', first)
    .where('output', '<', first + numbersPerRound)
    .execute()
  const numbers = rows.map(({ output }) => Number(output))
  const held = new Set(numbers)
  assert.equal(held.size, numbers.length, 'no row is there twice')
  for (const { request_id: id, output } of rows) assert.equal(id, `req_${output}`, 'every row is whole')
  const lost = acknowledged.filter((number) => !held.has(number))
  assert.deepEqual(lost, [], 'no row of which the program said that it is there is lost')
  if (isPostgres(db)) return
  const { rows: verdicts } = await sql<{ integrity_check: string }>`PRAGMA integrity_check`.execute(db)
  assert.deepEqual(
    verdicts.map((verdict) => verdict.integrity_check),
    ['ok'],
  )
}

onEachDatabase(({ name, createPlace }) => {
  test(`${kills[name]} kills in the midst of writing lose nothing and double nothing`, async (context) => {
    const laneOf = async (lane: number) => {
      const random = createRandom(7, lane)
      const place = await createPlace()
      const db = await openDatabase(place)
      let rows = 0
      for (let round = lane; round < kills[name]; round += lanes) {
        const first = round * numbersPerRound
        const acknowledged = await writeUntilKilled(place, first, random.integer(0, 40))
        assert.ok(acknowledged.length > 0)
        await checkRows(db, first, acknowledged)
        rows += acknowledged.length
        // What a killed process has left behind is no obstacle, and a row sent again is not written again.
        if (round % 20 === lane) await writeAgain(place, db, first)
      }
      await db.destroy()
      return rows
    }
    const counts = await Promise.all(Array.from({ length: lanes }, (_, lane) => laneOf(lane)))
    context.diagnostic(`${counts.reduce((sum, count) => sum + count)} rows acknowledged, all there`)
  })
})

async function writeAgain(place: DatabasePlace, db: Database, number: number): Promise<void> {
  const writer = await openRowWriter(place, { failed: (error) => assert.fail(String(error)), recovered() {} })
  await writer.write([ledgerRow(number)])
  await writer.close()
  const { count } = await db
    .selectFrom('ledger')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('request_id', '=', `req_${number}`)
    .executeTakeFirstOrThrow()
  assert.equal(Number(count), 1)
}
