// What the way back leads to: what is open is closed first, then the page before is shown.

import { equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { baseOf } from '../harness/ask.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

export function wayBackSuite(dashboard: () => Dashboard): void {
  suite('the way back', () => {
    test('closes what is open, the topmost first, and only then leads to the page before', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/projects`)
      await page.getByRole('link', { name: 'API keys' }).click()
      await page.getByRole('heading', { name: 'API keys' }).waitFor()
      await page.getByRole('button', { name: 'Create key' }).first().click()
      await page.getByRole('dialog', { name: 'Create key' }).waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'Find' }).waitFor()
      await page.goBack()
      await page.getByRole('dialog', { name: 'Find' }).waitFor({ state: 'detached' })
      await page.getByRole('dialog', { name: 'Create key' }).waitFor()
      await page.goBack()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      equal(new URL(page.url()).pathname.endsWith('/keys'), true)
      await page.goBack()
      await page.getByRole('heading', { name: 'Projects' }).waitFor()
    })

    test('leads to the page before at once when the layer was closed otherwise', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/projects`)
      await page.getByRole('link', { name: 'API keys' }).click()
      await page.getByRole('heading', { name: 'API keys' }).waitFor()
      await page.getByRole('button', { name: 'Create key' }).first().click()
      await page.getByRole('dialog', { name: 'Create key' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.waitForFunction(() => history.state === null)
      await page.goBack()
      await page.getByRole('heading', { name: 'Projects' }).waitFor()
    })

    test('closes nothing but what was meant where the browser is late in taking a step back', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/projects`)
      await page.getByRole('link', { name: 'API keys' }).click()
      await page.getByRole('heading', { name: 'API keys' }).waitFor()
      const steps = await page.evaluateHandle((lateMs) => {
        const taken: unknown[] = []
        const back = history.back.bind(history)
        history.back = () => void setTimeout(back, lateMs)
        window.addEventListener('popstate', ({ state }) => taken.push(state))
        return taken
      }, 1_500)
      await page.getByRole('button', { name: 'Create key' }).first().click()
      await page.getByRole('dialog', { name: 'Create key' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.keyboard.press('Control+k')
      const palette = page.getByRole('dialog', { name: 'Find' })
      await palette.waitFor()
      await page.waitForFunction((taken) => taken.length > 0, steps)
      // What a step closes is gone in the same turn, and the palette gets a step of its own in the next.
      await page.waitForFunction(() => (history.state as { readonly layer?: number } | null)?.layer === 1)
      equal(await palette.isVisible(), true)
      await page.goBack()
      await palette.waitFor({ state: 'detached' })
      await page.getByRole('heading', { name: 'API keys' }).waitFor()
      equal(new URL(page.url()).pathname.endsWith('/keys'), true)
    })

    test('does not close a new key without being asked twice', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/keys`)
      await page.getByRole('button', { name: 'Create key' }).first().click()
      const drawer = page.getByRole('dialog', { name: 'Create key' })
      await drawer.getByLabel('Name').fill('kept')
      await drawer.getByRole('button', { name: 'Create key' }).click()
      const shown = page.getByRole('dialog', { name: '“kept” is ready' })
      await shown.waitFor()
      await page.goBack()
      await shown.getByText('The key was not copied').waitFor()
      await page.goBack()
      await shown.waitFor({ state: 'detached' })
      await page.getByRole('row', { name: /^kept/ }).waitFor()
    })
  })
}
