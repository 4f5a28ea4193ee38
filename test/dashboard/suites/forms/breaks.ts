// What is typed half, and an answer that nobody foresaw: neither leaves the reader with an empty window.

import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { baseOf, settled } from '../../harness/ask.ts'
import type { Dashboard } from '../../harness/use-dashboard.ts'

export function breaksSuite(dashboard: () => Dashboard): void {
  suite('a page that breaks', () => {
    test('says so within the shell, is loaded anew by its button, and is left for any other', async () => {
      const { page, faults } = dashboard().owner
      await page.route('**/budgets?*', (route) => route.fulfill({ json: { data: [null], next: null } }))
      await page.goto(`${baseOf(dashboard())}/budgets`)
      const broken = page.getByRole('heading', { level: 1, name: 'This page broke' })
      await broken.waitFor()
      await page.getByRole('link', { name: 'API keys', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
      equal(await broken.count(), 0)
      await page.goBack()
      await broken.waitFor()
      await page.unroute('**/budgets?*')
      await page.getByRole('button', { name: 'Load it anew' }).click()
      await page.getByRole('heading', { level: 1, name: 'Budgets' }).waitFor()
      await settled(page)
      equal(await broken.count(), 0)
      // The browser's console has what broke.
      faults.length = 0
    })
  })

  suite('what is typed half', () => {
    test('into the schema leaves the answer judged by the one that it was asked with', async () => {
      const { page, faults } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/playground?max=64`)
      await page.getByText('Tools and JSON').click()
      const schema = page.getByLabel('JSON Schema of the answer')
      await schema.fill('{"type":"object","properties":{},"additionalProperties":false}')
      await page.getByLabel('Message', { exact: true }).fill('Say something.')
      await page.getByRole('button', { name: 'Run' }).click()
      const verdict = page.getByText(/^(?:Keeps|Breaks) the schema/)
      const judged = await verdict.textContent()
      await schema.press('End')
      await schema.press('Backspace')
      await page.getByText('The schema is no JSON object.').first().waitFor()
      equal(await verdict.textContent(), judged)
      deepEqual(faults, [])
    })

    test('into the tools is told at the field, and no request is made of it', async () => {
      const { page, faults } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/playground`)
      await page.getByText('Tools and JSON').click()
      await page.getByLabel('Message', { exact: true }).fill('Say something.')
      const tools = page.getByLabel('Tools', { exact: true })
      await tools.fill('[null]')
      const said = 'Tool 1 is no JSON object with a name: {name, description, parameters}.'
      equal(await tools.getAttribute('aria-invalid'), 'true')
      const fault = await tools.getAttribute('aria-describedby')
      equal(await page.locator(`[id="${fault}"]`).textContent(), said)
      for (const name of ['Run', 'Code']) {
        equal(await page.getByRole('button', { name, exact: true }).getAttribute('title'), said)
      }
      deepEqual(faults, [])
    })

    test('into the day of a price is told at the field', async () => {
      const { page, faults } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/prices`)
      await page.getByRole('button', { name: 'Set price' }).first().click()
      const drawer = page.getByRole('dialog', { name: 'Set price' })
      for (const field of await drawer.getByLabel(/for a million tokens/).all()) await field.fill('1')
      const from = drawer.getByLabel('From, in your time zone')
      await from.fill('20261-01-01T00:00')
      await drawer.getByText('This is a day and a time from the year 2000 on.').waitFor()
      equal(await drawer.getByRole('button', { name: 'Set price' }).getAttribute('aria-disabled'), 'true')
      await from.fill('2031-01-01T00:00')
      await drawer.locator('button[type="submit"]:not([aria-disabled])').waitFor()
      await from.fill('')
      await page.keyboard.press('Escape')
      deepEqual(faults, [])
    })
  })
}
