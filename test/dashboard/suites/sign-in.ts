// The page of connections, domains and directories: what is made there works, and a token is shown once.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { askApi, baseOf } from '../harness/ask.ts'
import { organizationOf } from '../harness/open-dashboard.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

export function signInSuite(dashboard: () => Dashboard): void {
  suite('sign-in and directory', () => {
    let token = ''
    const organizationPath = () => `/api/v1/organizations/${organizationOf(dashboard().owner)}`
    const scim = (method: string, path: string, body: unknown) =>
      fetch(`${dashboard().service.address}/scim/v2${path}`, {
        method,
        body: JSON.stringify(body),
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      })

    test('a provider is connected, and the page says what the provider has to be told', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/sign-in`)
      await page.getByRole('button', { name: 'Connect', exact: true }).click()
      const drawer = page.getByRole('dialog', { name: 'Connect an identity provider' })
      await drawer.getByLabel('Provider').selectOption('entra')
      await drawer.getByLabel('Issuer').fill('https://login.microsoftonline.com/common/v2.0')
      await drawer.getByLabel('Client id').fill('odyssey')
      await drawer.getByLabel('Client secret').fill('a secret of the client')
      await drawer.getByRole('button', { name: 'Make the connection' }).click()
      await drawer.getByText('This issuer stands for many tenants').waitFor()
      await drawer.getByLabel('Issuer').fill('https://login.microsoftonline.com/1234/v2.0')
      await drawer.getByRole('button', { name: 'Make the connection' }).click()
      const made = page.getByRole('dialog', { name: 'Microsoft Entra' })
      match((await made.textContent()) ?? '', /\/sso\/conn_\w+\/callback/)
      await made.getByText('Nobody has tried it yet.').waitFor()
      await made.getByRole('button', { name: 'Switch on' }).click()
      await made.getByRole('button', { name: 'Switch off' }).waitFor()
      await made.getByText('Nobody has come back from the provider yet.').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('row', { name: /^Microsoft Entra OpenID Connect On Never/ }).waitFor()
      ok(!(await page.content()).includes('a secret of the client'))
    })

    test('a domain waits with its record', async () => {
      const { page } = dashboard().owner
      await page.getByLabel('Domain', { exact: true }).fill('acme.example')
      await page.getByRole('button', { name: 'Add domain' }).click()
      await page.getByRole('row', { name: /^acme\.example Waits/ }).waitFor()
      await page.getByText('_odyssey.acme.example').first().waitFor()
    })

    test('a directory is added, and its token is shown once and works', async () => {
      const { page } = dashboard().owner
      await page.getByRole('button', { name: 'Add directory' }).click()
      const drawer = page.getByRole('dialog', { name: 'Add a directory' })
      await drawer.getByLabel('Name').fill('Entra')
      await drawer.getByRole('button', { name: 'Add directory' }).click()
      const shown = page.getByRole('dialog', { name: 'Tell the directory' })
      token = ((await shown.getByRole('region', { name: 'Token' }).textContent()) ?? '').trim()
      match(token, /^sk-odyd-\w{38}$/)
      await shown.getByRole('button', { name: 'Done' }).click()
      ok(!(await page.content()).includes(token))
      const person = { userName: 'ann@acme.example', displayName: 'Ann' }
      const made = (await (await scim('POST', '/Users', person)).json()) as { readonly id: string }
      const members = [{ value: made.id }]
      equal((await scim('POST', '/Groups', { displayName: 'Auditors', members })).status, 201)
      equal((await scim('POST', '/Users', person)).status, 409)
    })

    test('a group is mapped after a look at whom that changes, and what was refused is told in words', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/sign-in`)
      await page.getByRole('button', { name: 'Open Entra' }).click()
      const drawer = page.getByRole('dialog', { name: 'Entra' })
      await drawer.getByText('Another user has this userName.').waitFor()
      await drawer.getByLabel('What Auditors gives').selectOption('auditor')
      await drawer.getByRole('row', { name: /^Ann developer auditor/ }).waitFor()
      const role = async () => {
        const { body } = await askApi(page, 'GET', `${organizationPath()}/members`)
        const { data } = body as { readonly data: readonly { readonly name: string; readonly role: string }[] }
        return data.find(({ name }) => name === 'Ann')?.role
      }
      equal(await role(), 'developer')
      await drawer.getByRole('button', { name: 'Save mappings' }).click()
      await drawer.getByRole('table', { name: 'Preview' }).waitFor({ state: 'detached' })
      deepEqual(await role(), 'auditor')
    })
  })
}
