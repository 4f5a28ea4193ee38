// The same requests, summed by the home page, by usage, by the list of requests, by the list of keys and by the ledger.

import { deepEqual, equal } from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { runCli } from '../../harness/run-cli.ts'
import { until } from '../../harness/start-service.ts'
import { askApi, askWith, baseOf, createKey } from '../harness/ask.ts'
import { organizationOf } from '../harness/open-dashboard.ts'
import { picosOf, picosOfMicros, readStats, type Sum } from '../harness/read-sums.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

const models = ['clarke-1.0', 'hal-1.0', 'tycho-1.0'] as const
const formats = ['chat-completions', 'messages'] as const

type Entry = { readonly requestId: string; readonly apiKeyId: string; readonly costMicros: string | null }
type Priced = { readonly effectiveAt: string }

export function sumsSuite(dashboard: () => Dashboard): void {
  suite('the sums of all pages', () => {
    let ledger: Sum = { requests: 0, picos: 0n }
    before(async () => {
      const { owner, service } = dashboard()
      for (const model of models) {
        const rates = ['--input', '3', '--cache-read', '0.30', '--cache-write', '3.7525', '--cache-write-long', '6']
        await runCli(service, 'prices', 'set', model, ...rates, '--output', '15')
      }
      const key = await createKey(owner.page, baseOf(dashboard()), 'sums')
      await until(async () => {
        const { body } = await askApi(owner.page, 'GET', '/api/v1/prices?limit=200')
        const { data } = body as { readonly data: readonly Priced[] }
        return data.length === models.length && data.every(({ effectiveAt }) => Date.parse(effectiveAt) <= Date.now())
      }, 'The prices are not in force.')
      for (let index = 0; index < 12; index += 1) {
        const [model, format] = [models[index % 3], formats[index % 2]]
        if (model === undefined || format === undefined) continue
        const content = `Number ${index % 4}. ${'It is a long story. '.repeat(index)}`
        equal(await askWith(service.address, { key, model, format, content, outputTokensMax: 3 + index }), 200)
      }
      ledger = await readLedger(owner.page, organizationOf(owner))
    })

    test('are those of the ledger, to the unit and to the millionth', async () => {
      const { owner } = dashboard()
      const { page } = owner
      const base = baseOf(dashboard())
      deepEqual(await readUsage(page, base), ledger, 'usage')
      deepEqual(await readRequests(page, base), ledger, 'requests')
      deepEqual(await readKey(page, base), ledger, 'keys')
      deepEqual(await readHome(page, base), ledger, 'home')
    })

    test('are shown of a time in which requests of another were reversed, and none was made', async () => {
      const { page } = dashboard().owner
      const series = /\/usage\/series\?/
      await page.route(series, async (route) => {
        const response = await route.fetch()
        const { totals, ...rest } = (await response.json()) as { readonly totals: object }
        await route.fulfill({ json: { ...rest, totals: { ...totals, requests: 0, finished: 0, costMicros: '7' } } })
      })
      await page.goto(`${baseOf(dashboard())}/usage?range=today`)
      deepEqual(await readStats(page, 'Sums'), { requests: 0, picos: 7_000_000n })
      equal((await page.locator('dl[aria-label="Sums"]').textContent())?.includes('NaN'), false)
      await page.unroute(series)
    })

    test('are those of the file that the page Usage saves', async () => {
      const { owner } = dashboard()
      const { page } = owner
      await page.goto(`${baseOf(dashboard())}/usage?range=today&by=key`)
      await page.getByRole('button', { name: 'Export' }).click()
      const saved = page.waitForEvent('download')
      await page.getByRole('menuitem', { name: 'JSON lines' }).first().click()
      const stream = await (await saved).createReadStream()
      const text = (await stream.toArray()).map(String).join('')
      const lines = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { requests: number; costMicros: string })
      equal(
        lines.reduce((sum, { requests }) => sum + requests, 0),
        ledger.requests,
      )
      equal(
        lines.reduce((sum, { costMicros }) => sum + picosOfMicros(costMicros), 0n),
        ledger.picos,
      )
    })
  })
}

/** The rows of the key, added up here. Costs have parts of micros, which are added before they are cut off. */
async function readLedger(page: Page, organizationId: string): Promise<Sum> {
  const { body } = await askApi(page, 'GET', `/api/v1/organizations/${organizationId}/ledger?limit=200`)
  const rows = (body as { readonly data: readonly Entry[] }).data
  const picos = rows.reduce((sum, { costMicros }) => sum + picosOfMicros(costMicros ?? '0'), 0n)
  return { requests: rows.length, picos }
}

async function readUsage(page: Page, base: string): Promise<Sum> {
  await page.goto(`${base}/usage?range=today`)
  return readStats(page, 'Sums')
}

async function readRequests(page: Page, base: string): Promise<Sum> {
  await page.goto(`${base}/requests?range=today`)
  const sums = await readStats(page, 'Sums of these requests')
  const shown = await page.getByRole('table').getByRole('row').count()
  equal(shown - 1, sums.requests, 'Every request of the sum is in the list.')
  return sums
}

async function readKey(page: Page, base: string): Promise<Sum> {
  await page.goto(`${base}/keys`)
  const row = page.getByRole('row', { name: /^sums/ })
  const cell = (label: string) => row.locator(`td[data-label="${label}"]`)
  // The amount is there as soon as the sums are.
  const picos = picosOf(await cell('Cost, 30 days, USD').locator('span').getAttribute('title'))
  return { requests: Number(await cell('Requests, 30 days').textContent()), picos }
}

async function readHome(page: Page, base: string): Promise<Sum> {
  await page.goto(base)
  const row = page.getByRole('table', { name: 'Busiest keys today' }).getByRole('row', { name: /^sums/ })
  const requests = Number(await row.locator('td[data-label="Requests"]').textContent())
  const list = page.locator('dl[aria-label="Today"]')
  const cost = list
    .locator('div', { has: page.getByText('Cost today', { exact: true }) })
    .locator('dd span')
    .first()
  return { requests, picos: picosOf(await cost.getAttribute('title')) }
}
