// What is typed into the filters of a page: it filters, or the field says why it does not.

import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { baseOf } from '../../harness/ask.ts'
import type { Dashboard } from '../../harness/use-dashboard.ts'

export function filtersSuite(dashboard: () => Dashboard): void {
  suite('a filter that is typed', () => {
    test('says what a number has to be, and leaves the list as it is until it is one', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/requests`)
      await page.getByText('More filters').click()
      for (const [label, wrong, words, right, search] of [
        ['Slower than, ms', '1.5', 'A whole number, such as 500.', '1', '?slower=1'],
        ['Dearer than', '$1', 'An amount, such as 0.05.', '0,0005', '?slower=1&dearer=0%2C0005'],
      ] as const) {
        const field = page.getByLabel(label, { exact: true })
        const before = await searchOf(page)
        await field.fill(wrong)
        await field.press('Enter')
        equal(await faultOf(page, field), words)
        equal(await searchOf(page), before)
        await field.fill(right)
        await field.press('Enter')
        await page.waitForURL((url) => url.search === search)
        equal(await faultOf(page, field), null)
      }
    })

    test('is a day once it is whole: a year that is being typed changes nothing', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/usage?range=custom&from=2026-10-01&to=2026-10-31`)
      const from = page.getByLabel('From', { exact: true })
      await from.click({ position: { x: 12, y: 10 } })
      const seen = new Set<string>()
      for (const key of '09302027') {
        await page.keyboard.press(key)
        seen.add((await searchOf(page)).slice('?range=custom&from='.length, -'&to=2026-10-31'.length))
      }
      deepEqual([...seen], ['2026-10-01', '2026-09-01', '2026-09-03', '2026-09-30', '2027-09-30'])
      await page.keyboard.press('2')
      await from.blur()
      equal(await faultOf(page, from), 'A day from the year 2000 on.')
      equal(await searchOf(page), '?range=custom&from=2027-09-30&to=2026-10-31')
      await from.fill('2026-09-15')
      await page.waitForURL(({ search }) => search === '?range=custom&from=2026-09-15&to=2026-10-31')
      equal(await faultOf(page, from), null)
    })

    test('says of two days that they are the wrong way round, and what is shown instead', async () => {
      const { page } = dashboard().owner
      const asked = 'from=2026-10-02&to=2026-10-01'
      for (const [place, words] of [
        [`usage?range=custom&${asked}`, 'This is before From, so the last 30 days are shown.'],
        [`requests?${asked}`, 'This is before From.'],
        [`audit?${asked}`, 'This is before From.'],
      ] as const) {
        await page.goto(`${baseOf(dashboard())}/${place}`)
        equal(await faultOf(page, page.getByLabel('To', { exact: true })), words, place)
      }
    })

    test('is named where the service does not take it', async () => {
      const { page } = dashboard().owner
      for (const [place, words] of [
        ['usage?by=tag&tagKey=a%20b', /^tagKey: /],
        ['requests?member=x', /^memberId: /],
      ] as const) {
        await page.goto(`${baseOf(dashboard())}/${place}`)
        await page.getByRole('alert').getByText(words).waitFor()
      }
    })

    test('is no day that calendars and the service count differently, and the page says so', async () => {
      const { page } = dashboard().owner
      for (const place of ['usage?range=custom&', 'requests?', 'audit?']) {
        await page.goto(`${baseOf(dashboard())}/${place}from=0026-11-01&to=9999-12-31`)
        await page.getByText('The address has a value for from, to that is not known here').waitFor()
      }
    })
  })
}

/** As the page itself has it: what it has just written there is told to others a moment later. */
function searchOf(page: Page): Promise<string> {
  return page.evaluate(() => window.location.search)
}

/** What a field says is wrong with it. */
async function faultOf(page: Page, field: Locator): Promise<string | null> {
  if ((await field.getAttribute('aria-invalid')) !== 'true') return null
  return page.locator(`[id="${await field.getAttribute('aria-describedby')}"]`).textContent()
}
