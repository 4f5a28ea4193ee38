import { deepEqual, equal, match } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { askWith, baseOf, createKey } from '../harness/ask.ts'
import { openDashboard } from '../harness/open-dashboard.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

/** Somebody who holds a key and has no account looks at it, and asks for more. */
export function portalSuite(dashboard: () => Dashboard): void {
  suite('the portal of a key', () => {
    test('shows what the key has used and may do, and takes a request for more that an owner approves', async () => {
      const { owner, service, browser } = dashboard()
      const key = await createKey(owner.page, baseOf(dashboard()), 'portal')
      equal(await askWith(service.address, { key }), 200)
      const stranger = await openDashboard(browser, service)
      const { page } = stranger
      await page.goto(`${stranger.origin}/portal`)
      await page.getByLabel('API key').fill(`${key.slice(0, -1)}_`)
      await page.getByRole('button', { name: 'Show' }).click()
      await page.getByText('The key is not valid').waitFor()
      await page.getByLabel('API key').fill(key)
      await page.getByRole('button', { name: 'Show' }).click()
      await page.getByRole('heading', { name: 'portal', level: 1 }).waitFor()
      await page.getByRole('table', { name: 'Last requests' }).getByText('finished').waitFor()
      equal((await page.content()).includes(key), false, 'The key is in no part of the page.')
      await page.getByText('Ask for higher limits').click()
      await page.getByLabel('Requests at a time').fill('90')
      await page.getByLabel('What it is for').fill('The nightly run.')
      await page.getByRole('button', { name: 'Ask', exact: true }).click()
      await page.getByText('waits for an answer').waitFor()

      await owner.page.goto(`${baseOf(dashboard())}/limits`)
      await owner.page.getByRole('button', { name: 'Approve…' }).click()
      const drawer = owner.page.getByRole('dialog')
      equal(await drawer.getByLabel('Requests at a time').inputValue(), '90')
      await drawer.getByRole('button', { name: 'Set limit' }).click()
      await owner.page.getByText('Nobody waits for an answer').waitFor()

      await page.reload()
      await page.getByText('approved').waitFor()
      await page.getByRole('row', { name: /Requests at a time.*key/ }).waitFor()
      await page.route('**/portal/session', (route) => route.abort('connectionrefused'))
      await page.getByRole('button', { name: 'Leave' }).click()
      await page.getByText('This browser still shows the key to whoever opens this page').waitFor()
      await page.unroute('**/portal/session')
      await page.getByRole('button', { name: 'Leave' }).click()
      await page.getByLabel('API key').waitFor()
      await page.reload()
      await page.getByLabel('API key').waitFor()
      match(page.url(), /\/portal$/)
      deepEqual(stranger.faults, [])
      await stranger.context.close()
    })
  })
}
