// What people come to the dashboard for, without a pointer and with the page's single keys switched off. Each stop of the
// focus on the way is looked at: it has to be seen.

import { deepEqual, equal, match } from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { askWith } from '../harness/ask.ts'
import { chooseFrom, findPage, press, tabTo, typeInto } from '../harness/keyboard.ts'
import { openDashboard } from '../harness/open-dashboard.ts'
import { useDashboard } from '../harness/use-dashboard.ts'
import { restByKeyboardSuite } from './rest-by-keyboard.ts'
import { runCli } from '../../harness/run-cli.ts'
import { until } from '../../harness/start-service.ts'

const dashboard = useDashboard({ isSetUp: false })
const button = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name }).first()
const row = (page: Page, name: RegExp) => page.getByRole('row', { name })
let key = ''

suite('by the keyboard alone', () => {
  let page: Page
  before(() => ({ page } = dashboard().owner))

  test('a service is set up, its first key is tried, and its request is explained', async () => {
    const printed = await runCli(dashboard().service, 'owners', 'link', '--json')
    await page.goto((JSON.parse(printed) as { readonly link: string }).link)
    await typeInto(page, page.getByLabel('Your name'), 'Ann Lee')
    await typeInto(page, page.getByLabel('Email'), 'ann@example.com')
    await typeInto(page, page.getByLabel('Organization'), 'Acme')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Quickstart' }).waitFor()
    const shown = page.getByRole('region', { name: 'Key', exact: true })
    key = ((await shown.textContent()) ?? '').trim()
    await press(page, button(page, 'Test it'))
    await page.getByText(/200 · .* to the first token/).waitFor()
    await press(page, page.getByRole('link', { name: 'Open request' }))
    await page.getByText('Where the time went').waitFor()
  })

  test('single keys are switched off, and do nothing from then on', async () => {
    await press(page, button(page, 'Keys'))
    await press(page, button(page, 'Switch single letters off'))
    await button(page, 'Switch single letters on').waitFor()
    await page.keyboard.press('Escape')
    await findPage(page, 'API keys')
    await page.keyboard.press('c')
    await page.keyboard.press('g')
    await page.keyboard.press('u')
    equal(await page.getByRole('dialog').count(), 0)
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
  })

  test('a key is made, rotated, disabled, enabled and revoked', async () => {
    await press(page, button(page, 'Create key'))
    const drawer = page.getByRole('dialog', { name: 'Create key' })
    // Sent before it is complete, the form leads to what says why it is not.
    await tabTo(page, drawer.getByLabel('Name'))
    await page.keyboard.press('Enter')
    const create = drawer.getByRole('button', { name: 'Create key', disabled: true })
    equal(await create.evaluate((element) => element === document.activeElement), true)
    match((await create.getAttribute('title')) ?? '', /name/i)
    await typeInto(page, drawer.getByLabel('Name'), 'by hand')
    await page.keyboard.press('Enter')
    const close = async () => {
      await press(page, button(page, 'Done'))
      await press(page, button(page, 'Close without a copy'))
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await page.getByRole('dialog', { name: '“by hand” is ready' }).waitFor()
    await close()
    const actions = button(page, 'Actions for by hand')
    for (const [verb, state] of [
      ['Disable', 'Disabled'],
      ['Enable', 'Active'],
    ] as const) {
      await chooseFrom(page, actions, `${verb}…`)
      await press(page, button(page, `${verb} key`))
      await row(page, /^by hand/)
        .getByText(state)
        .waitFor()
    }
    await chooseFrom(page, actions, 'Rotate…')
    await tabTo(page, page.getByLabel('The old key works on for'))
    await page.keyboard.press('Home')
    await press(page, button(page, 'Rotate key'))
    await page.getByRole('dialog', { name: '“by hand” is ready' }).waitFor()
    await close()
    await chooseFrom(page, button(page, 'Actions for by hand'), 'Revoke…')
    await typeInto(page, page.getByLabel('Type by hand to go on'), 'by hand')
    await page.keyboard.press('Enter')
    await row(page, /^by hand/).waitFor({ state: 'detached' })
  })

  test('a question is asked in the playground, and two models are compared', async () => {
    await findPage(page, 'Playground')
    await typeInto(page, page.getByLabel('Message', { exact: true }), 'Say something.')
    await page.keyboard.press('Control+Enter')
    await page.getByText(/\d+ in.* · \d+ out/).waitFor()
    await tabTo(page, page.getByLabel('Compare two models'), 'Shift+Tab')
    await page.keyboard.press('Space')
    await typeInto(page, page.getByLabel('Message', { exact: true }), 'Say something else.')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('table', { name: 'Both answers, the better figure marked' }).waitFor()
  })

  test('usage is filtered, and the file of it is saved', async () => {
    await findPage(page, 'Usage and cost')
    await tabTo(page, page.getByLabel('Model', { exact: true }))
    await page.keyboard.type('clarke')
    await page.waitForURL(/model=clarke-1\.0/)
    const saved = page.waitForEvent('download')
    await chooseFrom(page, button(page, 'Export'), 'CSV')
    match((await saved).suggestedFilename(), /_model-clarke-1\.0\.csv$/)
  })

  test('a request is found by its id, and the next one by its brackets', async () => {
    // The list that the first request was opened beside has it alone. It is read anew once the page was told of others.
    await until(async () => {
      await findPage(page, 'Home')
      await findPage(page, 'Requests')
      return (await page.locator('tr[data-row]').count()) > 1
    }, 'The list has one request alone.')
    const link = page.locator('tr[data-row] a').first()
    const id = (await link.getAttribute('href'))?.split('/').at(-1)?.split('?')[0] ?? ''
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Find' }).getByRole('combobox').and(page.locator(':focus')).waitFor()
    await page.keyboard.type(id)
    await page.getByRole('option', { name: `Open ${id}` }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('Where the time went').waitFor()
    await findPage(page, 'Requests')
    await press(page, link)
    await page.waitForURL(({ pathname }) => pathname.endsWith(id))
    await press(page, button(page, /^Next request/))
    await page.waitForURL(({ pathname }) => /\/requests\/req_/.test(pathname) && !pathname.endsWith(id))
  })

  test('a limit is set, stands as what binds, and is removed', async () => {
    await findPage(page, 'Limits')
    await press(page, button(page, 'Set limit'))
    const drawer = page.getByRole('dialog')
    await typeInto(page, drawer.getByLabel('Input tokens a minute'), '400000')
    await page.keyboard.press('Enter')
    await row(page, /Acme.*400,000/).waitFor()
    await chooseFrom(
      page,
      page
        .getByRole('table')
        .getByRole('button', { name: /^Actions for/ })
        .first(),
      'Remove…',
    )
    await press(page, page.getByRole('dialog').getByRole('button', { name: /^Remove/ }))
    await row(page, /Acme.*400,000/).waitFor({ state: 'detached' })
  })

  test('a budget that stops requests is set, is raised, and lets them go on', async () => {
    const { service } = dashboard()
    await findPage(page, 'Budgets')
    await press(page, button(page, 'Set budget'))
    await typeInto(page, page.getByRole('dialog').getByLabel('Tokens'), '1')
    await page.keyboard.press('Enter')
    await row(page, /Acme/).getByText('Stopped').waitFor()
    equal(await askWith(service.address, { key }), 429)
    await chooseFrom(page, button(page, 'Actions for the budget of Acme'), 'Raise for a time…')
    await typeInto(page, page.getByRole('dialog').getByLabel('New number of tokens'), '1000000')
    await page.keyboard.press('Enter')
    await row(page, /Acme/).getByText('Fine').waitFor()
    await until(
      async () => (await askWith(service.address, { key })) === 200,
      'The budget stops requests all the same.',
    )
  })

  test('a price is worked out, announced and withdrawn', async () => {
    await findPage(page, 'All prices')
    await press(page, button(page, 'Set price'))
    const drawer = page.getByRole('dialog', { name: 'Set price' })
    for (const name of ['Input', 'Cache read', 'Cache write, 5 min', 'Cache write, 1 h', 'Output']) {
      await typeInto(page, drawer.getByLabel(`${name}, `), '10')
    }
    await press(page, drawer.getByRole('button', { name: 'What would it have cost?' }))
    await drawer.getByText(/requests since .* would have cost/).waitFor()
    await tabTo(page, drawer.getByLabel('From, in your time zone'))
    for (const part of ['01', '01', '2099']) await page.keyboard.type(part)
    await page.keyboard.press('Tab')
    for (const part of ['10', '00', 'AM']) await page.keyboard.type(part)
    await press(page, drawer.getByRole('button', { name: 'Set price' }))
    await row(page, /clarke-1\.0.*Announced/).waitFor()
    await press(page, button(page, 'Withdraw…'))
    await press(page, button(page, 'Withdraw price'))
    await row(page, /clarke-1\.0.*Announced/).waitFor({ state: 'detached' })
  })

  test('somebody is invited, joins, and is removed again', async () => {
    await findPage(page, 'Members')
    await press(page, button(page, 'Invite'))
    const drawer = page.getByRole('dialog', { name: 'Invite' })
    await typeInto(page, drawer.getByLabel('Email'), 'bo@example.com')
    await page.keyboard.press('Enter')
    const link = (await drawer.getByRole('region', { name: 'bo@example.com' }).textContent()) ?? ''
    await press(page, drawer.getByRole('button', { name: 'Done' }))
    const bo = await openDashboard(dashboard().browser, dashboard().service)
    await bo.page.goto(link)
    await typeInto(bo.page, bo.page.getByLabel('Your name'), 'Bo Chen')
    await bo.page.keyboard.press('Enter')
    await bo.page.getByRole('heading', { name: 'Home' }).waitFor()
    await findPage(page, 'Home')
    await findPage(page, 'Members')
    await chooseFrom(page, button(page, 'Actions for Bo Chen'), 'Remove…')
    await typeInto(page, page.getByLabel('Type Bo Chen to go on'), 'Bo Chen')
    await page.keyboard.press('Enter')
    await row(page, /Bo Chen/).waitFor({ state: 'detached' })
    await bo.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    deepEqual(bo.faults, [])
    await bo.context.close()
  })

  test('a role is made of what is chosen, and removed', async () => {
    await findPage(page, 'Roles')
    // Until it is known what there is to permit, the button only says so.
    await page.getByRole('button', { name: 'Create role', disabled: false }).first().waitFor()
    await press(page, button(page, 'Create role'))
    const drawer = page.getByRole('dialog', { name: 'Create role' })
    await typeInto(page, drawer.getByLabel('Name', { exact: true }), 'Support')
    await tabTo(page, drawer.getByRole('checkbox', { name: 'Read the audit log' }))
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    await row(page, /^Support admin 1 of/).waitFor()
    await chooseFrom(page, button(page, 'Actions for Support'), 'Remove…')
    await press(page, button(page, 'Remove role'))
    await page.getByText('No roles of your own yet.').waitFor()
  })

  test('an account of a program is made, gets a key, and is disabled', async () => {
    await findPage(page, 'Service accounts')
    await press(page, button(page, 'Create service account'))
    const drawer = page.getByRole('dialog', { name: 'Create service account' })
    await typeInto(page, drawer.getByLabel('Name'), 'Search')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor()
    await press(page, button(page, 'Create key'))
    await typeInto(page, page.getByRole('dialog', { name: 'Create key of “Search”' }).getByLabel('Name'), 'nightly')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: '“nightly” is ready' }).waitFor()
    await press(page, button(page, 'Done'))
    await press(page, button(page, 'Close without a copy'))
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await chooseFrom(page, button(page, 'Change Search'), 'Disable…')
    await press(page, button(page, 'Disable service account'))
    await row(page, /^nightly/)
      .getByText('Disabled')
      .waitFor()
  })

  test('the audit log is verified, and what a row has changed is opened', async () => {
    await findPage(page, 'Audit log')
    await press(page, button(page, 'Verify'))
    await page
      .getByRole('main')
      .getByText(/\d+ rows, intact\./)
      .waitFor()
    await press(page, button(row(page, /api-keys:create/).first(), /./))
    const entry = page.getByRole('dialog')
    await entry.getByRole('row', { name: /name.*nightly/ }).waitFor()
    await page.keyboard.press('Escape')
    await entry.waitFor({ state: 'detached' })
  })

  test('who holds a key looks at it in the portal, and leaves', async () => {
    const holder = await openDashboard(dashboard().browser, dashboard().service)
    await holder.page.goto(`${holder.origin}/portal`)
    await typeInto(holder.page, holder.page.getByLabel('API key'), key)
    await holder.page.keyboard.press('Enter')
    await holder.page.getByRole('table', { name: 'Last requests' }).waitFor()
    await press(holder.page, button(holder.page, 'Leave'))
    await holder.page.getByLabel('API key').waitFor()
    deepEqual(holder.faults, [])
    await holder.context.close()
  })

  test('a session that ends over a form is begun anew there, and nothing that was typed is lost', async () => {
    const { context } = dashboard().owner
    await findPage(page, 'API keys')
    await press(page, button(page, 'Create key'))
    await typeInto(page, page.getByRole('dialog', { name: 'Create key' }).getByLabel('Name'), 'typed before')
    await context.clearCookies()
    await page.keyboard.press('Enter')
    const again = page.getByRole('dialog', { name: 'Sign in again' })
    await press(page, again.getByRole('button', { name: 'Sign in with a passkey' }))
    await page.getByRole('dialog', { name: '“typed before” is ready' }).waitFor()
    await press(page, button(page, 'Done'))
    await press(page, button(page, 'Close without a copy'))
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  test('somebody gives themselves a password, and signs out and in with it, and then with a passkey', async () => {
    await findPage(page, 'Account')
    await press(page, button(page, 'Set password'))
    await typeInto(page, page.getByLabel('New password'), 'correct horse battery')
    await page.keyboard.press('Enter')
    await button(page, 'Change password').waitFor()
    await chooseFrom(page, page.getByRole('banner').getByRole('button', { name: 'Account' }), 'Sign out')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await typeInto(page, page.getByLabel('Email'), 'ann@example.com')
    await typeInto(page, page.getByLabel('Password'), 'correct horse battery')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
    await chooseFrom(page, page.getByRole('banner').getByRole('button', { name: 'Account' }), 'Sign out')
    await press(page, button(page, 'Sign in with a passkey'))
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  })
})

restByKeyboardSuite(dashboard)

test('nothing broke the content policy, and no program failed', () => deepEqual(dashboard().owner.faults, []))
