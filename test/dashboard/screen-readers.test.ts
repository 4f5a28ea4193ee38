// What a screen reader says of a page comes from names, descriptions and states, and from where the focus is.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../harness/start-service.ts'
import { askWith, baseOf, createKey } from './harness/ask.ts'
import { openDashboard } from './harness/open-dashboard.ts'
import { useDashboard } from './harness/use-dashboard.ts'

const dashboard = useDashboard({ isSetUp: true })

suite('to a screen reader', () => {
  test('a button that copies has a name of its own, and says beside it what came of it', async () => {
    const { page, context } = dashboard().owner
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto(`${baseOf(dashboard())}/keys`)
    await page.getByRole('button', { name: 'Create key' }).first().click()
    const drawer = page.getByRole('dialog', { name: 'Create key' })
    await drawer.getByLabel('Name').fill('by ear')
    await drawer.getByRole('button', { name: 'Create key' }).click()
    const shown = page.getByRole('dialog', { name: '“by ear” is ready' })
    const copy = shown.getByRole('button', { name: 'Copy key' })
    await copy.waitFor()
    // Firefox leaves a live region out of the name of the button around it.
    equal(await page.locator('button [role="status"]').count(), 0)
    await copy.click()
    await shown.getByRole('status').getByText('Copied').waitFor()
  })

  test('a key that is shown once is come to first, and that it is shown once is said with the title', async () => {
    const { page } = dashboard().owner
    const shown = page.getByRole('dialog', { name: '“by ear” is ready' })
    const said = await shown.evaluate(
      (dialog) => document.getElementById(dialog.getAttribute('aria-describedby') ?? '')?.textContent,
    )
    equal(said, 'This is the only time the key is shown.')
    await shown.getByRole('button', { name: 'Done' }).click()
    await shown.waitFor({ state: 'detached' })
  })

  test('each button that copies says what of, where several stand on a page', async () => {
    const { page } = dashboard().owner
    await page.goto(`${baseOf(dashboard())}/quickstart`)
    const copies = page.getByRole('main').getByRole('button', { name: 'Copy' })
    await copies.nth(1).waitFor()
    const names = await copies.evaluateAll((found) => found.map((one) => one.getAttribute('aria-label')))
    equal(new Set(names).size, names.length, names.join(', '))
  })

  test('a field that must be filled is not called wrong before anything is wrong with it', async () => {
    const { browser, service } = dashboard()
    const stranger = await openDashboard(browser, service)
    await stranger.page.goto(`${stranger.origin}/login`)
    const email = stranger.page.getByLabel('Email')
    await email.waitFor()
    ok(await email.evaluate((field) => field.matches(':required')))
    equal(await email.getAttribute('aria-invalid'), 'false')
    await stranger.context.close()
  })

  test('what went wrong is an alert, which is said though its place was not there before', async () => {
    const { browser, service } = dashboard()
    const stranger = await openDashboard(browser, service)
    await stranger.page.goto(`${stranger.origin}/login`)
    await stranger.page.getByLabel('Email').fill('nobody@example.com')
    await stranger.page.getByLabel('Password').fill('not the password')
    await stranger.page.getByLabel('Password').press('Enter')
    await stranger.page.getByRole('alert').getByText('That did not sign you in.').waitFor()
    await stranger.context.close()
  })

  test('what a sign-in lacks is said at its field, and nothing is asked of the service', async () => {
    const { browser, service } = dashboard()
    const stranger = await openDashboard(browser, service)
    const { page } = stranger
    const asked: string[] = []
    page.on('request', (request) => request.method() === 'POST' && asked.push(request.url()))
    await page.goto(`${stranger.origin}/login`)
    const lacking = async (label: string) => {
      const field = page.getByLabel(label)
      await until(() => field.evaluate((one) => one === document.activeElement), `${label} is not where one is.`)
      ok(await field.evaluate((one) => (one as HTMLInputElement).validity.valueMissing))
    }
    await page.getByRole('button', { name: 'Continue', exact: true }).click()
    await lacking('Email')
    await page.getByLabel('Email').fill('nobody@example.com')
    await page.getByLabel('Email').press('Enter')
    await lacking('Password')
    deepEqual(asked, [])
    await stranger.context.close()
  })

  /** What stood in the region from the beginning, and what came into it since. */
  async function listen(page: Page): Promise<() => Promise<readonly string[]>> {
    await page.evaluate(() => {
      const region = document.getElementById('voice')
      if (region?.getAttribute('role') !== 'status') throw new Error('No region stands in the page.')
      const heard: string[] = []
      Object.assign(window, { heard })
      const hear = () => region.textContent !== '' && heard.push(region.textContent)
      new MutationObserver(hear).observe(region, { childList: true, characterData: true, subtree: true })
    })
    return () => page.evaluate(() => (window as unknown as { readonly heard: readonly string[] }).heard)
  }

  const untilHeard = (heard: () => Promise<readonly string[]>, words: RegExp) =>
    until(async () => (await heard()).some((one) => words.test(one)), `${words.source} was not said.`)

  test('what went well is said by a region that stood in the page before', async () => {
    const { page } = dashboard().owner
    await page.goto(`${baseOf(dashboard())}/settings`)
    const name = page.getByLabel('Name', { exact: true })
    await name.fill('Heard')
    const heard = await listen(page)
    await name.press('Enter')
    await untilHeard(heard, /^Saved\.$/)
  })

  test('who filters is told how much is left, and who does not is told nothing', async () => {
    const { page } = dashboard().owner
    await page.goto(`${baseOf(dashboard())}/keys`)
    await page.getByRole('table').getByText('by ear').waitFor()
    const heard = await listen(page)
    const filter = page.getByRole('search').getByRole('searchbox').first()
    deepEqual(await heard(), [])
    await filter.fill('nothing of that name')
    await untilHeard(heard, /^No keys match these filters\.$/)
    await filter.fill('by ear')
    await untilHeard(heard, /: 1$/)
  })

  test('the figures of a bar are said where the arrow keys come to it', async () => {
    const { owner, service } = dashboard()
    const { page } = owner
    const key = await createKey(page, baseOf(dashboard()), 'counted')
    equal(await askWith(service.address, { key }), 200)
    const chart = page.getByRole('img', { name: /requests|by day|by hour/i }).first()
    const isThere = async () => {
      await page.goto(`${baseOf(dashboard())}/requests`)
      return chart.waitFor({ timeout: 2_000 }).then(
        () => true,
        () => false,
      )
    }
    await until(isThere, 'No chart shows the request.')
    await chart.focus()
    const heard = await listen(page)
    // A chart whose figures are not there yet has no last bar, and says nothing.
    const isSaid = async () => {
      await chart.press('End')
      return (await heard()).length > 0
    }
    await until(isSaid, 'No bar was said.')
    const [said = ''] = await heard()
    ok(said.endsWith(', Finished 1, Left by the client 0, Failed, ours 0'), said)
  })
})
