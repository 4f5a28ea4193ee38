// A page that stays open while the service gets another dashboard.

import { equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { baseOf } from '../harness/ask.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

export function updateSuite(dashboard: () => Dashboard): void {
  suite('a page that is open when the dashboard is updated', () => {
    const told = 'Odyssey was updated. Reload to use the new dashboard.'

    test('says so, and has the new dashboard once it is loaded anew', async () => {
      const { page } = dashboard().owner
      await page.route('**/readyz', async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response, headers: { ...response.headers(), 'x-odyssey-build': 'another' } })
      })
      await page.goto(`${baseOf(dashboard())}/keys`)
      await page.getByText(told).waitFor()
      await page.unrouteAll({ behavior: 'wait' })
      const ready = page.waitForResponse('**/readyz')
      await page.getByRole('button', { name: 'Reload' }).click()
      const build = (await ready).headers()['x-odyssey-build']
      equal(await page.evaluate(() => document.documentElement.dataset['build']), build)
      await page.getByRole('link', { name: 'laptop' }).waitFor()
      equal(await page.getByText(told).count(), 0)
    })

    test('shows the next page, though the part that it was made of is gone', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/keys`)
      await page.getByRole('link', { name: 'laptop' }).waitFor()
      await page.evaluate(() => Object.assign(window, { isFirst: true }))
      let isGone = true
      await page.route('**/assets/*.js', (route) =>
        isGone ? route.fulfill({ status: 404, body: '{}' }) : route.continue(),
      )
      await page.route('**/budgets', (route) => {
        isGone = false
        return route.continue()
      })
      await page.getByRole('link', { name: 'Budgets' }).click()
      await page.getByRole('heading', { level: 1, name: 'Budgets' }).waitFor()
      equal(await page.evaluate(() => 'isFirst' in window), false)
      await page.unrouteAll({ behavior: 'wait' })
    })

    test('stays as it is where a part is missing and nothing answers', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/keys`)
      await page.getByRole('link', { name: 'laptop' }).waitFor()
      await page.route('**/assets/*.js', (route) => route.abort('connectionrefused'))
      await page.route('**/healthz', (route) => route.abort('connectionrefused'))
      const asked = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/healthz'))
      await page.getByRole('link', { name: 'Prices' }).click()
      await asked
      await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
      await page.unrouteAll({ behavior: 'wait' })
      await page.getByRole('link', { name: 'Prices' }).click()
      await page.getByRole('heading', { level: 1, name: 'Prices' }).waitFor()
    })
  })
}
