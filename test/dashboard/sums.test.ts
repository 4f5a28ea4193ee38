// A thousand requests around both changes of the clocks, summed by every page and every answer that sums them, for days of
// several time zones. What they must come to is added up here, by the days that a calendar of the zone gives them.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { NewLedgerRow } from '../../src/billing/ledger/writer/ledger-writer.ts'
import { openDatabase } from '../../src/db/open-database.ts'
import type { ApiKeyId, OrganizationId, ProjectId } from '../../src/core/ids.ts'
import { runCli } from '../harness/run-cli.ts'
import { askApi, baseOf } from './harness/ask.ts'
import { organizationOf } from './harness/open-dashboard.ts'
import { writeRandomRequests, type KeyPlace } from './harness/random-requests.ts'
import { picosOf, picosOfMicros, readStats, type Sum } from './harness/read-sums.ts'
import { useDashboard } from './harness/use-dashboard.ts'

const dayMs = 86_400_000
/** Days before and after on which the clocks of Berlin change, and with them the length of the day. */
const changes = ['2026-03-29', '2026-10-25'] as const
const times = changes.map((day) => ({ fromMs: Date.parse(day) - 3 * dayMs, toMs: Date.parse(day) + 3 * dayMs }))
const zones = ['UTC', 'Europe/Berlin', 'America/Los_Angeles'] as const
/** Whole years would hide a day that is counted twice and another one that is not. */
const ranges = [
  ['2026-03-01', '2026-11-20'],
  ['2026-03-29', '2026-03-29'],
  ['2026-10-25', '2026-10-25'],
  ['2026-03-27', '2026-03-30'],
] as const

let rows: readonly NewLedgerRow[] = []
let organizationId: OrganizationId = 'org_'
const dashboard = useDashboard({
  isSetUp: true,
  async prepare({ owner, service }) {
    organizationId = organizationOf(owner) as OrganizationId
    const keys = await makeKeys(owner.page)
    const db = await openDatabase({ home: service.home, databaseUrl: null })
    rows = await writeRandomRequests(db, { count: 1_000, seed: 3, organizationId, keys, times })
    await db.destroy()
  },
})

/** Two in one project, one in another. */
async function makeKeys(page: Page): Promise<readonly KeyPlace[]> {
  const within = `/api/v1/organizations/${organizationId}`
  const idOf = ({ body }: { readonly body: unknown }) => body as { readonly id: string; readonly key?: unknown }
  const projectIds = await Promise.all(
    ['one', 'two'].map(async (name) => idOf(await askApi(page, 'POST', `${within}/projects`, { name })).id),
  )
  const keys: KeyPlace[] = []
  for (const [index, projectId] of [0, 0, 1].map((which) => projectIds[which] ?? '').entries()) {
    await askApi(page, 'POST', `${within}/api-keys`, { name: `key ${index}`, projectId })
    const { body } = await askApi(page, 'GET', `${within}/api-keys?limit=200`)
    const made = (body as { readonly data: readonly { readonly id: string; readonly name: string }[] }).data
    const apiKeyId = made.find(({ name }) => name === `key ${index}`)?.id as ApiKeyId
    keys.push({ apiKeyId, projectId: projectId as ProjectId })
  }
  return keys
}

/** The day on which a row counts, by the calendar of a zone. */
function dayOf({ at }: NewLedgerRow, zone: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(at)
}

function add(some: readonly NewLedgerRow[]): Sum {
  return {
    requests: some.filter(({ kind }) => kind === 'charge').length,
    picos: some.reduce(
      (sum, row) => sum + BigInt(row.cost_micros ?? 0) * 1_000_000n + BigInt(row.cost_rest_picos ?? 0),
      0n,
    ),
  }
}

function rowsOf([from, to]: readonly [string, string], zone: string): readonly NewLedgerRow[] {
  return rows.filter((row) => from <= dayOf(row, zone) && dayOf(row, zone) <= to)
}

/** The address's part that a page of sums and that of requests share. */
function asked([from, to]: readonly [string, string], zone: string): string {
  return `range=custom&from=${from}&to=${to}&zone=${encodeURIComponent(zone)}`
}

/** The figures of a table that can be summed, by the names of its rows. */
async function addTable(page: Page): Promise<Sum> {
  const rowsShown = page.getByRole('table', { name: /^Usage by/ }).locator('tr[data-row], tbody tr')
  const read = await rowsShown.evaluateAll((all) =>
    all.map((row) => ({
      requests: row.querySelector('td[data-label="Requests"]')?.textContent ?? '',
      cost: row.querySelector('td[data-label^="Cost"] span')?.getAttribute('title') ?? '',
    })),
  )
  return {
    requests: read.reduce((sum, { requests }) => sum + Number(requests.replaceAll(',', '')), 0),
    picos: read.reduce((sum, { cost }) => sum + picosOf(cost), 0n),
  }
}

for (const zone of zones) {
  for (const range of ranges) {
    test(`the sums of ${range.join(' to ')} in ${zone} are the same on all pages, and those of the ledger`, async () => {
      const { page } = dashboard().owner
      const expected = add(rowsOf(range, zone))
      ok(expected.requests > 0)
      for (const by of ['model', 'key', 'project'] as const) {
        await page.goto(`${baseOf(dashboard())}/usage?${asked(range, zone)}&by=${by}`)
        deepEqual(await readStats(page, 'Sums'), expected, `the cards of Usage, by ${by}`)
        deepEqual(await addTable(page), expected, `the table of Usage, by ${by}`)
      }
      await page.goto(`${baseOf(dashboard())}/requests?${asked(range, zone)}`)
      deepEqual(await readStats(page, 'Sums of these requests'), expected, 'the cards of Requests')
    })
  }

  test(`every day in ${zone} has in the saved file what its requests come to`, async () => {
    const { page } = dashboard().owner
    const [range] = ranges
    await page.goto(`${baseOf(dashboard())}/usage?${asked(range, zone)}&by=key&bucket=day`)
    const lines = await save(page)
    const found = new Map<string, Sum>()
    for (const { startsAt, requests, costMicros } of lines) {
      const day = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(Date.parse(startsAt))
      const before = found.get(day) ?? { requests: 0, picos: 0n }
      found.set(day, { requests: before.requests + requests, picos: before.picos + picosOfMicros(costMicros) })
    }
    const expected = [...Map.groupBy(rows, (row) => dayOf(row, zone))].map(([day, some]) => [day, add(some)] as const)
    const sorted = (all: Iterable<readonly [string, Sum]>) =>
      [...all].toSorted(([one], [other]) => (one < other ? -1 : 1))
    deepEqual(sorted(found), sorted(expected))
  })
}

type Line = { readonly startsAt: string; readonly requests: number; readonly costMicros: string }

/** The first kind of file that the page offers, as lines of JSON. */
async function save(page: Page): Promise<readonly Line[]> {
  await page.getByRole('button', { name: 'Export' }).click()
  const saved = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: 'JSON lines' }).first().click()
  const text = (await (await (await saved).createReadStream()).toArray()).map(String).join('')
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

suite('the same requests', () => {
  type Entry = { readonly kind: string; readonly costMicros: string | null }

  test('come to the same on the pages of their list', async () => {
    const { page } = dashboard().owner
    const found: Entry[] = []
    let after = ''
    do {
      const path = `/api/v1/organizations/${organizationId}/ledger?limit=200${after}`
      const { data, next } = (await askApi(page, 'GET', path)).body as { data: readonly Entry[]; next: string | null }
      found.push(...data)
      after = next === null ? '' : `&after=${encodeURIComponent(next)}`
    } while (after !== '')
    const picos = found.reduce((sum, { costMicros }) => sum + picosOfMicros(costMicros ?? '0'), 0n)
    deepEqual({ requests: found.filter(({ kind }) => kind === 'charge').length, picos }, add(rows))
  })

  test('come to the same by the hour, by the day and whole', async () => {
    const { page } = dashboard().owner
    type Usage = { readonly requests: number; readonly costMicros: string }
    for (const bucket of ['hour', 'day', 'whole']) {
      const sum = { requests: 0, picos: 0n }
      let after = ''
      do {
        const query = `from=2026-03-01T00:00:00Z&to=2026-11-20T00:00:00Z&bucket=${bucket}&limit=200${after}`
        const { body } = await askApi(page, 'GET', `/api/v1/organizations/${organizationId}/usage?${query}`)
        const { data, next } = body as { data: readonly Usage[]; next: string | null }
        for (const { requests, costMicros } of data) {
          sum.requests += requests
          sum.picos += picosOfMicros(costMicros)
        }
        after = next === null ? '' : `&after=${encodeURIComponent(next)}`
      } while (after !== '')
      deepEqual(sum, add(rows), bucket)
    }
  })

  test('verify row by row, and come to the same in the command for it', async () => {
    const printed = await runCli(dashboard().service, 'bill', 'verify', '--json')
    const { rows: count, cost, faults } = JSON.parse(printed) as Record<string, unknown>
    deepEqual(
      { count, faults, picos: picosOf(String(cost)) },
      { count: rows.length, faults: 0, picos: add(rows).picos },
    )
  })

  test('are not summed for days that do not begin with an hour of UTC, and the page says why', async () => {
    const { page, context } = dashboard().owner
    const path = `/api/v1/organizations/${organizationId}/usage/series?zone=Asia/Kolkata`
    const { status, body } = await askApi(page, 'GET', path)
    equal(status, 400)
    match(JSON.stringify(body), /zone.*Asia\/Kolkata/)
    const there = { locale: 'en-US', timezoneId: 'Asia/Kolkata', storageState: await context.storageState() }
    const reader = await (await dashboard().browser.newContext(there)).newPage()
    await reader.goto(`${baseOf(dashboard())}/usage?${asked(ranges[0], 'Asia/Kolkata')}`)
    await reader.getByText(/days of Asia\/(?:Kolkata|Calcutta) cannot be told apart exactly. Shown in UTC/).waitFor()
    await reader.getByText(/The address has a value for zone that is not known here/).waitFor()
    deepEqual(await readStats(reader, 'Sums'), add(rowsOf(ranges[0], 'UTC')))
    await reader.context().close()
  })
})

suite('a file that is being saved', () => {
  test('holds what was filtered at the click, though the filters change before it is there', async () => {
    const { page } = dashboard().owner
    const [range] = ranges
    await page.goto(`${baseOf(dashboard())}/usage?${asked(range, 'UTC')}&bucket=day&by=model&model=hal-1.0`)
    await page.getByRole('table', { name: /^Usage by/ }).waitFor()
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByRole('menuitem', { name: 'CSV' }).first().waitFor()
    const saved = page.waitForEvent('download')
    // Both in one turn of the page: the file has not begun when the filter is another one.
    await page.evaluate(() => {
      const named = (text: string) =>
        [...document.querySelectorAll('[role="menuitem"]')].find((item) => item.textContent === text)
      ;(named('CSV') as HTMLElement).click()
      const list = [...document.querySelectorAll('select')].find(({ value }) => value === 'hal-1.0')
      if (list === undefined) throw new Error('There is no list of models.')
      list.value = 'clarke-1.0'
      list.dispatchEvent(new Event('change', { bubbles: true }))
    })
    await page.getByRole('row', { name: /clarke-1.0/ }).waitFor()
    const download = await saved
    match(download.suggestedFilename(), /^usage_org_\w+_2026-03-01.*_2026-11-21.*_UTC_day_by-model_model-hal-1.0\.csv$/)
    const text = (await (await download.createReadStream()).toArray()).map(String).join('')
    equal(text.includes('hal-1.0'), true)
    equal(text.includes('clarke-1.0'), false)
  })
})

test('nothing broke the content policy, and no program failed', () => deepEqual(dashboard().owner.faults, []))
