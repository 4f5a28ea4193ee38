// Every page of the table as the owner sees it: by the rules of axe in both themes, at 320 pixels, and with hostile names
// in every field that it shows.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { before, suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { pagePath, type PageName } from '../../web/src/app/paths.ts'
import { routes } from '../../web/src/app/route-table.ts'
import { goTo, settled } from './harness/ask.ts'
import { openDashboard, organizationOf, type Opened } from './harness/open-dashboard.ts'
import { useDashboard } from './harness/use-dashboard.ts'
import { makeHostileThings, payloads, watchForBreakouts, type Breakouts } from './suites/hostile.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** With so many rows a page has everything that it can have, and is looked through quickly. */
const few = 4
let params: Record<string, string> = {}
let breakouts: Breakouts = { found: [] }
/** Somebody who has not signed in. */
let stranger: Opened
const dashboard = useDashboard({
  isSetUp: true,
  async prepare({ browser, owner, service }) {
    stranger = await openDashboard(browser, service)
    const organizationId = organizationOf(owner)
    breakouts = await watchForBreakouts(owner)
    const apiKeyId = await makeHostileThings(owner, service, { organizationId, names: payloads.slice(0, few) })
    params = { organizationId, apiKeyId, requestId: service.ledger().at(-1)?.request_id ?? '' }
  },
})
const pages = Object.entries(routes).filter(([name]) => name !== 'start') as [PageName, (typeof routes)[PageName]][]
const isPublic = (name: PageName) => routes[name].needs === 'public'

async function findFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(async (tags) => {
    type Found = {
      readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
    }
    const { axe: run } = globalThis as unknown as {
      readonly axe: { run(root: unknown, options: unknown): Promise<Found> }
    }
    const { violations } = await run.run(globalThis.document, { runOnly: tags })
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`)
  }, rules)
}

const wide = { width: 1_280, height: 800 }
const narrow = { width: 320, height: 700 }

for (const [name, { title }] of pages) {
  suite(title, () => {
    let page: Page
    before(async () => {
      const opened = isPublic(name) ? stranger : dashboard().owner
      ;({ page } = opened)
      await page.setViewportSize(wide)
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
      await page.goto(opened.origin + pagePath(name, params) + (isPublic(name) ? '#none' : ''))
      await page.getByRole('heading', { level: 1 }).waitFor()
      await settled(page)
    })

    test('has its title and one first heading', async () => {
      ok((await page.title()).startsWith(title), await page.title())
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
      equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true)
    })
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
      equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true)
    })
  }
})

test('no page broke the content policy, and no program failed', () => {
  deepEqual([...dashboard().owner.faults, ...stranger.faults], [])
})
