// What people do with the dashboard, in a real browser against a real service: keys from their making to their end,
// questions in both wire formats, another member with less to see, a limit and a budget.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { askWith, baseOf, createKey } from './harness/ask.ts'
import { openDashboard } from './harness/open-dashboard.ts'
import { useDashboard } from './harness/use-dashboard.ts'
import { agentsSuite } from './suites/agents.ts'
import { availabilitySuite } from './suites/availability.ts'
import { breaksSuite } from './suites/forms/breaks.ts'
import { channelsSuite } from './suites/channels.ts'
import { documentsSuite } from './suites/documents.ts'
import { filtersSuite } from './suites/forms/filters.ts'
import { editsSuite } from './suites/forms/edits.ts'
import { installationSuite } from './suites/installation.ts'
import { longNamesSuite } from './suites/long-names.ts'
import { ownRolesSuite } from './suites/own-roles.ts'
import { playgroundSuite } from './suites/playground.ts'
import { portalSuite } from './suites/portal.ts'
import { recordingsSuite } from './suites/recordings.ts'
import { roleSuite } from './suites/roles.ts'
import { rulesSuite } from './suites/rules.ts'
import { secretsSuite } from './suites/secrets.ts'
import { serviceAccountsSuite } from './suites/service-accounts.ts'
import { signInSuite } from './suites/sign-in.ts'
import { unreadSuite } from './suites/states.ts'
import { sumsSuite } from './suites/sums.ts'
import { unsavedSuite } from './suites/forms/unsaved.ts'
import { wayBackSuite } from './suites/way-back.ts'
import { weightsStepSuite } from './suites/weights-step.ts'

const dashboard = useDashboard({ isSetUp: true })
const base = () => baseOf(dashboard())
const ask = (key: string) => askWith(dashboard().service.address, { key })

// First, since it knows every request that was ever made.
sumsSuite(dashboard)

suite('a key', () => {
  let key = ''
  test('is shown once, and works', async () => {
    key = await createKey(dashboard().owner.page, base(), 'ci')
    equal(await ask(key), 200)
  })

  test('a key whose requests were all refused is not called one that was never used', async () => {
    const { page } = dashboard().owner
    await createKey(page, base(), 'turned away')
    await page.getByRole('link', { name: 'turned away' }).click()
    await page.getByText('Never used.').waitFor()
    const one = /\/api-keys\/key_\w+$/
    await page.route(one, async (route) => {
      const response = await route.fetch()
      const apiKey = (await response.json()) as object
      await route.fulfill({ response, json: { ...apiKey, lastUsedAt: new Date().toISOString() } })
    })
    await page.reload()
    await page.getByText('It was used, and there is no answered request of it.').waitFor()
    await page.getByRole('link', { name: 'To the refusals' }).click()
    await page.getByRole('heading', { name: 'Refusals' }).waitFor()
    await page.unroute(one)
    await page.goto(`${base()}/keys`)
  })

  test('a disabled key is refused, and works again when it is enabled', async () => {
    const { page } = dashboard().owner
    for (const [verb, state, status] of [
      ['Disable', 'Disabled', 401],
      ['Enable', 'Active', 200],
    ] as const) {
      await page.getByRole('button', { name: 'Actions for ci' }).click()
      await page.getByRole('menuitem', { name: `${verb}…` }).click()
      await page.getByRole('button', { name: `${verb} key` }).click()
      await page.getByRole('row', { name: /^ci/ }).getByText(state).waitFor()
      equal((await ask(key)) === 200, status === 200, verb)
    }
  })

  test('is revoked only by who types its name, and is refused from then on', async () => {
    const { page } = dashboard().owner
    await page.getByRole('button', { name: 'Actions for ci' }).click()
    await page.getByRole('menuitem', { name: 'Revoke…' }).click()
    const revoke = page.getByRole('button', { name: 'Revoke key' })
    equal(await revoke.getAttribute('aria-disabled'), 'true')
    await page.getByLabel('Type ci to go on').fill('ci')
    await revoke.click()
    await page.getByText('1 ended hidden').waitFor()
    equal(await ask(key), 401)
  })

  test('several keys are disabled and revoked at once, by who types their number', async () => {
    const { page } = dashboard().owner
    const several = [await createKey(page, base(), 'several 1'), await createKey(page, base(), 'several 2')]
    await page.goto(`${base()}/keys?q=several`)
    await page.getByRole('row', { name: /several 2/ }).waitFor()
    await page.keyboard.press('x')
    for (const name of ['several 1', 'several 2']) await page.getByLabel(`Choose ${name}`).check()
    await page.getByRole('button', { name: 'Revoke…' }).click()
    await page.getByLabel('Type 2 to go on').fill('2')
    await page.getByRole('button', { name: 'Revoke 2 keys' }).click()
    await page.getByRole('main').getByText('No keys match these filters.').waitFor()
    deepEqual(await Promise.all(several.map(ask)), [401, 401])
  })

  test('several keys are all revoked where one of them is refused at first', async () => {
    const { page } = dashboard().owner
    const several: string[] = []
    for (const name of ['refused 1', 'refused 2', 'refused 3']) several.push(await createKey(page, base(), name))
    await page.goto(`${base()}/keys?q=refused`)
    await page.getByRole('row', { name: /refused 3/ }).waitFor()
    await page.keyboard.press('x')
    for (const box of await page.getByLabel(/^Choose refused/).all()) await box.check()
    let sent = 0
    await page.route('**/revoke', (route) => {
      sent += 1
      return sent === 2 ? route.abort('connectionrefused') : route.fallback()
    })
    await page.getByRole('button', { name: 'Revoke…' }).click()
    const question = page.getByRole('dialog', { name: 'Revoke 3 keys' })
    await question.getByLabel('Type 3 to go on').fill('3')
    await question.getByRole('button', { name: 'Revoke 3 keys' }).click()
    await question.getByText('1 of 3 done.').waitFor()
    // The list behind the question has no row any more for the key that is done with.
    await page.waitForFunction(() => document.querySelectorAll('tr[data-row]').length === 2)
    await question.getByRole('button', { name: 'Revoke 3 keys' }).click()
    await question.waitFor({ state: 'detached' })
    await page.unroute('**/revoke')
    deepEqual(await Promise.all(several.map(ask)), [401, 401, 401])
  })

  test('a key that the filter hides is shown by the address, also after a reload', async () => {
    const { page } = dashboard().owner
    await page.goto(`${base()}/keys?state=ended`)
    await page.getByRole('row', { name: /^ci/ }).getByText('Revoked').waitFor()
    await page.reload()
    await page.getByRole('row', { name: /^ci/ }).getByText('Revoked').waitFor()
    equal(await page.getByLabel('State').inputValue(), 'ended')
  })
})

secretsSuite(dashboard)

wayBackSuite(dashboard)

unsavedSuite(dashboard)

unreadSuite(dashboard)

playgroundSuite(dashboard)

breaksSuite(dashboard)

longNamesSuite(dashboard)

filtersSuite(dashboard)

suite('another member', () => {
  test('is invited as a developer, joins with a passkey of their own, and sees what a developer may', async () => {
    const { page } = dashboard().owner
    await page.goto(`${base()}/members`)
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('dialog').getByLabel('Email').fill('bo@example.com')
    await page.getByRole('dialog').getByRole('checkbox').first().check()
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
    const link = (await page.getByRole('region', { name: 'bo@example.com' }).textContent()) ?? ''
    const bo = await openDashboard(dashboard().browser, dashboard().service)
    await bo.page.goto(link)
    await bo.page.getByRole('heading', { name: 'Join Acme' }).waitFor()
    await bo.page.getByLabel('Your name').fill('Bo Chen')
    await bo.page.getByRole('button', { name: 'Create passkey and join' }).click()
    await bo.page.getByRole('heading', { name: 'Home' }).waitFor()
    const menu = await bo.page.getByRole('navigation', { name: 'Pages' }).textContent()
    match(menu ?? '', /API keys.*Usage.*Requests/)
    equal(/Members|Audit|Management|Models and engines/.test(menu ?? ''), false, menu ?? '')
    await bo.page.goto(`${base()}/audit`)
    await bo.page.getByText('You need audit:read. Owners have it: Ann Lee.').waitFor()
    deepEqual(bo.faults, [])
    await bo.context.close()
  })

  test('is mailed the link where the operator has a relay, and the page says what the relay has said', async () => {
    const { page } = dashboard().owner
    const asked: string[] = []
    await page.route('**/api/v1/session', async (route) => {
      const response = await route.fetch()
      const session = (await response.json()) as { readonly features?: object }
      await route.fulfill({ response, json: { ...session, features: { ...session.features, mail: true } } })
    })
    await page.route('**/invitations/*/mail', async (route) => {
      asked.push(route.request().postData() ?? '')
      const refusal = {
        type: 'urn:odyssey:problem:overloaded',
        title: 'Overloaded',
        status: 503,
        detail: 'Relay away.',
      }
      if (asked.length === 1) await route.fulfill({ status: 503, json: refusal })
      else await route.fulfill({ status: 201, json: { mailedTo: 'cy@example.com' } })
    })
    await page.goto(`${base()}/members`)
    await page.getByRole('button', { name: 'Invite' }).click()
    const drawer = page.getByRole('dialog', { name: 'Invite' })
    await drawer.getByLabel('Email').fill('cy@example.com')
    await drawer.getByRole('button', { name: 'Invite' }).click()
    const link = (await drawer.getByRole('region', { name: 'cy@example.com' }).textContent()) ?? ''
    await drawer.getByRole('button', { name: 'Mail it to cy@example.com' }).click()
    await drawer.getByText('Relay away.').waitFor()
    await drawer.getByRole('button', { name: 'Mail it to cy@example.com' }).click()
    await drawer.getByText('Mailed to cy@example.com.').waitFor()
    for (const body of asked) ok(link.includes(`#${(JSON.parse(body) as { readonly token: string }).token}`), body)
    await page.unrouteAll({ behavior: 'wait' })
    dashboard().owner.faults.length = 0
  })
})

rulesSuite(dashboard, 'bo@example.com')

editsSuite(dashboard)

roleSuite(dashboard)

ownRolesSuite(dashboard)

serviceAccountsSuite(dashboard)

agentsSuite(dashboard)

recordingsSuite(dashboard)

suite('without a pointer', () => {
  test('a key is made by the keyboard alone', async () => {
    const { page } = dashboard().owner
    await page.goto(`${base()}/keys`)
    await page.getByRole('row', { name: /sums/ }).first().waitFor()
    await page.keyboard.press('c')
    const drawer = page.getByRole('dialog', { name: 'Create key' })
    await drawer.locator('input:focus').waitFor()
    await page.keyboard.type('by hand')
    await drawer.getByRole('button', { name: 'Create key', disabled: false }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: '“by hand” is ready' }).waitFor()
    // Nothing but its own button closes what is shown once.
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Done' }).press('Enter')
    await page.getByRole('alert').getByText('The key was not copied').waitFor()
    await page.getByRole('button', { name: 'Close without a copy' }).press('Enter')
    await page.getByRole('row', { name: /^by hand/ }).waitFor()
  })

  test('a filter that is typed keeps the focus when Enter applies it, and follows the address', async () => {
    const { page } = dashboard().owner
    await page.goto(`${base()}/usage`)
    const field = page.getByLabel('End user')
    await field.fill('nobody')
    await field.press('Enter')
    await page.waitForURL(/user=nobody/)
    ok(await field.evaluate((element) => element === document.activeElement))
    await page.getByRole('link', { name: 'Usage and cost' }).first().click()
    await page.waitForURL(({ search }) => search === '')
    equal(await field.inputValue(), '')
  })

  test('brackets lead to the next record of the list, and keep its filter', async () => {
    const { page } = dashboard().owner
    await page.goto(`${base()}/keys?sort=name&down=0`)
    const links = page.locator('tr[data-row] th a')
    await links.nth(1).waitFor()
    const [first = '', second = ''] = await links.allTextContents()
    ok(first !== '' && second !== '')
    await links.first().click()
    await page.getByRole('heading', { level: 1, name: first, exact: true }).waitFor()
    await page.keyboard.press(']')
    await page.getByRole('heading', { level: 1, name: second, exact: true }).waitFor()
    await page.waitForURL(({ search }) => search === '?sort=name&down=0')
    await page.keyboard.press('[')
    await page.getByRole('heading', { level: 1, name: first, exact: true }).waitFor()
    const filter = '?range=all&outcome=finished'
    await page.goto(`${base()}/requests${filter}`)
    const requests = page.locator('tr[data-row] th a')
    await requests.nth(1).waitFor()
    const [one, next] = await requests.evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).pathname))
    await requests.first().click()
    await page.waitForURL(({ pathname, search }) => pathname === one && search === filter)
    await page.getByRole('button', { name: 'Next request ]' }).click()
    await page.waitForURL(({ pathname, search }) => pathname === next && search === filter)
  })

  test('the palette finds a page by a few letters, and the letters of a prefix lead to another', async () => {
    const { page } = dashboard().owner
    const palette = page.getByRole('dialog', { name: 'Find' })
    await page.keyboard.press('Control+k')
    await palette.getByRole('combobox').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('budg')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Budgets' }).waitFor()
    // Letters are for the page again when the palette has gone.
    await palette.waitFor({ state: 'detached' })
    await page.keyboard.press('g')
    await page.keyboard.press('u')
    await page.getByRole('heading', { name: 'Usage and cost' }).waitFor()
  })
})

suite('the palette', () => {
  test('finds a key and a member by a part of their names, and leads to them', async () => {
    const { page } = dashboard().owner
    for (const [letters, option, heading] of [
      ['by ha', /^by hand Key …/, 'by hand'],
      ['ann@', /^Ann Lee ann@example.com$/, 'Ann Lee'],
    ] as const) {
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'Find' }).getByRole('combobox').fill(letters)
      await page.getByRole('option', { name: option }).click()
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    }
  })
})

suite('the palette, faster than the service', () => {
  test('leads to nothing that was found for other letters, and begins at the top each time', async () => {
    const { page } = dashboard().owner
    await createKey(page, base(), 'found before')
    const palette = page.getByRole('dialog', { name: 'Find' })
    await page.keyboard.press('Control+k')
    await palette.getByRole('combobox').fill('found')
    await page.getByRole('option', { name: /^found before/ }).waitFor()
    // Never answered.
    await page.route('**/search?q=*', () => {})
    await palette.getByRole('combobox').fill('xyz')
    await palette.getByText('Nothing is called so.').waitFor()
    equal(await page.getByRole('option', { name: /^found before/ }).count(), 0)
    await page.unroute('**/search?q=*')
    await palette.getByRole('combobox').fill('')
    await palette.getByRole('option', { name: /^Home/ }).waitFor()
    for (const _ of [1, 2, 3]) await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await palette.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    // A dialog that has not taken the focus yet does not hear Escape either.
    await palette.locator('[role="combobox"]:focus').waitFor()
    equal(await palette.getByRole('option').first().getAttribute('aria-selected'), 'true')
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
  })
})

suite('the API calls of a page', () => {
  test('are the requests that it is made of, as commands for a program', async () => {
    const { page } = dashboard().owner
    await page.goto(`${base()}/keys?sort=name`)
    await page.getByRole('row', { name: /sums/ }).first().waitFor()
    await page.getByRole('banner').getByRole('button', { name: 'Account' }).click()
    await page.getByRole('menuitem', { name: 'API calls of this page' }).click()
    const call = page.getByRole('region', { name: /^GET .*\/api-keys$/ }).first()
    match((await call.textContent()) ?? '', /^curl 'http:.*\/api-keys\?limit=200' .*\$ODYSSEY_MANAGEMENT_KEY"$/s)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })
})

suite('requests, live', () => {
  test('stand still while somebody points at one, say how many are new, and go on then', async () => {
    const { page } = dashboard().owner
    const key = await createKey(page, base(), 'live')
    // This hour may just have begun.
    equal(await ask(key), 200)
    await page.goto(`${base()}/requests?live=on&range=hour`)
    const first = page.locator('tr[data-row] a').first()
    const before = await first.getAttribute('href')
    // What stands above the rows moves them when it comes.
    await page.getByRole('heading', { name: 'Requests by hour' }).waitFor()
    await first.hover()
    equal(await ask(key), 200)
    await page.getByRole('button', { name: '1 new' }).waitFor()
    equal(await first.getAttribute('href'), before)
    await page.mouse.move(2, 2)
    await page.waitForFunction(
      (href) => document.querySelector('tr[data-row] a')?.getAttribute('href') !== href,
      before,
    )
  })
})

suite('requests, as they are settled', () => {
  test('are counted by the hour also where the sums of usage do not know the filter', async () => {
    const { page } = dashboard().owner
    await page.goto(`${base()}/requests?range=today&format=messages`)
    // Until it is known a dash stands there.
    const figure = page.locator('dl[aria-label="These requests"] dd', { hasText: /\d/ }).first()
    const shown = Number(await figure.textContent())
    await page.getByRole('heading', { name: /^Requests by hour/ }).waitFor()
    equal(await page.locator('tr[data-row]').count(), shown)
    ok(shown > 0)
  })

  test('keep a long name to two lines, and tell all of it to who points at it', async () => {
    const { page } = dashboard().owner
    const name = 'Answers tickets of the evening shift '.repeat(3).trim()
    equal(await ask(await createKey(page, base(), name)), 200)
    await page.goto(`${base()}/requests?range=today`)
    const shown = page.locator('tr[data-row] bdi', { hasText: name }).first()
    equal(await shown.getAttribute('title'), name)
    const lines = await shown.evaluate((bdi) => bdi.clientHeight / Number.parseFloat(getComputedStyle(bdi).lineHeight))
    equal(Math.round(lines), 2)
  })

  test('come as rows of a stream, and the list is not read again for each', async () => {
    const { page } = dashboard().owner
    const key = await createKey(page, base(), 'tail')
    equal(await ask(key), 200)
    const ledger = /\/organizations\/[^/]+\/ledger$/
    const read: string[] = []
    const note = (request: { url(): string }) => {
      const { pathname } = new URL(request.url())
      if (ledger.test(pathname)) read.push(pathname)
    }
    const tail = page.waitForResponse((response) => new URL(response.url()).pathname.endsWith('/requests/tail'))
    page.on('request', note)
    await page.goto(`${base()}/requests?live=on&range=hour`)
    equal((await tail).status(), 200)
    const first = page.locator('tr[data-row] a').first()
    for (let count = 0; count < 5; count += 1) {
      const before = await first.getAttribute('href')
      equal(await ask(key), 200)
      await page.waitForFunction(
        (href) => document.querySelector('tr[data-row] a')?.getAttribute('href') !== href,
        before,
      )
    }
    page.off('request', note)
    // Before the stream, with it, and once it has begun.
    ok(read.length <= 3, `${read.length} readings`)
    const shown = await page
      .locator('tr[data-row] a')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href')))
    equal(new Set(shown).size, shown.length, 'No request is there twice.')
  })
})

portalSuite(dashboard)

suite('what holds requests back', () => {
  test('a limit is set, and stands in the table', async () => {
    const { page } = dashboard().owner
    await page.goto(`${base()}/limits`)
    await page.getByRole('button', { name: 'Set limit' }).first().click()
    await page.getByLabel('Input tokens a minute').fill('400000')
    await page.getByRole('dialog').getByRole('button', { name: 'Set limit' }).click()
    await page.getByRole('row', { name: /Acme.*400,000/ }).waitFor()
  })

  test('a budget of money names the models that it does not bound, since they have no price', async () => {
    const { page } = dashboard().owner
    // What has a price here is other tests' doing.
    await page.route('**/api/v1/prices?*', (route) => route.fulfill({ json: { data: [], next: null } }))
    await page.goto(`${base()}/budgets`)
    await page.getByRole('button', { name: 'Set budget' }).first().click()
    const warning = page.getByRole('dialog').getByText(/^No price: .*hal-1\.0/)
    await page.getByLabel('Amount, USD').fill('5')
    await warning.waitFor()
    await page.getByLabel('Amount, USD').fill('')
    await page.getByLabel('Tokens').fill('1')
    await warning.waitFor({ state: 'detached' })
    await page.unroute('**/api/v1/prices?*')
  })

  test('a budget that is spent stops requests, and says so', async () => {
    const { page } = dashboard().owner
    const key = await createKey(page, base(), 'spender')
    await page.goto(`${base()}/budgets`)
    await page.getByRole('button', { name: 'Set budget' }).first().click()
    await page.getByLabel('Tokens').fill('1')
    await page.getByRole('dialog').getByRole('button', { name: 'Set budget' }).click()
    await page
      .getByRole('row', { name: /Acme.*month/ })
      .getByText('Stopped')
      .waitFor()
    equal(await ask(key), 429)
  })

  test('a budget says what was spent in the periods before, by the same sums', async () => {
    const { page } = dashboard().owner
    const row = page.getByRole('row', { name: /Acme.*month/ })
    const spent = (await row.locator('td[data-label="Spent"]').textContent()) ?? ''
    await page.getByRole('button', { name: 'Actions for the budget of Acme' }).click()
    await page.getByRole('menuitem', { name: 'Periods before…' }).click()
    const table = page.getByRole('table', { name: 'Spent in each month, newest first' })
    await table.locator('tr[data-row]').nth(11).waitFor()
    equal(await table.locator('tr[data-row]').count(), 12)
    equal(`${await table.locator('td[data-label="Tokens"]').first().textContent()} tokens`, spent)
    await page.keyboard.press('Escape')
    await table.waitFor({ state: 'detached' })
  })
})

channelsSuite(dashboard)
signInSuite(dashboard)
availabilitySuite(dashboard)

// Last, since they lead away from the pages of the organization.
installationSuite(dashboard)
weightsStepSuite(dashboard)
documentsSuite(dashboard)

test('nothing broke the content policy, and no program failed', () => deepEqual(dashboard().owner.faults, []))
