// What an owner sets for everybody: who runs the installation, how long keys last, and what is told by itself.

import { equal } from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { askApi, baseOf } from '../harness/ask.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

/** Needs somebody beside the owner who has signed in. */
export function rulesSuite(dashboard: () => Dashboard, email: string): void {
  suite('what an owner sets for everybody', () => {
    let base = ''
    before(() => {
      base = baseOf(dashboard())
    })

    test('a role in the installation is given to who signs in, changed, and taken away', async () => {
      const { page, origin } = dashboard().owner
      await page.goto(`${origin}/installation/settings`)
      const table = page.getByRole('table', { name: 'People who run this installation' })
      await table.getByRole('row', { name: /^Ann Lee you/ }).waitFor()
      await page.getByRole('button', { name: 'Add somebody' }).click()
      const drawer = page.getByRole('dialog', { name: 'Add somebody who runs this installation' })
      await drawer.getByLabel('Email').fill('nobody@example.com')
      await drawer.getByRole('button', { name: 'Give the role' }).click()
      await drawer.getByText('Nobody signs in with this address').waitFor()
      await drawer.getByLabel('Email').fill(email)
      await drawer.getByRole('button', { name: 'Give the role' }).click()
      await drawer.getByText('Nobody vouches that this address is theirs').waitFor()
      await drawer.getByLabel(/^I mean Bo Chen, a member of /).check()
      await drawer.getByRole('button', { name: 'Give the role' }).click()
      await table.getByRole('row', { name: /^Bo Chen.*Admin/ }).waitFor()
      const act = async (action: string) => {
        await page.getByRole('button', { name: 'Actions for Bo Chen' }).click()
        await page.getByRole('menuitem', { name: action }).click()
      }
      await act('Change role…')
      await page.getByRole('dialog', { name: 'Role of Bo Chen' }).getByLabel('Role').selectOption('auditor')
      await page.getByRole('button', { name: 'Save' }).click()
      await table.getByRole('row', { name: /^Bo Chen.*Auditor/ }).waitFor()
      await act('Take the role away…')
      await page.getByRole('dialog').getByRole('button', { name: 'Take the role away' }).click()
      await table.getByRole('row', { name: /^Bo Chen/ }).waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Actions for Ann Lee' }).click()
      const last = page.getByRole('menuitem', { name: 'Take the role away…' })
      equal(await last.getAttribute('aria-disabled'), 'true', 'The last owner stays one.')
      await page.keyboard.press('Escape')
      await page.getByRole('menu').waitFor({ state: 'detached' })
    })

    test('the rules that are always on say when they tell, and over which channels', async () => {
      const { page } = dashboard().owner
      await page.goto(`${base}/alerts`)
      const rules = page.getByRole('table', { name: 'Rules' })
      await rules.getByRole('row', { name: /^Requests fail on our side.*only here.*not in 30 days/ }).waitFor()
      equal(await rules.locator('tr[data-row]').count(), 8)
      await page.getByText('Nothing was told.').waitFor()
      // What else is told is no reason for it to be open.
      await page.getByText('Nothing is open: a share of a budget that is reached waits here').waitFor()
    })

    test('keys end within the days that are set, and the form says so at its field', async () => {
      const { page } = dashboard().owner
      const path = `/api/v1/organizations/${base.split('/').at(-1)}/settings`
      await page.goto(`${base}/settings`)
      const card = page.getByRole('region', { name: 'Keys and limits' })
      await card.getByLabel('Longest life of a key, in days').fill('30')
      await card.getByLabel('Who is asked for higher limits').fill('ops@example.com')
      await card.getByRole('button', { name: 'Save rules' }).click()
      await card.getByText('A new key ends within 30 days.').waitFor()
      await page.goto(`${base}/keys`)
      await page.getByRole('button', { name: 'Create key' }).first().click()
      const drawer = page.getByRole('dialog', { name: 'Create key' })
      await drawer.getByLabel('Name').fill('bounded')
      await drawer.getByRole('button', { name: 'Create key' }).click()
      await drawer.getByText('A key of this organization ends within 30 days.').waitFor()
      await drawer.getByLabel('Ends').selectOption('7')
      await drawer.getByRole('button', { name: 'Create key' }).click()
      const shown = page.getByRole('dialog', { name: '“bounded” is ready' })
      await shown.getByRole('button', { name: 'Done' }).click()
      await shown.getByRole('button', { name: 'Close without a copy' }).click()
      await page
        .getByRole('row', { name: /^bounded/ })
        .getByText(/^Ends in \d days$/)
        .waitFor()
      equal((await askApi(page, 'PATCH', path, { keyDaysMax: null, contact: null })).status, 200)
    })
  })
}
