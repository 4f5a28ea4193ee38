import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { createLedger, toReversal } from '../../src/billing/ledger/ledger.ts'
import { createPriceBook } from '../../src/billing/prices/price-book.ts'
import { readPrices, setPrice } from '../../src/billing/prices/prices.ts'
import { createDirectLedgerWriter, insertRows } from '../../src/billing/ledger/writer/insert-rows.ts'
import { openSqlite } from '../../src/db/open-sqlite.ts'
import { csvLine } from '../../src/lib/csv.ts'
import { parsePeriod } from '../../src/cli/billing/period.ts'
import { UsageError } from '../../src/cli/usage-error.ts'
import { formatExact, formatMicros, formatRounded, parseMicros } from '../../src/cli/billing/money-text.ts'
import { createRandom } from '../campaigns/random.ts'
import { randomEntry } from '../harness/databases/ledger-entries.ts'
import { createManualClock } from '../harness/manual-clock.ts'
import { runCli, tryCli } from '../harness/run-cli.ts'

const home = mkdtempSync(join(tmpdir(), 'odyssey-billing-'))
const path = join(home, 'odyssey.db')
const day = Date.UTC(2026, 9, 1)
const dayMs = 86_400_000
const rateOptions = [
  '--input',
  '3',
  '--cache-read',
  '0.3',
  '--cache-write',
  '3.75',
  '--cache-write-long',
  '6',
  '--output',
  '15',
]
let costPicos = 0n
let requests = 0

before(async () => {
  const db = await openSqlite(path)
  const clock = createManualClock(day - dayMs)
  const rates = {
    input: 3_000_000,
    cacheRead: 300_000,
    cacheWriteShort: 3_750_000,
    cacheWriteLong: 6_000_000,
    output: 15_000_000,
  }
  const price = { organizationId: null, model: 'hal-1.0', effectiveAtMs: null, currency: 'USD', rates } as const
  await setPrice({ db, clock, currency: 'USD' }, { kind: 'operator' }, price)
  const prices = createPriceBook(await readPrices(db, 'USD'))
  const options = { random: createRandom(3), prices, fromMs: day, toMs: day + 3 * dayMs }
  const ledger = createLedger(createDirectLedgerWriter(db))
  for (let number = 0; number < 60; number++) {
    const entry = randomEntry(number, options)
    await ledger.append({ ...entry, replica: number === 0 ? '=HYPERLINK("x")' : 'plain' })
    if (entry.principal.organizationId !== 'org_1') continue
    requests += 1
    costPicos += entry.charge?.costPicos ?? 0n
  }
  const refused = { organization_id: 'org_1', at: day, class: 'rate-limited' } as const
  await db
    .insertInto('refusals')
    .values([
      { ...refused, requests: 30 },
      { ...refused, at: day + 60_000, requests: 12 },
      { ...refused, organization_id: '', class: 'unauthenticated', requests: 7 },
    ])
    .execute()
  await db.destroy()
})
after(() => rmSync(home, { recursive: true }))

/** Reads an amount in whole units of the currency as trillionths. */
function picosOf(text: string): bigint {
  const [units = '', fraction = ''] = text.split('.')
  return BigInt(units + fraction.padEnd(12, '0'))
}

const run = (...args: string[]) => runCli({ home }, ...args)
const attempt = (...args: string[]) => tryCli({ home }, ...args)
const period = ['--from', '2026-10-01', '--to', '2026-10-04']

test('usage adds up by day, key, project and model, and to the same sum', async () => {
  for (const by of ['hour', 'key']) {
    const rows = JSON.parse(await run('usage', '--organization', 'org_1', ...period, '--by', by, '--json')) as {
      requests: number
      cost: string
    }[]
    assert.equal(
      rows.reduce((sum, row) => sum + row.requests, 0),
      requests,
      by,
    )
    assert.equal(
      rows.reduce((sum, row) => sum + picosOf(row.cost), 0n),
      costPicos,
      by,
    )
  }
  const [head, ...lines] = (await run('usage', '--organization', 'org_1', ...period, '--csv')).trimEnd().split('\r\n')
  assert.match(head ?? '', /^day,requests,.*,cost_USD$/)
  assert.equal(lines.length, 3)
  assert.match(await run('usage', '--organization', 'org_none'), /^day +requests/)
})

test('what had no price has no cost in the table of usage, and not one of nothing', async () => {
  const table = await run('usage', '--organization', 'org_1', ...period, '--by', 'model')
  const costs = table.split('\n').map((line) => [line.split(' ', 1)[0], line.trim().split(/ +/).at(-1)] as const)
  const { 'hal-1.0': priced, ...others } = Object.fromEntries(costs.filter(([model]) => model?.endsWith('-1.0')))
  assert.match(priced ?? '', /^\d+\.\d{6}$/)
  assert.deepEqual(others, { 'clarke-1.0': '-', 'tycho-1.0': '-' })
})

test('a faulty period is refused in words', async () => {
  assert.throws(() => parsePeriod({ from: 'soon' }), UsageError)
  assert.throws(() => parsePeriod({ from: '2026-10-04', to: '2026-10-01' }), UsageError)
  assert.throws(() => parsePeriod({ from: '2026-10-01T08:30' }), UsageError)
  assert.deepEqual(parsePeriod({ from: '2026-10-01T02+02:00', to: '2026-10-01T00:30Z' }), {
    fromMs: day,
    toMs: day + 1_800_000,
  })
  assert.deepEqual(parsePeriod({}), {})
  assert.deepEqual(parsePeriod({ from: '2028-02-29' }), { fromMs: Date.UTC(2028, 1, 29) })
  // Not the first of March, and neither with a time and a zone by which it is another day in UTC.
  for (const from of ['2030-02-29', '2030-04-31T23:30-02:00', '2030-02-30T08Z'])
    assert.throws(() => parsePeriod({ from }), {
      name: 'UsageError',
      message: `--from: there is no ${from.slice(0, 10)}.`,
    })
  const { exitCode, stderr } = await attempt('usage', '--from', '2026-10-01T08:30Z')
  assert.deepEqual([exitCode, stderr.trim()], [1, 'Usage is kept by the hour: it begins and ends with a whole one.'])
})

test('the export has every row, and no text that a spreadsheet would run', async () => {
  const csv = (await run('ledger', 'export', '--csv')).trimEnd().split('\r\n')
  assert.equal(csv.length, 61)
  assert.match(csv[1] ?? '', /,"'=HYPERLINK\(""x""\)",/)
  assert.doesNotMatch(csv.join('\n'), /(^|,)"?=/m)
  const json = (await run('ledger', 'export', '--json', '--organization', 'org_1')).trimEnd().split('\n')
  assert.equal(json.length, requests)
  assert.ok(json.every((line) => (JSON.parse(line) as { organization_id: string }).organization_id === 'org_1'))
})

test('a price needs every rate, a known model and a moment to come', async () => {
  const missing = await attempt('prices', 'set', 'hal-1.0', '--input', '1', '--output', '2')
  assert.deepEqual(
    [missing.exitCode, /--cache-read, --cache-write, --cache-write-long missing/.test(missing.stderr)],
    [2, true],
  )
  assert.match(
    (await attempt('prices', 'set', 'hal-1.0', ...rateOptions, '--from', '2026-01-01')).stderr,
    /10 seconds from now/,
  )
  const set = JSON.parse(await run('prices', 'set', 'clarke-1.0', ...rateOptions, '--json')) as {
    perMillionTokens: object
  }
  assert.deepEqual(set.perMillionTokens, {
    input: '3.000000',
    cacheRead: '0.300000',
    cacheWriteShort: '3.750000',
    cacheWriteLong: '6.000000',
    output: '15.000000',
  })
  assert.match(await run('prices', 'end', 'clarke-1.0', '--from', '2090-01-01'), /clarke-1\.0 has no price from 2090/)
  assert.match(await run('prices', 'list'), /clarke-1\.0 .* 0\.300000/)
})

test('rerating says what other prices would have made, and changes nothing', async () => {
  const before = readFileSync(path)
  const file = join(home, 'prices.json')
  const doubled = { input: 6, cacheRead: '0.6', cacheWriteShort: 7.5, cacheWriteLong: 12, output: 30 }
  writeFileSync(file, JSON.stringify({ 'hal-1.0': doubled }))
  const sums = JSON.parse(await run('bill', 'rerate', '--dry-run', ...period, '--prices', file, '--json')) as {
    model: string
    charged: string
    would: string
    requests: number
  }[]
  assert.equal(
    sums.reduce((sum, row) => sum + row.requests, 0),
    60,
  )
  for (const { model, charged, would } of sums) {
    const [was, is] = [picosOf(charged), picosOf(would)]
    assert.equal(was > 0n, model === 'hal-1.0')
    assert.equal(is, 2n * was)
  }
  writeFileSync(file, JSON.stringify({ 'hal-1.0': { input: 6, output: 30 } }))
  assert.equal((await attempt('bill', 'rerate', '--dry-run', '--prices', file)).exitCode, 2)
  assert.deepEqual(readFileSync(path), before)
})

test('a price in another currency is listed as unusable, named by verifying, and taken back by a command', async () => {
  const { id } = JSON.parse(await run('prices', 'set', 'tycho-1.0', ...rateOptions, '--json')) as { id: string }
  const db = new DatabaseSync(path)
  // As a version before this one took it.
  db.prepare("UPDATE prices SET currency = 'EUR', effective_at = ? WHERE id = ?").run(day - dayMs, id)
  db.close()
  assert.match(await run('prices', 'list'), new RegExp(`tycho-1\\.0 .* unusable .* EUR +${id}`))
  const verified = await attempt('bill', 'verify')
  assert.equal(verified.exitCode, 1)
  assert.match(verified.stdout, new RegExp(`^${id}: cannot be used: it is in EUR and billing.currency is USD$`, 'm'))
  assert.equal(await run('prices', 'void', id), `${id} is void.\n`)
  assert.doesNotMatch(await run('prices', 'list'), /EUR/)
  assert.equal((await attempt('prices', 'void', id)).exitCode, 1)
})

test('verifying names the rows without a price where the config file says that prices are required', async () => {
  const config = join(home, 'odyssey.json')
  writeFileSync(config, JSON.stringify({ billing: { pricesRequired: true } }))
  const { exitCode, stdout } = await attempt('bill', 'verify')
  rmSync(config)
  assert.equal(exitCode, 1)
  const named = /^row \d+, req_\d+ \(charge\): it has no price, and billing\.pricesRequired is set$/gm
  const db = new DatabaseSync(path)
  const unpriced = "SELECT count(*) AS rows FROM ledger WHERE price_id IS NULL AND outcome <> 'failed'"
  const { rows = 0 } = db.prepare(unpriced).get() ?? {}
  db.close()
  assert.ok(Number(rows) > 0)
  assert.equal(stdout.match(named)?.length, rows)
})

test('verifying ends with 1 and names the row when one of them was changed', async () => {
  assert.match(
    await run('bill', 'verify'),
    /^60 rows, \d+\.\d{6} USD, 0 invoices: every row and every sum is right\.$/m,
  )
  const db = new DatabaseSync(path)
  db.exec('DROP TRIGGER ledger_refuses_update')
  db.exec(
    'UPDATE ledger SET cost_micros = cost_micros + 1 WHERE sequence = (SELECT min(sequence) FROM ledger WHERE cost_micros > 0)',
  )
  db.close()
  const { exitCode, stdout } = await attempt('bill', 'verify')
  assert.equal(exitCode, 1)
  assert.match(stdout, /^row \d+, req_\d+ \(charge\): it costs [\d.]+ micro-units and not [\d.]+$/m)
  assert.match(stdout, /1 differ\.$/m)
})

test('the charges of a key that were voided are counted in its usage', async () => {
  const db = await openSqlite(path)
  const charges = db
    .selectFrom('ledger')
    .selectAll()
    .where('organization_id', '=', 'org_1')
    .where('cost_micros', '>', 0)
  const { sequence: _, ...charge } = await charges.executeTakeFirstOrThrow()
  await insertRows(db, [toReversal(charge, charge.at)])
  await db.destroy()
  const [head = '', ...lines] = (await run('usage', '--organization', 'org_1', ...period, '--by', 'key', '--csv'))
    .trimEnd()
    .split('\r\n')
  const column = head.split(',').indexOf('voided')
  const voided = lines.map((line) => line.split(',')).map((cells) => [cells[0], cells[column]])
  assert.deepEqual(
    voided.filter(([, count]) => count !== '0'),
    [[charge.api_key_id, '1']],
  )
})

test('amounts are read and written exactly', () => {
  assert.equal(parseMicros('0.1', 'x'), 100_000)
  assert.equal(parseMicros('12345.678901', 'x'), 12_345_678_901)
  for (const text of ['', '.5', '1.', '-1', '1.2345678', '1e3', '١']) assert.throws(() => parseMicros(text, 'x'))
  assert.equal(formatMicros(1_234_567n), '1.234567')
  assert.equal(formatMicros(-5n), '-0.000005')
  assert.equal(formatMicros(9_007_199_254_740_993n), '9007199254.740993')
  assert.equal(formatExact(1_234_567_000_000n), '1.234567')
  assert.equal(formatExact(1_234_567_890_120n), '1.23456789012')
  assert.equal(formatExact(-1n), '-0.000000000001')
  assert.deepEqual([499_999n, 500_000n, -500_000n].map(formatRounded), ['0.000000', '0.000001', '-0.000001'])
})

test('a CSV cell is what it was, unless a spreadsheet would run it', () => {
  assert.equal(csvLine(['a', 1, -2, null, true, 3n]), 'a,1,-2,,true,3\r\n')
  assert.equal(csvLine(['a,b', 'c"d', 'e\nf']), '"a,b","c""d","e\nf"\r\n')
  assert.equal(csvLine(['-1', '-0.25', '12.5']), '-1,-0.25,12.5\r\n')
  for (const text of ['=1', '+1', '-1+1', '-x', '@x', '\t=1', ' =1']) assert.match(csvLine([text]), /^"?'/)
})

test('refused requests are counted by class and hour, of all organizations or of one', async () => {
  const start = '2026-10-01T00:00:00.000Z'
  const rows = [
    { start, organizationId: null, class: 'unauthenticated', requests: 7 },
    { start, organizationId: 'org_1', class: 'rate-limited', requests: 42 },
  ]
  assert.deepEqual(JSON.parse(await run('refusals', ...period, '--json')), rows)
  const minutes = await run('refusals', ...period, '--by', 'minute', '--organization', 'org_1', '--csv')
  assert.equal(
    minutes,
    'start,organization,class,requests\r\n' +
      '2026-10-01T00:00,org_1,rate-limited,30\r\n2026-10-01T00:01,org_1,rate-limited,12\r\n',
  )
  assert.match(await run('refusals', ...period), /^2026-10-01T00:00 +- +unauthenticated +7$/m)
  assert.equal((await attempt('refusals', '--by', 'year')).exitCode, 2)
})

test('rules for Prometheus are of what is promised, to everyone or to the organization that is named', async () => {
  const usual = await run('sla', 'rules')
  assert.match(usual, /> 14\.4 \* 0\.001\n/)
  assert.match(usual, /runbook_url: http:\/\/localhost:8080\/docs\/guides\/runbooks#error-budget/)
  await run('sla', 'promise', '--availability', '99.95', '--organization', 'org_default')
  assert.match(await run('sla', 'rules', '--organization', 'org_default'), /> 14\.4 \* 0\.0005\n/)
})

test('a month in which nothing was measured is said to be one', async () => {
  assert.equal(await run('sla', 'report', '--month', '2020-01'), 'Nothing was measured in 2020-01.\n')
})
