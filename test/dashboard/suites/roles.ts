// Every role at every page: what is in the menu, what is shown, what is disabled and why, and that the service says the
// same. One member is given one role after the other.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { reachesOf } from '../../../src/core/permission.ts'
import { roles, type Role } from '../../../src/core/role.ts'
import { isOfInstallation, pagePath, paths, type PageName } from '../../../web/src/app/paths.ts'
import { routes } from '../../../web/src/app/route-table.ts'
import { permittedRoutes } from '../../http/api/ask-route.ts'
import { runCli } from '../../harness/run-cli.ts'
import { askApi, goTo } from '../harness/ask.ts'
import { openDashboard, organizationOf, type Opened } from '../harness/open-dashboard.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

type Action = {
  readonly page: PageName
  readonly button: string
  readonly permission: string
  readonly method: 'POST' | 'PUT' | 'PATCH'
  /** Below the organization. */
  readonly path: string
}

/** The first action of each page, and the request that it sends. */
const actions: readonly Action[] = [
  { page: 'keys', button: 'Create key', permission: 'api-keys:create', method: 'POST', path: '/api-keys' },
  { page: 'limits', button: 'Set limit', permission: 'limits:update', method: 'PUT', path: '/limits' },
  { page: 'budgets', button: 'Set budget', permission: 'budgets:update', method: 'PUT', path: '/budgets' },
  { page: 'projects', button: 'Create project', permission: 'projects:create', method: 'POST', path: '/projects' },
  { page: 'members', button: 'Invite', permission: 'members:create', method: 'POST', path: '/invitations' },
  { page: 'roles', button: 'Create role', permission: 'roles:create', method: 'POST', path: '/roles' },
  {
    page: 'serviceAccounts',
    button: 'Create service account',
    permission: 'service-accounts:create',
    method: 'POST',
    path: '/service-accounts',
  },
  { page: 'settings', button: 'Save', permission: 'organizations:update', method: 'PATCH', path: '' },
]

/** An action of a page that somebody may not do, and the permission that it is said to need. */
type Refused = { readonly page: PageName; readonly label: string; readonly permission: string }

type Listed = { readonly id: string; readonly role: string }

/** Pages of an organization; a record's page needs a record. */
const pages = (Object.keys(routes) as PageName[]).filter((name) => {
  const { needs } = routes[name]
  const isOfRecord = paths[name].replace(':organizationId', '').includes(':')
  return needs !== 'public' && name !== 'start' && !isOfRecord
})

export function roleSuite(dashboard: () => Dashboard): void {
  suite('every role', () => {
    let member: Opened
    let memberId = ''
    let organizationId = ''
    /** What each role was shown on each page: the actions by their labels, with the permissions that were said to lack. */
    const shown = new Map<string, ReadonlyMap<string, readonly string[]>>()

    before(async () => {
      const { owner, browser, service } = dashboard()
      organizationId = organizationOf(owner)
      const within = `/api/v1/organizations/${organizationId}`
      const projects = (await askApi(owner.page, 'GET', `${within}/projects?limit=200`)).body as {
        readonly data: readonly { readonly id: string }[]
      }
      const projectIds = projects.data.map(({ id }) => id)
      const subject = { kind: 'project', id: projectIds[0] }
      // A row of each kind, so that its menu can be looked into.
      await askApi(owner.page, 'PUT', `${within}/limits`, { subject, model: '*', inputTokensPerMinute: 1_000_000 })
      await askApi(owner.page, 'POST', `${within}/service-accounts`, { name: 'Nightly', projectId: projectIds[0] })
      await askApi(owner.page, 'PUT', `${within}/budgets`, { subject, period: 'month', tokensMax: 1_000_000_000 })
      const invited = await askApi(owner.page, 'POST', `${within}/invitations`, {
        email: 'cy@example.com',
        role: 'developer',
        projectIds,
      })
      member = await openDashboard(browser, service)
      await member.page.goto((invited.body as { readonly link: string }).link)
      await member.page.getByLabel('Your name').fill('Cy Diaz')
      await member.page.getByRole('button', { name: 'Create passkey and join' }).click()
      await member.page.getByRole('heading', { name: 'Home' }).waitFor()
      const session = (await askApi(member.page, 'GET', '/api/v1/session')).body as {
        readonly memberships: readonly { readonly memberId: string }[]
      }
      memberId = session.memberships[0]?.memberId ?? ''
    })
    after(() => member?.context.close())

    const giveRole = async (role: Role) => {
      const path = `/api/v1/organizations/${organizationId}/members/${memberId}`
      const { status, body } = await askApi(dashboard().owner.page, 'PATCH', path, { role })
      equal(status, 200, JSON.stringify(body))
      await member.page.reload()
      await member.page.getByRole('heading', { level: 1 }).waitFor()
    }

    for (const role of roles) {
      test(`sees as ${role} what the service lets it see, and is told why of the rest`, async () => {
        await giveRole(role)
        const may = reachesOf(role, 'organization')
        // A role in an organization counts nothing in the installation.
        const isAllowed = (name: PageName) => {
          const { needs } = routes[name]
          return needs === null || (!isOfInstallation(name) && may[needs] !== undefined)
        }
        const { page } = member
        const menu = await page
          .getByRole('navigation', { name: 'Pages' })
          .getByRole('link')
          .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''))
        const refused: string[] = []
        page.on('response', (response) => {
          if (response.status() === 403) refused.push(new URL(response.url()).pathname)
        })
        for (const name of pages) {
          const { needs, menu: row } = routes[name]
          const href = pagePath(name, { organizationId })
          if (row !== undefined) equal(menu.includes(href), isAllowed(name), `${name} in the menu`)
          await goTo(page, member.origin + href)
          const text = (await page.locator('main').textContent()) ?? ''
          if (isAllowed(name)) equal(text.includes(`You need ${needs}.`), false, name)
          else if (isOfInstallation(name))
            match(text, /You need \S+, which is for whoever runs the installation\./, name)
          else match(text, new RegExp(`You need ${needs}\\. Owners have it: `), name)
          if (isAllowed(name)) shown.set(`${role} ${name}`, await readActions(page))
        }
        deepEqual([...new Set(refused)], [], 'No page asks for what its reader may not read.')
        page.removeAllListeners('response')
      })

      test(`may do as ${role} what is not disabled, and nothing else`, async () => {
        const may = reachesOf(role, 'organization')
        const { page } = member
        for (const { page: name, button, permission, method, path } of actions) {
          const isAllowed = may[permission] !== undefined
          const { needs } = routes[name]
          const answer = await askApi(page, method, `/api/v1/organizations/${organizationId}${path}`, {})
          equal(answer.status === 403, !isAllowed, `${permission}: ${answer.status}`)
          if (needs !== null && may[needs] === undefined) continue
          await goTo(page, member.origin + pagePath(name, { organizationId }))
          await checkButton(page, button, isAllowed ? null : permission)
        }
      })
    }

    test('is refused an action by the page exactly where the service refuses it', () => {
      const refused = refusedOf(shown)
      ok(refused.length > 10, JSON.stringify(refused))
      for (const { page, label, permission } of refused) {
        ok(
          permittedRoutes.some((route) => route.permission === permission),
          `${label}: no route needs ${permission}.`,
        )
        for (const role of roles) {
          const lacking = shown.get(`${role} ${page}`)?.get(label)
          if (lacking === undefined) continue
          const isLacking = reachesOf(role, 'organization')[permission] === undefined
          equal(lacking.includes(permission), isLacking, `${label} on ${page} as ${role}`)
        }
      }
    })

    test('who may only look at a key may end it nowhere, and is told why', async () => {
      await giveRole('auditor')
      const { page } = member
      const path = `/api/v1/organizations/${organizationId}/api-keys?limit=1`
      const { data } = (await askApi(page, 'GET', path)).body as { readonly data: readonly { readonly id: string }[] }
      await goTo(page, member.origin + pagePath('key', { organizationId, apiKeyId: data[0]?.id ?? '' }))
      for (const [button, permission] of [
        ['Edit', 'api-keys:update'],
        ['Rotate', 'api-keys:rotate'],
        ['Disable', 'api-keys:disable'],
        ['Revoke', 'api-keys:revoke'],
      ] as const) {
        await checkButton(page, button, permission)
      }
    })

    test('a developer is offered nothing that changes the key of somebody else, and is told why', async () => {
      await giveRole('developer')
      const { page } = member
      const path = `/api/v1/organizations/${organizationId}/api-keys?limit=200`
      type Key = { readonly id: string; readonly lastFour: string; readonly ownerId: string | null }
      const { data } = (await askApi(page, 'GET', path)).body as { readonly data: readonly Key[] }
      const other = data.find(({ ownerId }) => ownerId !== null && ownerId !== memberId)
      ok(other !== undefined)
      await goTo(page, member.origin + pagePath('key', { organizationId, apiKeyId: other.id }))
      for (const name of ['Edit', 'Rotate', 'Disable', 'Revoke']) {
        const button = page.getByRole('main').getByRole('button', { name })
        await button.and(page.getByTitle('The key is not yours.')).waitFor()
        equal(await button.getAttribute('aria-disabled'), 'true', name)
      }
      await page.keyboard.press('e')
      equal(await page.getByRole('dialog').count(), 0)
      await goTo(page, member.origin + pagePath('keys', { organizationId }))
      const row = page.getByRole('row').filter({ hasText: `…${other.lastFour}` })
      await row.getByRole('button', { name: /^Actions for/ }).click()
      for (const name of ['Rotate…', 'Disable…', 'Revoke…']) {
        equal(await page.getByRole('menuitem', { name }).getAttribute('aria-disabled'), 'true', name)
      }
      await page.keyboard.press('Escape')
      await page.getByRole('menu').waitFor({ state: 'detached' })
    })

    test('who is made less of has the pages closed without loading anything anew', async () => {
      await giveRole('admin')
      const { page } = member
      await goTo(page, member.origin + pagePath('members', { organizationId }))
      await page.getByRole('row', { name: /Cy Diaz/ }).waitFor()
      const path = `/api/v1/organizations/${organizationId}/members/${memberId}`
      equal((await askApi(dashboard().owner.page, 'PATCH', path, { role: 'billing' })).status, 200)
      await page.getByText('You need members:read. Owners have it').waitFor()
    })

    test('who sees neither keys nor members is offered no sums by them, and shown none', async () => {
      await giveRole('billing')
      const { page } = member
      await goTo(page, member.origin + pagePath('usage', { organizationId }))
      const by = page.getByLabel('By', { exact: true }).locator('option')
      deepEqual(await by.allTextContents(), ['Model', 'Project', 'End user', 'Tag', 'Nothing'])
      equal(await page.getByLabel('Key', { exact: true }).count(), 0)
      await goTo(page, member.origin + pagePath('home', { organizationId }))
      equal(await page.getByText('Busiest keys today').count(), 0)
    })

    test('who runs the installation is offered what that lets them do beside their role in the organization', async () => {
      const { owner, service } = dashboard()
      const own = `/api/v1/organizations/${organizationId}/members?limit=200`
      const { data } = (await askApi(owner.page, 'GET', own)).body as { readonly data: readonly Listed[] }
      const ownerId = data.find(({ role }) => role === 'owner')?.id ?? ''
      const give = (id: string, role: Role) =>
        runCli({ home: service.home }, 'members', 'role', id, '--role', role, '--organization', organizationId)
      await give(memberId, 'owner')
      await give(ownerId, 'billing')
      const { page, origin } = owner
      const choicesOf = async (name: 'members' | 'keys', title: string, field: string) => {
        await page.goto(origin + pagePath(name, { organizationId }))
        await page.getByRole('button', { name: title }).first().click()
        const drawer = page.getByRole('dialog', { name: title })
        const last = name === 'keys' ? /^Cy Diaz$/ : /^Auditor$/
        await drawer.locator('option', { hasText: last }).waitFor({ state: 'attached' })
        return drawer.getByLabel(field, { exact: true }).locator('option').allTextContents()
      }
      const offered = await choicesOf('members', 'Invite', 'Role')
      const owners = await choicesOf('keys', 'Create key', 'Owner')
      await give(ownerId, 'owner')
      await give(memberId, 'billing')
      deepEqual(offered, ['Owner', 'Admin', 'Developer', 'Billing', 'Auditor'])
      deepEqual(owners.slice(0, 2), ['Me', 'Nobody (a program)'])
      ok(owners.includes('Cy Diaz'))
    })

    test('nothing broke the content policy, and no program failed', () => deepEqual(member.faults, []))
  })
}

function refusedOf(shown: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>): readonly Refused[] {
  const refused = new Map<string, Refused>()
  for (const [where, actions] of shown) {
    const page = where.split(' ')[1] as PageName
    for (const [label, permissions] of actions) {
      for (const permission of permissions) refused.set(`${page} ${label} ${permission}`, { page, label, permission })
    }
  }
  return [...refused.values()]
}

/** The buttons of a page and the entries of its first menu of a row, with the permissions that each says to lack. */
async function readActions(page: Page): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>()
  const read = async (selector: string, prefix: string) => {
    const all = await page.locator(selector).evaluateAll((elements) =>
      elements.map((element) => ({
        label: element.getAttribute('aria-label') ?? element.textContent ?? '',
        reason: element.getAttribute('title') ?? '',
      })),
    )
    for (const { label, reason } of all) {
      const permission = /^You need ([\w:-]+)\./.exec(reason)?.[1]
      const known = found.get(prefix + label) ?? []
      found.set(prefix + label, permission === undefined ? known : [...known, permission])
    }
  }
  await read('main button', '')
  const menu = page.locator('main td button[aria-haspopup="menu"]').first()
  if ((await menu.count()) === 0) return found
  await menu.click()
  await page.getByRole('menu').waitFor()
  await read('[role="menuitem"]', 'menu: ')
  await page.keyboard.press('Escape')
  await page.getByRole('menu').waitFor({ state: 'detached' })
  return found
}

/** Disabled with the permission that is lacking, or not disabled for the lack of one. */
async function checkButton(page: Page, name: string, lacking: string | null): Promise<void> {
  const button = page.getByRole('main').getByRole('button', { name }).first()
  await button.waitFor()
  const reason = (await button.getAttribute('title')) ?? ''
  if (lacking === null) return equal(reason.includes('You need'), false, name)
  equal(await button.getAttribute('aria-disabled'), 'true', name)
  match(reason, new RegExp(`^You need ${lacking}\\. Owners have it: .+`), name)
}
