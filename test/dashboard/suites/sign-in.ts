// The page of connections, domains and directories: what is made there works, and a token is shown once.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { askApi, baseOf } from '../harness/ask.ts'
import { openDatabase } from '../../../src/db/open-database.ts'
import { runCli } from '../../harness/run-cli.ts'
import { organizationOf } from '../harness/open-dashboard.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

export function signInSuite(dashboard: () => Dashboard): void {
  suite('sign-in and directory', () => {
    let token = ''
    const organizationPath = () => `/api/v1/organizations/${organizationOf(dashboard().owner)}`
    const connectionId = async () => {
      const { body } = await askApi(dashboard().owner.page, 'GET', `${organizationPath()}/connections`)
      return (body as { readonly data: readonly { readonly id: string }[] }).data[0]?.id ?? ''
    }
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

    test('a member who has come in otherwise is shown the way into an organization that opens by its provider', async () => {
      const { page, origin } = dashboard().owner
      const base = baseOf(dashboard())
      await page.route('**/api/v1/session', async (route) => {
        const response = await route.fetch()
        const session = (await response.json()) as { readonly memberships: readonly object[] }
        const [own] = session.memberships
        const named = { organizationId: 'org_other', organizationName: 'Beta' }
        const closed = { ...own, ...named, permissions: {}, needsProof: { connectionId: 'conn_beta' } }
        await route.fulfill({ response, json: { ...session, memberships: [own, closed] } })
      })
      await page.goto(`${origin}/o/org_other`)
      await page.getByRole('heading', { level: 1, name: 'Beta' }).waitFor()
      const way = page.getByRole('link', { name: 'Sign in by it' })
      equal(await way.getAttribute('href'), '/sso/conn_beta/start?next=%2Fo%2Forg_other')
      equal(await page.title(), 'Home · Beta · Odyssey')
      await page.unroute('**/api/v1/session')
      await page.goto(`${base}/sign-in`)
      await page.getByRole('row', { name: /^Microsoft Entra/ }).waitFor()
    })

    test('a domain waits with its record', async () => {
      const { page } = dashboard().owner
      await page.getByLabel('Domain', { exact: true }).fill('acme.example')
      await page.getByRole('button', { name: 'Add domain' }).click()
      await page.getByRole('row', { name: /^acme\.example Waits/ }).waitFor()
      await page.getByText('_odyssey.acme.example').first().waitFor()
      await page.setViewportSize({ width: 390, height: 844 })
      const words = page.locator('tr', { hasText: '_odyssey.acme.example' }).locator('button', { hasText: 'Copy' })
      equal(await words.evaluate(linesOf), 1, 'On a phone')
      await page.setViewportSize({ width: 1_280, height: 800 })
    })

    test('groups that a provider names are mapped in an order, with projects for developers', async () => {
      const { page } = dashboard().owner
      await page.getByRole('button', { name: 'Open Microsoft Entra' }).click()
      const drawer = page.getByRole('dialog', { name: 'Microsoft Entra' })
      for (const name of ['Engineers', 'Finance']) {
        await drawer.getByLabel('Group', { exact: true }).fill(name)
        await drawer.getByRole('button', { name: 'Add group' }).click()
      }
      await drawer.getByLabel('Group', { exact: true }).fill('Finance')
      const add = drawer.getByRole('button', { name: 'Add group' })
      equal(await add.getAttribute('title'), 'It is in the list already.')
      await drawer.getByRole('group', { name: 'Projects that Engineers opens' }).getByRole('checkbox').first().check()
      await drawer.getByLabel('What Finance gives').selectOption('billing')
      await drawer.getByRole('button', { name: 'Let Finance count earlier' }).click()
      await drawer.getByRole('button', { name: 'Save mappings' }).click()
      await drawer.getByRole('button', { name: 'Leave as it was' }).waitFor({ state: 'detached' })
      type Mapping = { readonly group: string; readonly role: string; readonly projectIds: readonly string[] }
      const { body } = await askApi(
        page,
        'GET',
        `${organizationPath()}/connections/${await connectionId()}/group-mappings`,
      )
      deepEqual(
        (body as { readonly data: readonly Mapping[] }).data.map(({ group, role, projectIds }) => [
          group,
          role,
          projectIds.length,
        ]),
        [
          ['Finance', 'billing', 0],
          ['Engineers', 'developer', 1],
        ],
      )
    })

    test('what groups would make of somebody is told before anybody signs in, and whom the mappings change', async () => {
      const { owner, service } = dashboard()
      const db = await openDatabase({ home: service.home, databaseUrl: null })
      const organization_id = organizationOf(owner) as `org_${string}`
      const known = await db
        .selectFrom('members')
        .select(['name', 'role', 'user_id'])
        .where('organization_id', '=', organization_id)
        .where('user_id', 'is not', null)
        .where('removed_at', 'is', null)
        // What the provider's people are whom no group maps: neither their role nor a project changes.
        .where('role', '=', 'developer')
        .where('id', 'not in', db.selectFrom('project_members').select('member_id'))
        .orderBy('id')
        .executeTakeFirstOrThrow()
      // As after a sign-in at the provider, which is at Microsoft and not here.
      const connection_id = (await connectionId()) as `conn_${string}`
      const seen = { subject: 'known', created_at: 1, last_seen_at: 1, named_groups: '["Finance"]' }
      const user_id = known.user_id ?? 'usr_none'
      await db
        .insertInto('identities')
        .values({ connection_id, organization_id, user_id, ...seen })
        .execute()
      await db.destroy()
      const { page } = owner
      await page.reload()
      await page.getByRole('button', { name: 'Open Microsoft Entra' }).click()
      const drawer = page.getByRole('dialog', { name: 'Microsoft Entra' })
      const changed = drawer.getByRole('table', { name: 'Whom mappings change' })
      const toBilling = changed.getByRole('row', { name: new RegExp(`^${known.name} Finance ${known.role} billing`) })
      await toBilling.waitFor()
      await drawer.getByLabel('Try groups').fill('Engineers')
      await drawer
        .getByText('They are', { exact: true })
        .locator('..')
        .getByText('developer', { exact: true })
        .waitFor()
      await drawer.getByLabel('Try groups').fill('Engineers, Finance')
      await drawer.getByText('They are', { exact: true }).locator('..').getByText('billing', { exact: true }).waitFor()
      await drawer.getByLabel('What Finance gives').selectOption('')
      await changed.waitFor({ state: 'detached' })
      await drawer
        .getByText('They are', { exact: true })
        .locator('..')
        .getByText('developer', { exact: true })
        .waitFor()
      await drawer.getByRole('button', { name: 'Leave as it was' }).click()
      await toBilling.waitFor()
    })

    test('whoever signs out here is signed out at the provider too once that is switched on', async () => {
      const { page } = dashboard().owner
      const drawer = page.getByRole('dialog', { name: 'Microsoft Entra' })
      const isSwitched = async () => {
        const { body } = await askApi(page, 'GET', `${organizationPath()}/connections/${await connectionId()}`)
        return (body as { readonly signsOutThere: boolean }).signsOutThere
      }
      await drawer.getByText('Whoever signs out here stays signed in at the provider.').waitFor()
      await drawer.getByRole('button', { name: 'Sign out there too' }).click()
      await drawer.getByText('Whoever signs out here is signed out at the provider too').waitFor()
      match((await drawer.textContent()) ?? '', /Where the provider sends browsers back to.*\/login/)
      equal(await isSwitched(), true)
      await drawer.getByRole('button', { name: 'Sign out here alone' }).click()
      await drawer.getByRole('button', { name: 'Sign out there too' }).waitFor()
      equal(await isSwitched(), false)
    })

    test('no provider is the only way in before everything for it is there, and the page says what is missing', async () => {
      const { page } = dashboard().owner
      const drawer = page.getByRole('dialog', { name: 'Microsoft Entra' })
      const enforce = drawer.getByRole('button', { name: 'Make it the only way in…' })
      equal(await enforce.getAttribute('title'), 'Not yet: You have signed in with it yourself.')
      const needs = drawer.getByRole('list', { name: 'What it needs' })
      await needs.getByText('Missing: A domain of the organization is verified.').waitFor()
      await needs.getByText('Missing: The owner who comes in all the same has shown that they can.').waitFor()
      const refused = await askApi(page, 'POST', `${organizationPath()}/connections/${await connectionId()}/enforce`, {
        breakGlassId: 'mem_none',
      })
      equal(refused.status >= 400, true)
      await page.keyboard.press('Escape')
    })

    test('a provider is made the only way in by who reads what that means and types its name, and is so no more', async () => {
      const { owner, service } = dashboard()
      const { page } = owner
      await runCli(service, 'domains', 'trust', 'acme.example', '--json')
      // As after a sign-in at the provider, which is at Microsoft and not here.
      const session = (await askApi(page, 'GET', '/api/v1/session')).body as { readonly user: { readonly id: string } }
      const db = await openDatabase({ home: service.home, databaseUrl: null })
      await db
        .updateTable('connections')
        .set({ tested_by: session.user.id as `usr_${string}`, tested_at: Date.now() })
        .execute()
      await db.destroy()
      await page.goto(`${baseOf(dashboard())}/sign-in`)
      await page.getByRole('button', { name: 'Open Microsoft Entra' }).click()
      const drawer = page.getByRole('dialog', { name: 'Microsoft Entra', exact: true })
      await drawer.getByRole('button', { name: 'Use your passkey' }).click()
      await drawer.getByText('The owner who comes in all the same has shown that they can.', { exact: true }).waitFor()
      await drawer.getByRole('button', { name: 'Make it the only way in…' }).click()
      const asked = page.getByRole('dialog', { name: 'Microsoft Entra as the only way in' })
      match(
        (await asked.textContent()) ?? '',
        /comes? into this organization by Microsoft Entra alone.*locked out.*Ann Lee comes in without it.*API keys and management keys work on/,
      )
      const confirm = asked.getByRole('button', { name: 'Make it the only way in' })
      equal(await confirm.getAttribute('aria-disabled'), 'true')
      await asked.getByLabel('Type Microsoft Entra to go on').fill('Microsoft Entra')
      await confirm.click()
      const relax = drawer.getByRole('button', { name: 'Let members in otherwise too…' })
      await relax.waitFor()
      match((await drawer.textContent()) ?? '', /But forAnn Lee/)
      const off = drawer.getByRole('button', { name: 'Switch off' })
      match((await off.getAttribute('title')) ?? '', /the only way in/)
      match((await drawer.getByRole('button', { name: 'Remove…' }).getAttribute('title')) ?? '', /the only way in/)
      await relax.click()
      await page
        .getByRole('dialog', { name: 'No longer Microsoft Entra alone' })
        .getByRole('button', { name: 'Let members in otherwise too' })
        .click()
      await drawer.getByRole('button', { name: 'Make it the only way in…' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('row', { name: /^Microsoft Entra OpenID Connect On/ }).waitFor()
    })

    test('a domain whose record is gone says until when it counts, and shows the record that is missed', async () => {
      const { owner, service } = dashboard()
      const { page } = owner
      const row = page.getByRole('table', { name: 'Domains' }).getByRole('row', { name: /^acme\.example/ })
      await row.getByText('Verified').waitFor()
      equal(await row.getByRole('button', { name: 'Look for the record' }).count(), 0)
      const db = await openDatabase({ home: service.home, databaseUrl: null })
      const missing = { missing_since: Date.now() - 86_400_000, look_at: Date.now() + 86_400_000 }
      await db.updateTable('domains').set(missing).execute()
      await page.reload()
      await row.getByText('Record gone').waitFor()
      match((await row.textContent()) ?? '', /counts until .*_odyssey\.acme\.example odyssey-domain=/)
      await row.getByRole('button', { name: 'Look for the record' }).waitFor()
      await db.updateTable('domains').set({ verified_at: null, look_at: null }).execute()
      await page.reload()
      await row.getByText(/: counts for nothing/).waitFor()
      await db.updateTable('domains').set({ verified_at: Date.now(), missing_since: null }).execute()
      await db.destroy()
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
      await drawer.getByRole('row', { name: /^Ann developer auditor as before/ }).waitFor()
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

/** Runs in the page: on how many lines the words of an element stand. */
function linesOf(element: Element): number {
  const range = document.createRange()
  range.selectNodeContents(element)
  const words = [...range.getClientRects()].filter(({ width }) => width > 1)
  return new Set(words.map(({ bottom }) => Math.round(bottom / 10))).size
}
