// What is typed into the filters of a page: it filters, or the field says why it does not.

import { equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { baseOf } from '../harness/ask.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

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
        const before = searchOf(page)
        await field.fill(wrong)
        await field.press('Enter')
        equal(await faultOf(page, field), words)
        equal(searchOf(page), before)
        await field.fill(right)
        await field.press('Enter')
        await page.waitForURL((url) => url.search === search)
        equal(await faultOf(page, field), null)
      }
    })
  })
}

function searchOf(page: Page): string {
  return new URL(page.url()).search
}

/** What a field says is wrong with it. */
async function faultOf(page: Page, field: Locator): Promise<string | null> {
  if ((await field.getAttribute('aria-invalid')) !== 'true') return null
  return page.locator(`[id="${await field.getAttribute('aria-describedby')}"]`).textContent()
}
