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
      await page.getByRole('region', { name: 'Answer 200' }).waitFor()
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

    test('explain errors, other vendors’ names and prices to strangers', async () => {
      const { browser, service } = dashboard()
      const stranger = await openDashboard(browser, service)
      const { page, origin } = stranger
      await page.goto(`${origin}/docs/errors?q=insufficient_quota`)
      await page.getByRole('heading', { name: /The budget is spent/ }).waitFor()
      equal(await page.getByRole('heading', { level: 2 }).count(), 2)
      await page.goto(`${origin}/docs/migrate?model=gpt-5-mini`)
      await page.getByText('By its name gpt-5-mini is a small fast model: use tycho-1.0 here.').waitFor()
      await page.goto(`${origin}/docs/pricing`)
      await page.getByText('The operator of this service does not publish prices.').waitFor()
      deepEqual(stranger.faults, [])
      await stranger.context.close()
    })
  })
}
