// node bin/odyssey.cjs --run bench/ledger/settled-waits.ts --database postgresql://… [--seconds N]
//
// Eight writers commit ledger rows one by one in an empty PostgreSQL database while somebody asks again and again up to
// which row all are settled: not at all, with a lock on the table, and by the list of writers. In the last part one
// writer more holds its transaction open for half a second, again and again. Says how long commits took.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { insertRows } from '../../src/billing/ledger/writer/insert-rows.ts'
import { lastSettled } from '../../src/billing/usage/last-settled.ts'
import type { Database } from '../../src/db/database.ts'
import { openDatabase } from '../../src/db/open-database.ts'
import { connectPostgres } from '../../src/db/open-postgres.ts'
import { ledgerRow } from '../../test/harness/databases/ledger-row.ts'
import { wholeNumber } from '../whole-number.ts'

const writers = 8
const askEveryMs = 50
const rounds = 5

const { values } = parseArgs({ options: { database: { type: 'string' }, seconds: { type: 'string' } } })
const databaseUrl = values.database ?? ''
const seconds = wholeNumber('seconds', values.seconds, 5)
const home = mkdtempSync(join(tmpdir(), 'odyssey-settled-waits-'))
await (await openDatabase({ home, databaseUrl })).destroy()
const [writing, asking] = [connectPostgres(databaseUrl), connectPostgres(databaseUrl)]
let number = Date.now()

const ways: Readonly<Record<string, Ask>> = {
  'nobody asks': null,
  'a lock on the table': (db) =>
    db.transaction().execute(async (transaction) => {
      await sql`lock table ledger in share mode`.execute(transaction)
      await sql`select max(sequence) from ledger`.execute(transaction)
    }),
  'the list of writers': lastSettled,
}
const head = ['commits/s', 'p50 ms', 'p99 ms', 'max ms', 'asked', 'p50 ms', 'max ms']
for (const isHeldOpen of [false, true]) {
  const title = isHeldOpen ? 'beside a slow writer' : 'commits, and answers'
  console.log(`${title.padEnd(24)}${head.map((word) => word.padStart(10)).join('')}`)
  // In turns: a disk is faster at one time than at another.
  const played = new Map(Object.keys(ways).map((name) => [name, { commits: [] as number[], answers: [] as number[] }]))
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, times] of played) await play(ways[name] ?? null, isHeldOpen, times)
  }
  for (const [name, times] of played) console.log(`${name.padEnd(24)}${describe(times)}`)
}
await writing.destroy()
await asking.destroy()
rmSync(home, { recursive: true })

type Times = { readonly commits: number[]; readonly answers: number[] }
type Ask = ((db: Database) => Promise<unknown>) | null

async function play(ask: Ask, isHeldOpen: boolean, { commits, answers }: Times): Promise<void> {
  const endMs = performance.now() + (seconds * 1_000) / rounds
  const isOver = () => performance.now() >= endMs
  const timed = async (times: number[], work: () => Promise<unknown>) => {
    const startedMs = performance.now()
    await work()
    times.push(performance.now() - startedMs)
  }
  const write = async () => {
    while (!isOver()) await timed(commits, () => insertRows(writing, [ledgerRow((number += 1))]))
  }
  const holdOpen = async () => {
    while (!isOver()) {
      await writing.transaction().execute(async (transaction) => {
        await insertRows(transaction, [ledgerRow((number += 1))])
        await wait(500)
      })
    }
  }
  const askAgain = async () => {
    while (ask !== null && !isOver()) {
      await timed(answers, () => ask(asking))
      await wait(askEveryMs)
    }
  }
  const others = isHeldOpen ? [holdOpen(), askAgain()] : [askAgain()]
  await Promise.all([...Array.from({ length: writers }, write), ...others])
}

function describe({ commits, answers }: Times): string {
  const [of, ofAnswers] = [quantiles(commits), quantiles(answers)]
  const cells = [commits.length / seconds, of(0.5), of(0.99), of(1), answers.length, ofAnswers(0.5), ofAnswers(1)]
  return cells.map((cell) => cell.toFixed(1).padStart(10)).join('')
}

function quantiles(times: number[]): (share: number) => number {
  times.sort((one, other) => one - other)
  return (share) => times[Math.max(0, Math.ceil(share * times.length) - 1)] ?? 0
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
