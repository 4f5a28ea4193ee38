// Every page of the table as the owner sees it: what it weighs, and with hostile names in every field that it shows, also
// at 320 pixels. screens/every-page.test.ts looks at each of them more closely.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { pagePath, type PageName } from '../../web/src/app/paths.ts'
import { settled } from './harness/ask.ts'
import { fitsItsWidth, widerTables, widestOf } from './harness/find-faults.ts'
import { isPublic, narrow, pages, useHostileDashboard, wide } from './harness/hostile-dashboard.ts'
import type { Opened } from './harness/open-dashboard.ts'
import { openScales, type Scales, type Weighed } from './harness/weigh.ts'
import { strangersSuite } from './suites/strangers.ts'

const scales = new Map<Opened, Scales>()
/** What a page may weigh, compressed, with its fonts: the playground has an editor. */
const bytesMax: Partial<Record<PageName, number>> = { home: 150_000, playground: 330_000 }
const bytesMaxOfOthers = 220_000
/** Each file is a journey of its own; a guide is one more, so that who reads one does not fetch the others. */
const filesMax: Partial<Record<PageName, number>> = { docsGuide: 10 }
const filesMaxOfOthers = 9
const { dashboard, reader, addressOf, params, breakouts, faults } = useHostileDashboard({
  names: 20,
  async prepare(opened) {
    for (const one of opened) scales.set(one, await openScales(one))
  },
})

/** Each of its figures is as long as it commonly gets. */
const wideRow = {
  protocol: 'messages',
  isStream: true,
  model: 'clarke-1.0',
  outcome: 'finished',
  reason: 'tool_calls',
  inputUncached: 11_204,
  inputCacheRead: 120_384,
  output: 12_268,
  firstTokenMs: 12_340,
  durationMs: 1_217_000,
  costMicros: '2022271',
}
/** As large as its figures commonly get, with every share that is usual. */
const wideBudget = { period: 'month', microsMax: 12_345_000_000, tokensMax: null, alertPercents: [50, 80, 90, 100] }

for (const [name, { title }] of pages) {
  suite(title, () => {
    let page: Page
    let weighed: Weighed | null = null
    before(async () => {
      const opened = reader(name)
      ;({ page } = opened)
      await page.setViewportSize(wide)
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
      weighed =
        (await scales.get(opened)?.weigh(async () => {
          await page.goto(addressOf(name))
          await page.getByRole('heading', { level: 1 }).waitFor()
          await settled(page)
          await page.evaluate(() => document.fonts.ready)
        })) ?? null
    })

    test('weighs no more than a page may', (t) => {
      const { bytes = 0, files = [] } = weighed ?? {}
      const said = `${bytes} bytes: ${files.join(', ')}`
      ok(bytes > 0 && bytes <= (bytesMax[name] ?? bytesMaxOfOthers), said)
      ok(files.length <= (filesMax[name] ?? filesMaxOfOthers), said)
      t.diagnostic(`${name}: ${bytes} bytes in ${files.length} files`)
    })

    test('has its title and one first heading', async () => {
      const wanted = name === 'docsGuide' ? 'Running Odyssey' : title
      ok((await page.title()).startsWith(wanted), await page.title())
      equal(await page.getByRole('heading', { level: 1 }).count(), 1)
    })

    test('shows names that try to be more as names, and needs no scrolling to the side, also at 320 pixels', async () => {
      deepEqual(breakouts().found, [])
      ok(await fitsItsWidth(page), await widestOf(page))
      await page.setViewportSize(narrow)
      ok(await fitsItsWidth(page), await widestOf(page))
      const wider = await widerTables(page)
      await page.setViewportSize(wide)
      // What is for everybody to read may have a table that is scrolled.
      if (!isPublic(name)) deepEqual(wider, [], 'On a phone')
    })
  })
}

suite('the list of requests', () => {
  test('has what each of them cost in sight on a desk', async () => {
    const { page, origin } = dashboard().owner
    await page.setViewportSize(wide)
    const ledger = /\/ledger\?/
    await page.route(ledger, async (route) => {
      const response = await route.fetch()
      const { data, next } = (await response.json()) as { readonly data: readonly object[]; readonly next: unknown }
      await route.fulfill({ json: { data: data.map((row) => ({ ...row, ...wideRow })), next } })
    })
    await page.goto(origin + pagePath('requests', params()))
    await page.getByText('Finished: tool calls').first().waitFor()
    deepEqual(await widerTables(page), [])
    await page.unrouteAll({ behavior: 'wait' })
  })

  test('counts a single request, and a single token of it, as one', async () => {
    const { page, origin } = dashboard().owner
    await page.goto(`${origin}${pagePath('requests', params())}?range=all&q=${params()['requestId']}`)
    await page
      .getByRole('status')
      .filter({ hasText: /^1 request$/ })
      .waitFor()
    await page.route(/\/api\/.*\/requests\/req_/, async (route) => {
      const details = (await (await route.fetch()).json()) as { readonly charge: object }
      const charge = { ...details.charge, output: 1, inputCacheRead: 1 }
      await route.fulfill({ json: { ...details, charge, queueMs: 1, promptMs: 1, answerMs: 1 } })
    })
    await page.goto(origin + pagePath('request', params()))
    await page.getByText('until the first token, 1 token from the cache').waitFor()
    await page.getByText(/^1 ms 1 token$/).waitFor()
    await page.unrouteAll({ behavior: 'wait' })
  })
})

suite('the list of budgets', () => {
  test('says in one line on a desk at which shares it alerts', async () => {
    const { page, origin } = dashboard().owner
    await page.setViewportSize(wide)
    await page.route(/\/api\/.*\/budgets\b/, async (route) => {
      const response = await route.fetch()
      const { data, ...rest } = (await response.json()) as { readonly data: readonly object[] }
      await route.fulfill({ json: { ...rest, data: data.map((budget) => ({ ...budget, ...wideBudget })) } })
    })
    await page.goto(origin + pagePath('budgets', params()))
    const shares = page.getByRole('cell', { name: '50, 80, 90, 100 %' }).first()
    const tops = await shares.evaluate((cell) => {
      const text = document.createRange()
      text.selectNodeContents(cell)
      return [...text.getClientRects()].map(({ top }) => top)
    })
    equal(new Set(tops).size, 1)
    deepEqual(await widerTables(page), [])
    await page.unrouteAll({ behavior: 'wait' })
  })
})

strangersSuite(dashboard, { organizationId: () => params()['organizationId'] ?? '', breakouts })

test('no page broke the content policy, and no program failed', () => deepEqual(faults(), []))
