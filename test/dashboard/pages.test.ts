// Every page of the table as the owner sees it: by the rules of axe in both themes, at 320 pixels, and with hostile names
// in every field that it shows.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { pagePath, type PageName } from '../../web/src/app/paths.ts'
import { routes } from '../../web/src/app/route-table.ts'
import { askApi, goTo, settled } from './harness/ask.ts'
import { findFaults, fitsItsWidth, widerTables, widestOf } from './harness/find-faults.ts'
import { openDashboard, organizationOf, type Opened } from './harness/open-dashboard.ts'
import { stretchText } from './harness/stretch-text.ts'
import { useDashboard } from './harness/use-dashboard.ts'
import { openScales, type Scales, type Weighed } from './harness/weigh.ts'
import { strangersSuite } from './suites/strangers.ts'
import { testAddress, testFailure } from './suites/states.ts'
import { makeHostileThings, payloads, watchForBreakouts, type Breakouts } from './suites/hostile.ts'

/** With so many rows a page has everything that it can have, and is looked through quickly. */
const few = 4
let params: Record<string, string> = {}
let breakouts: Breakouts = { found: [] }
/** Somebody who has not signed in. */
let stranger: Opened
const scales = new Map<Opened, Scales>()
/** What a page may weigh, compressed, with its fonts: the playground has an editor. */
const bytesMax: Partial<Record<PageName, number>> = { home: 150_000, playground: 330_000 }
const bytesMaxOfOthers = 220_000
/** Each file is a journey of its own; a guide is one more, so that who reads one does not fetch the others. */
const filesMax: Partial<Record<PageName, number>> = { docsGuide: 10 }
const filesMaxOfOthers = 9
const dashboard = useDashboard({
  isSetUp: true,
  async prepare({ browser, owner, service }) {
    stranger = await openDashboard(browser, service)
    const organizationId = organizationOf(owner)
    for (const opened of [stranger, owner]) scales.set(opened, await openScales(opened))
    breakouts = await watchForBreakouts(owner)
    const records = await makeHostileThings(owner, service, { organizationId, names: payloads.slice(0, few) })
    const session = (await askApi(owner.page, 'GET', '/api/v1/session')).body as {
      readonly memberships: readonly { readonly memberId: string }[]
    }
    const memberId = session.memberships[0]?.memberId ?? ''
    params = {
      organizationId,
      memberId,
      ...records,
      guide: 'running',
      requestId: service.ledger().at(-1)?.request_id ?? '',
    }
  },
})
const pages = Object.entries(routes).filter(([name]) => name !== 'start') as [PageName, (typeof routes)[PageName]][]
const isPublic = (name: PageName) => routes[name].needs === 'public'

const wide = { width: 1_280, height: 800 }
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
const narrow = { width: 320, height: 700 }

for (const [name, { title }] of pages) {
  suite(title, () => {
    let page: Page
    let weighed: Weighed | null = null
    before(async () => {
      const opened = isPublic(name) ? stranger : dashboard().owner
      ;({ page } = opened)
      await page.setViewportSize(wide)
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
      weighed =
        (await scales.get(opened)?.weigh(async () => {
          await page.goto(opened.origin + pagePath(name, params) + (isPublic(name) ? '#none' : ''))
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

    for (const colorScheme of ['light', 'dark'] as const) {
      test(`breaks no rule of accessibility in the ${colorScheme} theme`, async () => {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        deepEqual(await findFaults(page), [])
      })
    }

    test('needs no scrolling to the side at 320 pixels', async () => {
      await page.setViewportSize(narrow)
      ok(await fitsItsWidth(page), await widestOf(page))
      await page.setViewportSize(wide)
    })

    test('holds words that are two fifths longer, and wider spacing, on a phone and on a desk', async () => {
      for (const viewport of [narrow, wide]) {
        await page.setViewportSize(viewport)
        deepEqual(await stretchText(page), [])
      }
    })

    if (isPublic(name)) return
    const open = () => ({ page, address: dashboard().owner.origin + pagePath(name, params) })
    testAddress(open)
    testFailure(open)
  })
}

suite('200 hostile names', () => {
  before(async () => {
    const { owner, service } = dashboard()
    await owner.page.setViewportSize(wide)
    const { organizationId = '' } = params
    await makeHostileThings(owner, service, { organizationId, names: payloads.slice(few) })
  })

  for (const [name, { title }] of pages.filter(([one]) => !isPublic(one))) {
    test(`stay names on the page ${title}, and leave it as wide as it is`, async () => {
      const { page, origin } = dashboard().owner
      await goTo(page, origin + pagePath(name, params))
      deepEqual(breakouts.found, [])
      ok(await fitsItsWidth(page), await widestOf(page))
      await page.setViewportSize(narrow)
      const wider = await widerTables(page)
      await page.setViewportSize(wide)
      deepEqual(wider, [], 'On a phone')
    })
  }
})

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
    await page.goto(origin + pagePath('requests', params))
    await page.getByText('Finished: tool calls').first().waitFor()
    deepEqual(await widerTables(page), [])
    await page.unrouteAll({ behavior: 'wait' })
  })

  test('counts a single request, and a single token of it, as one', async () => {
    const { page, origin } = dashboard().owner
    await page.goto(`${origin}${pagePath('requests', params)}?range=all&q=${params['requestId']}`)
    await page
      .getByRole('status')
      .filter({ hasText: /^1 request$/ })
      .waitFor()
    await page.route(/\/api\/.*\/requests\/req_/, async (route) => {
      const details = (await (await route.fetch()).json()) as { readonly charge: object }
      const charge = { ...details.charge, output: 1, inputCacheRead: 1 }
      await route.fulfill({ json: { ...details, charge, queueMs: 1, promptMs: 1, answerMs: 1 } })
    })
    await page.goto(origin + pagePath('request', params))
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
    await page.goto(origin + pagePath('budgets', params))
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

strangersSuite(dashboard, { organizationId: () => params['organizationId'] ?? '', breakouts: () => breakouts })

test('no page broke the content policy, and no program failed', () => {
  deepEqual([...dashboard().owner.faults, ...stranger.faults], [])
})
