import { deepEqual, equal, match } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openDashboard } from '../harness/open-dashboard.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

/** What anybody may read without signing in. */
export function documentsSuite(dashboard: () => Dashboard): void {
  suite('documents', () => {
    test('show an operation with its fields, and what it answers to a reader who is signed in', async () => {
      const { page, origin } = dashboard().owner
      await page.goto(`${origin}/docs/api?of=management&q=search`)
      await page.getByText('/api/v1/organizations/{organizationId}/search').click()
      await page.getByLabel('q', { exact: true }).fill('por')
      await page.getByRole('button', { name: 'Run' }).click()
      await page.getByRole('region', { name: 'Answer 200' }).first().waitFor()
    })

    test('open at what an address names', async () => {
      const { page, origin } = dashboard().owner
      await page.goto(`${origin}/docs/api#chat-completions`)
      const text = await page
        .getByRole('region', { name: /Example, with the key/ })
        .first()
        .textContent()
      match(text ?? '', /curl -X POST 'http.*\/v1\/chat\/completions'/)
    })

    test('lead a stranger to sign in without an error in the console of the browser', async () => {
      const { browser, service } = dashboard()
      const { page, context, origin } = await openDashboard(browser, service)
      const refused: string[] = []
      page.on('response', (response) => {
        if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`)
      })
      for (const path of ['/login', '/']) {
        await page.goto(origin + path)
        await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
        await page.waitForLoadState('networkidle')
      }
      deepEqual(refused, [])
      await context.close()
    })

    test('find in the guides what a stranger looks for, and open the place where it is said', async () => {
      const { browser, service } = dashboard()
      const stranger = await openDashboard(browser, service)
      const { page, origin } = stranger
      await page.goto(`${origin}/docs`)
      await page.getByLabel('Find').fill('halve workrs')
      await page.getByRole('link', { name: 'Pacing' }).first().click()
      await page.waitForURL(/\/docs\/guides\/customers-limits#pacing$/)
      const heading = page.getByRole('heading', { name: 'Pacing' })
      await heading.waitFor()
      await page.waitForFunction(() => window.scrollY > 0)
      equal(await page.getByRole('link', { name: 'Working within limits' }).getAttribute('aria-current'), 'page')
      await page.goto(`${origin}/docs?q=xyzzyx`)
      await page.getByText('Nothing is said of that.').waitFor()
      await page.goto(`${origin}/docs/guides/nothing`)
      await page.getByText('There is no guide at this address.').waitFor()
      deepEqual(stranger.faults, [])
      await stranger.context.close()
    })

    test('are found by the words that a reader has for something, in whatever form, and best where most of them stand', async () => {
      const { browser, service } = dashboard()
      const stranger = await openDashboard(browser, service)
      const { page, origin } = stranger
      const firstOf = async (q: string) => {
        await page.goto(`${origin}/docs?q=${encodeURIComponent(q)}`)
        const first = page.locator('main li:has(p)').first()
        await first.waitFor()
        return first.textContent()
      }
      match((await firstOf('getting started')) ?? '', /^Getting started/)
      match((await firstOf('quickstart')) ?? '', /^Getting started/)
      match((await firstOf('delete my data')) ?? '', /^What happens to your data/)
      match((await firstOf('streaming')) ?? '', /stream/i)
      match((await firstOf('pacing xyzzyx')) ?? '', /^Pacing/)
      deepEqual(stranger.faults, [])
      await stranger.context.close()
    })

    test('name the address at which they are read, also in what is copied, and in their own title', async () => {
      const { browser, service } = dashboard()
      const { page, context, origin, faults } = await openDashboard(browser, service)
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.goto(`${origin}/docs/guides/customers-limits`)
      await page.getByRole('heading', { name: 'Pacing' }).waitFor()
      await page.locator('main button', { hasText: 'Copy' }).first().click()
      match(
        await page.evaluate(() => navigator.clipboard.readText()),
        new RegExp(`fetch\\('${origin}/v1/chat/completions'`),
      )
      equal((await page.locator('main').textContent())?.includes(':8080'), false)
      await page.waitForFunction(() => document.title === 'Working within limits · Odyssey')
      await page.getByRole('link', { name: 'Pricing' }).click()
      await page.waitForFunction(() => document.title === 'Pricing · Odyssey')
      deepEqual(faults, [])
      await context.close()
    })

    test('are read without JavaScript: each guide with its text and the way to the others', async () => {
      const { browser, service } = dashboard()
      const context = await browser.newContext({ javaScriptEnabled: false })
      const page = await context.newPage()
      await page.goto(`${service.address}/docs`)
      const guides = page.getByRole('navigation', { name: 'Guides' })
      await guides.getByRole('link', { name: 'Working within limits' }).click()
      await page.getByRole('heading', { level: 1, name: 'Working within limits' }).waitFor()
      await page.getByRole('heading', { name: 'Pacing' }).waitFor()
      equal(await page.title(), 'Working within limits · Odyssey')
      // Its own style sheet has come: the text stands beside the contents.
      equal(await page.locator('.columns').evaluate((one) => getComputedStyle(one).display), 'grid')
      await context.close()
    })

    test('say to a stranger that there is none at an address, with the status of an error', async () => {
      const { browser, service } = dashboard()
      const stranger = await openDashboard(browser, service)
      const { page, origin } = stranger
      for (const path of ['/docs/nothing', '/docs/guides/nothing', '/docs/guides']) {
        const answer = await page.goto(origin + path)
        equal(answer?.status(), 404, path)
        await page.getByText('There is no guide at this address.').waitFor()
      }
      deepEqual(stranger.faults, [])
      await stranger.context.close()
    })

    test('explain errors, other vendors’ names and prices to strangers', async () => {
      const { browser, service } = dashboard()
      const stranger = await openDashboard(browser, service)
      const { page, origin } = stranger
      await page.goto(`${origin}/docs/errors?q=insufficient_quota`)
      await page.getByRole('heading', { name: /The budget is spent/ }).waitFor()
      equal(await page.getByRole('heading', { level: 2 }).count(), 2)
      await page.goto(`${origin}/docs/migrate?model=gpt-5-mini`)
      await page
        .getByRole('main')
        .getByText('By its name gpt-5-mini is a small fast model: use tycho-1.0 here.')
        .waitFor()
      const refused: string[] = []
      page.on('response', (response) => {
        if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`)
      })
      await page.goto(`${origin}/docs/pricing`)
      await page.getByText('The operator of this service does not publish prices.').waitFor()
      await page.getByText('billing.publicPrices').waitFor()
      deepEqual(refused, [])
      deepEqual(stranger.faults, [])
      await stranger.context.close()
    })
  })
}
