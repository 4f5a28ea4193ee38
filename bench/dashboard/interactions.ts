// node bin/odyssey.cjs --run bench/dashboard/interactions.ts [--rounds N] [--rows N]
//
// How soon the dashboard answers a hand: from a click to the first picture in which something has changed, what the browser
// itself measures of each interaction (INP), and how far things jump (CLS). A real service, a real browser, nothing slowed.

import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import type { ApiKeyId, OrganizationId, ProjectId } from '../../src/core/ids.ts'
import { openDatabase } from '../../src/db/open-database.ts'
import { askApi, settled } from '../../test/dashboard/harness/ask.ts'
import { buildOnce } from '../../test/dashboard/harness/build-once.ts'
import { openDashboard, organizationOf, setUp, type Opened } from '../../test/dashboard/harness/open-dashboard.ts'
import { writeRandomRequests } from '../../test/dashboard/harness/random-requests.ts'
import { openBrowser } from '../../test/harness/http/open-browser.ts'
import { startService, type Service } from '../../test/harness/start-service.ts'
import { wholeNumber } from '../whole-number.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string' }, rows: { type: 'string' } } })
const rounds = wholeNumber('rounds', values.rounds, 5)
const rows = wholeNumber('rows', values.rows, 20_000)
const dayMs = 86_400_000

type Measured = { readonly changes: number[]; readonly inputs: number[]; readonly shifts: number }
declare global {
  interface Window {
    measured?: { changes: number[]; inputs: number[]; shifts: number }
  }
}

buildOnce()
const [browser, service] = await Promise.all([openBrowser(), startService()])
const opened = await openDashboard(browser, service)
await opened.page.addInitScript(observe)
await setUp(opened, service)
await fill(opened, service)
const all: Record<string, Measured[]> = {}
for (let round = 0; round < rounds; round += 1) await walk(opened, round)
report()
await browser.close()
await service.stop()

async function fill({ page }: Opened, { home }: Service): Promise<void> {
  const organizationId = organizationOf(opened) as OrganizationId
  const { body } = await askApi(page, 'GET', `/api/v1/organizations/${organizationId}/api-keys?limit=200`)
  type Key = { readonly id: ApiKeyId; readonly projectId: ProjectId }
  const keys = (body as { readonly data: readonly Key[] }).data.map(({ id, projectId }) => ({
    apiKeyId: id,
    projectId,
  }))
  const db = await openDatabase({ home, databaseUrl: null })
  const nowMs = Date.now()
  const times = [{ fromMs: nowMs - 30 * dayMs, toMs: nowMs }]
  await writeRandomRequests(db, { count: rows, seed: 1, organizationId, keys, times })
  await db.destroy()
}

/** What people do: from page to page, filters, tabs, a drawer and a menu. The first round loads each page's part. */
async function walk({ page, origin }: Opened, round: number): Promise<void> {
  await page.goto(`${origin}/o/${organizationOf(opened)}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await settled(page)
  await page.mouse.move(400, 400)
  await page.waitForTimeout(300)
  const kind = round === 0 ? 'first visit' : 'later'
  const menu = page.getByRole('navigation', { name: 'Pages' })
  for (const name of ['Usage and cost', 'Requests', 'API keys', 'Limits', 'Budgets', 'Members', 'Audit log', 'Home']) {
    await step(page, `${kind}: to a page`, () => menu.getByRole('link', { name, exact: true }).click())
  }
  await menu.getByRole('link', { name: 'Usage and cost' }).click()
  await settled(page)
  for (const name of ['Tokens', 'Requests', 'Cache', 'Cost']) {
    await step(page, `${kind}: a tab`, () => page.getByRole('main').getByRole('button', { name, exact: true }).click())
  }
  await menu.getByRole('link', { name: 'API keys' }).click()
  await settled(page)
  await step(page, `${kind}: a drawer`, () => page.getByRole('button', { name: 'Create key' }).first().click())
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await step(page, `${kind}: a menu`, () =>
    page
      .getByRole('button', { name: /^Actions for/ })
      .first()
      .click(),
  )
  await page.keyboard.press('Escape')
}

async function step(page: Page, name: string, act: () => Promise<unknown>): Promise<void> {
  await page.evaluate(() => {
    window.measured = { changes: [], inputs: [], shifts: 0 }
  })
  await act()
  await page.waitForTimeout(250)
  await settled(page)
  const measured = await page.evaluate(() => window.measured)
  if (measured !== undefined) all[name] = [...(all[name] ?? []), measured]
}

/** Runs in the page, before anything of it does. */
function observe(): void {
  let clickedAt: number | null = null
  document.addEventListener('click', (event) => (clickedAt = event.timeStamp), true)
  new MutationObserver(() => {
    const from = clickedAt
    if (from === null) return
    clickedAt = null
    // The picture with the change is there a frame later.
    requestAnimationFrame(() => setTimeout(() => window.measured?.changes.push(performance.now() - from)))
  }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
  new PerformanceObserver((list) => {
    for (const { duration, name } of list.getEntries()) {
      if (/^(?:pointerup|click|keydown)$/.test(name)) window.measured?.inputs.push(duration)
    }
  }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit)
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { value, hadRecentInput } = entry as PerformanceEntry & {
        readonly value: number
        readonly hadRecentInput: boolean
      }
      if (window.measured !== undefined && !hadRecentInput) window.measured.shifts += value
    }
  }).observe({ type: 'layout-shift' })
}

function report(): void {
  const at = (numbers: readonly number[], share: number) =>
    (numbers.toSorted((one, other) => one - other)[Math.ceil(share * numbers.length) - 1] ?? 0).toFixed(0)
  console.log(`${rows} requests, ${rounds} rounds`)
  console.log(
    `${''.padEnd(26)}${['clicks', 'change p50', 'p95', 'INP p75', 'p95', 'CLS'].map((word) => word.padStart(11)).join('')}`,
  )
  for (const [name, steps] of [...Object.entries(all), ['all', Object.values(all).flat()] as const]) {
    const changes = steps.flatMap((one) => one.changes)
    // What the browser does not name took less than 16 ms.
    const inputs = steps.map((one) => Math.max(...one.inputs, 16))
    const shifts = Math.max(...steps.map((one) => one.shifts)).toFixed(3)
    const cells = [
      String(steps.length),
      at(changes, 0.5),
      at(changes, 0.95),
      at(inputs, 0.75),
      at(inputs, 0.95),
      shifts,
    ]
    console.log(`${name.padEnd(26)}${cells.map((cell) => cell.padStart(11)).join('')}`)
  }
}
