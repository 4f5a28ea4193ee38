// Roles that an organization makes of the built-in ones: made of permissions in words, given, changed under whoever has
// them, and removed.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { permissions, reachByRole, type Permission } from '../../../src/core/permission.ts'
import { routes } from '../../../web/src/app/route-table.ts'
import { groupPermissions, wordsOfPermission } from '../../../web/src/pages/roles/permission-words.ts'
import { askApi, baseOf, goTo, settled } from '../harness/ask.ts'
import { memberIdOf, openDashboard, organizationOf, type Opened } from '../harness/open-dashboard.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

type OwnRole = { readonly id: string; readonly name: string; readonly permissions: readonly string[] }

export function ownRolesSuite(dashboard: () => Dashboard): void {
  suite('a role of an organization’s own', () => {
    let dee: Opened
    const within = () => `/api/v1/organizations/${organizationOf(dashboard().owner)}`
    const rowOf = (name: RegExp) =>
      dashboard().owner.page.getByRole('table', { name: 'Your own roles' }).getByRole('row', { name })
    const choose = async (name: string, action: string) => {
      const { page } = dashboard().owner
      await page.getByRole('button', { name: `Actions for ${name}` }).click()
      await page.getByRole('menuitem', { name: action }).click()
    }
    const read = async () => {
      const { body } = await askApi(dashboard().owner.page, 'GET', `${within()}/roles`)
      return (body as { readonly data: readonly OwnRole[] }).data
    }
    before(async () => {
      const { owner, browser, service } = dashboard()
      await owner.page.goto(`${baseOf(dashboard())}/roles`)
      const invited = await askApi(owner.page, 'POST', `${within()}/invitations`, {
        email: 'dee@example.com',
        role: 'auditor',
      })
      dee = await openDashboard(browser, service)
      await dee.page.goto((invited.body as { readonly link: string }).link)
      await dee.page.getByLabel('Your name').fill('Dee Fox')
      await dee.page.getByRole('button', { name: 'Create passkey and join' }).click()
      await dee.page.getByRole('heading', { name: 'Home' }).waitFor()
    })
    after(() => dee?.context.close())

    test('has words for every permission of the service, each in a group', () => {
      deepEqual(
        permissions.filter((name) => wordsOfPermission(name) === name),
        [],
      )
      const grouped = groupPermissions(permissions)
      deepEqual(grouped.flatMap(({ names }) => names).toSorted(), [...permissions].toSorted())
      equal(
        grouped.some(({ title }) => title === 'Others'),
        false,
      )
      deepEqual(groupPermissions(['new:thing']), [{ title: 'Others', names: ['new:thing'] }])
    })

    test('is made of what is chosen in words, and of nothing else', async () => {
      const { page } = dashboard().owner
      await page.getByText('No roles of your own yet.').waitFor()
      await page.getByRole('button', { name: 'Create role' }).first().click()
      const drawer = page.getByRole('dialog', { name: 'Create role' })
      const create = drawer.getByRole('button', { name: 'Create role' })
      await drawer.getByLabel('Name', { exact: true }).fill('Support')
      equal(await create.getAttribute('title'), 'Choose at least one thing that it lets do.')
      equal(await drawer.getByRole('checkbox', { name: 'Create management keys' }).count(), 0, 'No admin may.')
      for (const name of ['See members', 'See requests, without what was said', 'See API keys']) {
        await drawer.getByRole('checkbox', { name, exact: true }).check()
      }
      await create.click()
      await rowOf(/^Support admin 3 of \d+ nobody/).waitFor()
      const [made] = await read()
      deepEqual(made?.permissions, ['members:read', 'api-keys:read', 'requests:read'])
      const table = page.getByRole('table', { name: 'What each role may' })
      await table.getByRole('columnheader', { name: 'Support' }).waitFor()
      await table.getByRole('row', { name: /^See members members:read yes yes – – yes yes$/ }).waitFor()
      await table.getByRole('row', { name: /^Invite members members:create yes yes – – – –$/ }).waitFor()
    })

    test('with the name of another is refused at its field', async () => {
      const { page } = dashboard().owner
      await choose('Support', 'Create one like it…')
      const drawer = page.getByRole('dialog', { name: 'Create role' })
      ok(await drawer.getByRole('checkbox', { name: 'See members', exact: true }).isChecked())
      await drawer.getByLabel('Name', { exact: true }).fill('Support')
      await drawer.getByRole('button', { name: 'Create role' }).click()
      await drawer.getByText('There is a role with this name already.').waitFor()
      await page.keyboard.press('Escape')
      await drawer.waitFor({ state: 'detached' })
      equal((await read()).length, 1)
    })

    test('is given to a member, who is shown what it leaves', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/members`)
      await choose('Dee Fox', 'Role and projects…')
      const drawer = page.getByRole('dialog', { name: 'Role and projects of Dee Fox' })
      await drawer.getByLabel('Role').selectOption('Support')
      await drawer.getByText('A part of admin: 3 of what it may.').waitFor()
      await drawer.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('row', { name: /^Dee Fox.*Support/ }).waitFor()
      await dee.page.goto(`${baseOf(dashboard())}/members`)
      await dee.page.getByRole('row', { name: /^Dee Fox.*a part of admin/ }).waitFor()
      await dee.page.goto(`${baseOf(dashboard())}/audit`)
      await dee.page.getByText('You need audit:read.').waitFor()
    })

    test('says whom a change concerns and what it takes from them, and takes it at once', async () => {
      const { page } = dashboard().owner
      await dee.page.goto(`${baseOf(dashboard())}/keys`)
      await dee.page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
      await page.goto(`${baseOf(dashboard())}/roles`)
      await choose('Support', 'Edit…')
      const drawer = page.getByRole('dialog', { name: 'Edit “Support”' })
      equal(await drawer.getByRole('button', { name: 'Save' }).getAttribute('title'), 'Nothing was changed.')
      await drawer.getByRole('checkbox', { name: 'See API keys', exact: true }).uncheck()
      await drawer.getByRole('checkbox', { name: 'Read the audit log' }).check()
      await drawer
        .getByText(/^Concerns Dee Fox, at once.* Gives them: Read the audit log\. Takes from them: See API keys\./)
        .waitFor()
      await drawer.getByRole('button', { name: 'Save' }).click()
      await drawer.waitFor({ state: 'detached' })
      await dee.page.getByText('You need api-keys:read.').waitFor()
    })

    test('is removed when nobody has it any more, and not before', async () => {
      const { page } = dashboard().owner
      await page.getByRole('button', { name: 'Actions for Support' }).click()
      const remove = page.getByRole('menuitem', { name: 'Remove…' })
      equal(await remove.getAttribute('title'), '1 member has it: give them another role first.')
      await page.keyboard.press('Escape')
      await rowOf(/^Support/)
        .getByRole('link', { name: 'Dee Fox' })
        .click()
      await page.getByRole('row', { name: /^Dee Fox/ }).waitFor()
      equal(await page.locator('tr[data-row]').count(), 1)
      await choose('Dee Fox', 'Role and projects…')
      const drawer = page.getByRole('dialog', { name: 'Role and projects of Dee Fox' })
      await drawer.getByLabel('Role').selectOption('Auditor')
      await drawer.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('main').getByText('No members match these filters.').waitFor()
      await page.goto(`${baseOf(dashboard())}/roles`)
      await choose('Support', 'Remove…')
      await page.getByRole('button', { name: 'Remove role' }).click()
      await page.getByText('No roles of your own yet.').waitFor()
      deepEqual(await read(), [])
    })

    test('opens its pages whole, and asks for nothing that it leaves out', async () => {
      const { owner } = dashboard()
      const refused: string[] = []
      dee.page.on('response', (response) => {
        if (response.status() === 403) refused.push(`${new URL(response.url()).pathname} on ${dee.page.url()}`)
      })
      const memberId = await memberIdOf(dee.page)
      const helpful = ['usage', 'budgets', 'projects', 'prices', 'organizations'].map((name) => `${name}:read`)
      const ofPages = Object.values(routes).flatMap(({ needs }) => (needs === null ? [] : [needs]))
      const withoutHelp = permissions.filter((name) => ofPages.includes(name) && !helpful.includes(name))
      for (const [index, given] of [withoutHelp, ['organizations:read', 'api-keys:read', 'roles:read']].entries()) {
        // A page that was opened with more may still ask for it when the role changes.
        await dee.page.goto('about:blank')
        const wanted = { name: `Part ${index}`, base: 'admin', permissions: given.filter(isOfAdmins) }
        const { body } = await askApi(owner.page, 'POST', `${within()}/roles`, wanted)
        const role = (body as { readonly id: string }).id
        equal((await askApi(owner.page, 'PATCH', `${within()}/members/${memberId}`, { role })).status, 200)
        await dee.page.goto(`${baseOf(dashboard())}/keys`)
        await dee.page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
        const links = await dee.page
          .getByRole('navigation', { name: 'Pages' })
          .getByRole('link')
          .evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href))
        for (const link of links) {
          await goTo(dee.page, link)
          const text = (await dee.page.locator('main').textContent()) ?? ''
          equal(text.includes('could not be read'), false, `${link}: ${text}`)
        }
      }
      deepEqual(refused, [])
    })

    test('without usage has a home of what it leaves: models, keys and the way to a first request', async () => {
      const { page } = dee
      await goTo(page, baseOf(dashboard()))
      await page.getByRole('region', { name: 'clarke-1.0' }).getByText('ready').waitFor()
      await page.getByRole('table', { name: 'Keys used last' }).waitFor()
      const own = page.getByRole('region', { name: 'What you may see' })
      await own.getByRole('link', { name: 'Quickstart' }).waitFor()
      equal(await own.getByRole('link', { name: 'Usage and cost' }).count(), 0)
    })

    test('offers the roles alone that the service lets its holder give, and says why of the others', async () => {
      const { owner } = dashboard()
      const memberId = await memberIdOf(dee.page)
      // As much as an auditor, and to invite and change members.
      const permitted = permissions.filter(
        (name) => isOfAdmins(name) && (name.endsWith(':read') || ['members:create', 'members:update'].includes(name)),
      )
      const wanted = { name: 'Part of people', base: 'admin', permissions: permitted }
      const made = await askApi(owner.page, 'POST', `${within()}/roles`, wanted)
      const role = (made.body as { readonly id: string }).id
      equal((await askApi(owner.page, 'PATCH', `${within()}/members/${memberId}`, { role })).status, 200)
      const { page } = dee
      await page.goto(`${baseOf(dashboard())}/members`)
      await page.getByRole('button', { name: 'Invite' }).click()
      const drawer = page.getByRole('dialog', { name: 'Invite' })
      const options = await drawer.getByLabel('Role').locator('option').all()
      const offered: (readonly [string, boolean])[] = []
      for (const option of options) {
        offered.push([(await option.getAttribute('value')) ?? '', await option.isEnabled()])
        if (await option.isDisabled()) match((await option.textContent()) ?? '', /\(may do more than you\)$/)
      }
      const accepted: (readonly [string, boolean])[] = []
      for (const [value] of offered) {
        const invitation = { email: `${value}@own-roles.example`, role: value }
        const { status, body } = await askApi(page, 'POST', `${within()}/invitations`, invitation)
        const isRefused = status === 403 && (body as { readonly type: string }).type.endsWith('permission-denied')
        accepted.push([value, !isRefused])
      }
      deepEqual(offered, accepted)
      equal(await drawer.getByLabel('Role').inputValue(), 'auditor')
      await page.keyboard.press('Escape')
      await drawer.waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Actions for Ann Lee' }).click()
      const change = page.getByRole('menuitem', { name: 'Role and projects…' })
      match((await change.getAttribute('title')) ?? '', /^Ann Lee may do more than you/)
      await page.keyboard.press('Escape')
    })

    test('leaves nothing of its holder’s pages to somebody else who signs in in the same browser', async () => {
      const { page, context } = dee
      await page.goto(`${dee.origin}/account`)
      await page.getByLabel('Name', { exact: true }).waitFor()
      equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Dee Fox')
      await context.addCookies(await dashboard().owner.context.cookies())
      await page.getByRole('heading', { level: 1 }).press('r')
      await page.getByRole('link', { name: 'Account of Ann Lee' }).waitFor()
      await settled(page)
      equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Ann Lee')
      equal(await page.getByText('Dee Fox').count(), 0)
    })

    test('nothing broke the content policy, and no program failed', () => deepEqual(dee.faults, []))
  })
}

function isOfAdmins(name: string): boolean {
  return reachByRole(name as Permission).admin === 'organization'
}
