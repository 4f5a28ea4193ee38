// Accounts of programs: one is made in a project, gets a key, has it rotated, is disabled and enabled with it, and removed.

import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { askWith, baseOf } from '../harness/ask.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

export function serviceAccountsSuite(dashboard: () => Dashboard): void {
  suite('an account of a program', () => {
    let key = ''
    const page = () => dashboard().owner.page
    const ask = (one: string) => askWith(dashboard().service.address, { key: one })
    const changeTo = async (verb: string) => {
      await page().getByRole('button', { name: 'Change Search' }).click()
      await page()
        .getByRole('menuitem', { name: `${verb}…` })
        .click()
    }
    /** The key that is shown once. */
    const readKey = async (name: string) => {
      const shown = page().getByRole('dialog', { name: `“${name}” is ready` })
      const text = (await shown.getByText(/^sk-ody-\w+$/).textContent()) ?? ''
      await shown.getByRole('button', { name: 'Done' }).click()
      await shown.getByRole('button', { name: 'Close without a copy' }).click()
      await shown.waitFor({ state: 'detached' })
      return text
    }
    const keyRow = () =>
      page()
        .getByRole('table', { name: 'Its keys' })
        .getByRole('row', { name: /^nightly/ })

    test('is made in a project, and its page is where it gets its keys', async () => {
      await page().goto(`${baseOf(dashboard())}/service-accounts`)
      await page().getByRole('button', { name: 'Create service account' }).first().click()
      const drawer = page().getByRole('dialog', { name: 'Create service account' })
      const create = drawer.getByRole('button', { name: 'Create service account' })
      equal(await create.getAttribute('title'), 'A name is needed.')
      await drawer.getByLabel('Name').fill('Search')
      await create.click()
      await page().getByRole('heading', { level: 1, name: 'Search' }).waitFor()
      await page().getByText('None.').waitFor()
      await page().getByRole('button', { name: 'Create key' }).click()
      const making = page().getByRole('dialog', { name: 'Create key of “Search”' })
      equal(await making.getByLabel('Owner').count(), 0, 'Whose key it is and of which project is settled.')
      equal(await making.getByLabel('Project').count(), 0)
      await making.getByLabel('Name').fill('nightly')
      await making.getByRole('button', { name: 'Create key' }).click()
      key = await readKey('nightly')
      await keyRow().getByText('Active').waitFor()
      equal(await ask(key), 200)
    })

    test('is named as the owner of its key, by which keys are found', async () => {
      await page().goto(`${baseOf(dashboard())}/keys`)
      await page()
        .getByRole('row', { name: /^nightly.*Search/ })
        .waitFor()
      await page().getByLabel('Owner').selectOption('Search')
      await page().waitForURL(/owner=svc_/)
      equal(await page().locator('tr[data-row]').count(), 1)
      await page().getByRole('link', { name: 'nightly' }).click()
      await page().getByRole('region', { name: 'Rules' }).getByText('Search', { exact: true }).waitFor()
    })

    test('has a key rotated, which ends the one before at once where nothing else is said', async () => {
      await page().goto(`${baseOf(dashboard())}/service-accounts`)
      await page().getByRole('link', { name: 'Search', exact: true }).click()
      await keyRow().getByRole('button', { name: 'Actions for nightly' }).click()
      await page().getByRole('menuitem', { name: 'Rotate…' }).click()
      await page().getByLabel('The old key works on for').selectOption('0')
      await page().getByRole('button', { name: 'Rotate key' }).click()
      const next = await readKey('nightly')
      deepEqual([await ask(next), await ask(key)], [200, 401])
      key = next
    })

    test('is disabled with its keys, makes none then, and has exactly them back', async () => {
      await changeTo('Disable')
      await page()
        .getByText(/It has 1 key\. Requests with its keys are refused/)
        .waitFor()
      await page().getByRole('button', { name: 'Disable service account' }).click()
      await keyRow().filter({ hasText: 'Disabled' }).waitFor()
      equal(await ask(key), 401)
      const create = page().getByRole('button', { name: 'Create key' })
      equal(await create.getAttribute('title'), 'It is disabled: enable it first.')
      await changeTo('Enable')
      await page().getByRole('button', { name: 'Enable service account' }).click()
      await keyRow().filter({ hasText: 'Active' }).waitFor()
      equal(await ask(key), 200)
    })

    test('is renamed, and removed by who types its name, with its keys', async () => {
      await changeTo('Rename')
      const drawer = page().getByRole('dialog', { name: 'Rename “Search”' })
      await drawer.getByLabel('Name').fill('Index')
      await drawer.getByRole('button', { name: 'Save' }).click()
      await page().getByRole('heading', { level: 1, name: 'Index' }).waitFor()
      await page().getByRole('link', { name: 'Service accounts' }).last().click()
      await page().getByRole('button', { name: 'Actions for Index' }).click()
      await page().getByRole('menuitem', { name: 'Remove…' }).click()
      await page().getByLabel('Type Index to go on').fill('Index')
      const remove = page().getByRole('button', { name: 'Remove service account' })
      await remove.click()
      // What lies below the dialog has no roles as long as that is open, so no row is there either.
      await remove.waitFor({ state: 'detached' })
      await page()
        .getByRole('row', { name: /^Index/ })
        .waitFor({ state: 'detached' })
      equal(await ask(key), 401)
      await page().goto(`${baseOf(dashboard())}/service-accounts?state=removed`)
      await page()
        .getByRole('row', { name: /^Index.*Removed/ })
        .getByRole('link')
        .click()
      equal(await page().getByRole('button', { name: 'Create key' }).getAttribute('title'), 'It was removed.')
    })
  })
}
