// The rest of what people come for, without a pointer: rooms and keys of an organization, what the installation has, tools
// in the playground, and signing in with a code.

import { match, ok } from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { totpCode } from '../../../src/accounts/sign-in/totp.ts'
import { madeGguf } from '../../harness/engines/made-gguf.ts'
import { sendFile, startWeightsHub, type WeightsHub } from '../../harness/engines/weights-hub.ts'
import { until } from '../../harness/start-service.ts'
import { askApi } from '../harness/ask.ts'
import { chooseFrom, findPage, press, tabTo, typeInto } from '../harness/keyboard.ts'
import { organizationOf } from '../harness/open-dashboard.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

const button = (within: Page | Locator, name: string | RegExp) => within.getByRole('button', { name }).first()
const row = (page: Page, name: RegExp) => page.getByRole('row', { name })
const totpStepMs = 30_000
const stepNow = () => Math.floor(Date.now() / totpStepMs)

export function restByKeyboardSuite(dashboard: () => Dashboard): void {
  suite('in an organization, by the keyboard alone', () => {
    let page: Page
    before(() => ({ page } = dashboard().owner))

    test('what was refused stands on its page by its reason, which leads to what it means', async () => {
      // A budget that was spent has refused a request before.
      await findPage(page, 'Refusals')
      await page.getByRole('heading', { name: 'Refused requests by hour' }).waitFor()
      await press(page, row(page, /^Budget exceeded/).getByRole('link'))
      await page.getByRole('heading', { name: /budget-exceeded/ }).waitFor()
      await page.goBack()
      await row(page, /^Budget exceeded/).waitFor()
    })

    test('a project is made, archived and restored', async () => {
      await findPage(page, 'Projects')
      await press(page, button(page, 'Create project'))
      await typeInto(page, page.getByRole('dialog', { name: 'Create project' }).getByLabel('Name'), 'Nightly')
      await page.keyboard.press('Enter')
      for (const [verb, state] of [
        ['Archive', 'Archived'],
        ['Restore', 'Active'],
      ] as const) {
        await chooseFrom(page, button(page, 'Actions for Nightly'), `${verb}…`)
        await press(page, button(page, `${verb} project`))
        await row(page, /^Nightly/)
          .getByText(state)
          .waitFor()
      }
    })

    test('a management key is made, shown once and revoked', async () => {
      await findPage(page, 'Management keys')
      await press(page, button(page, 'Create'))
      const drawer = page.getByRole('dialog', { name: 'Create management key' })
      await typeInto(page, drawer.getByLabel('Name'), 'terraform')
      await page.keyboard.press('Enter')
      const shown = page.getByRole('dialog', { name: 'The management key is ready' })
      match((await shown.getByRole('region', { name: 'Management key' }).textContent()) ?? '', /sk-odym-/)
      await press(page, button(shown, 'Done'))
      await press(page, button(row(page, /^terraform/), 'Revoke…'))
      await typeInto(page, page.getByLabel('Type terraform to go on'), 'terraform')
      await page.keyboard.press('Enter')
      await row(page, /^terraform/)
        .getByText('Revoked')
        .waitFor()
    })

    test('a channel for alerts is added, tried and removed', async () => {
      await findPage(page, 'Alerts')
      await press(page, button(page, 'Add channel'))
      const drawer = page.getByRole('dialog', { name: 'Add channel' })
      await tabTo(page, drawer.getByLabel('Goes to'))
      await page.keyboard.type('The log')
      await typeInto(page, drawer.getByLabel('Name'), 'Our log')
      await page.keyboard.press('Enter')
      await chooseFrom(page, button(page, 'Actions for Our log'), 'Send a test')
      await row(page, /^Our log.*Arrives/).waitFor()
      await chooseFrom(page, button(page, 'Actions for Our log'), 'Remove…')
      await press(page, button(page, 'Remove channel'))
      await row(page, /^Our log/).waitFor({ state: 'detached' })
    })

    test('it is said who is asked for higher limits', async () => {
      await findPage(page, 'Settings')
      await typeInto(page, page.getByLabel('Who is asked for higher limits'), 'ann@example.com')
      await press(page, button(page, 'Save rules'))
      const path = `/api/v1/organizations/${organizationOf(dashboard().owner)}/settings`
      await until(async () => {
        const { body } = await askApi(page, 'GET', path)
        return (body as { readonly contact: string | null }).contact === 'ann@example.com'
      }, 'The contact is not kept.')
    })

    test('a directory is added, and its token is shown once', async () => {
      await findPage(page, 'Sign-in and directory')
      await press(page, button(page, 'Add directory'))
      await typeInto(page, page.getByRole('dialog', { name: 'Add a directory' }).getByLabel('Name'), 'Entra')
      await page.keyboard.press('Enter')
      const shown = page.getByRole('dialog', { name: 'Tell the directory' })
      match((await shown.getByRole('region', { name: 'Token' }).textContent()) ?? '', /sk-odyd-/)
      await press(page, button(shown, 'Done'))
      await button(page, 'Open Entra').waitFor()
    })

    for (const format of ['Messages', 'Chat completions']) {
      test(`a tool that a model calls by ${format} is given its result, and the model goes on`, async () => {
        await findPage(page, 'Home')
        await findPage(page, 'Playground')
        await press(page, button(page, format))
        await typeInto(page, page.getByLabel('Output tokens at most'), '200')
        await press(page, page.getByText('More', { exact: true }))
        await tabTo(page, page.getByLabel('Calls of tools'))
        await page.keyboard.type('One at least')
        await press(page, page.getByText('Tools and JSON', { exact: true }))
        const parameters = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }
        const tools = JSON.stringify([{ name: 'look_up', description: 'Looks it up', parameters }])
        await typeInto(page, page.getByLabel('Tools', { exact: true }), tools)
        await typeInto(page, page.getByLabel('Message', { exact: true }), 'Look it up.')
        await page.keyboard.press('Control+Enter')
        await typeInto(page, page.getByLabel('Result of look_up').first(), 'forty-two')
        const answered = page.waitForResponse(/\/playground\/(?:messages|chat-completions)$/)
        await press(page, button(page, /^Send results?$/))
        ok((await answered).request().postData()?.includes('forty-two'))
        await page.getByText(/\d+ in.* · \d+ out/).waitFor()
      })
    }
  })

  suite('in the installation, by the keyboard alone', () => {
    let page: Page
    let hub: WeightsHub
    before(async () => {
      ;({ page } = dashboard().owner)
      hub = await startWeightsHub((request, response) =>
        sendFile(request, response, { content: madeGguf(), etag: '"1"' }),
      )
    })
    after(() => hub.close())

    test('weights are fetched, and deleted again', async () => {
      await findPage(page, 'Models and engines')
      await press(page, button(page, 'Fetch weights'))
      await typeInto(
        page,
        page.getByRole('dialog', { name: 'Fetch weights' }).getByLabel('Source'),
        `${hub.address}/made.gguf`,
      )
      await page.keyboard.press('Enter')
      await press(page, button(page, /^Delete .*made\.gguf$/))
      await typeInto(page, page.getByLabel('Type made.gguf to go on'), 'made.gguf')
      await page.keyboard.press('Enter')
      await page.getByText('Nothing was fetched yet').waitFor()
    })

    test('an organization is created, and disabled by who types its name', async () => {
      await findPage(page, 'Organizations')
      await press(page, button(page, 'Create organization'))
      await typeInto(page, page.getByRole('dialog', { name: 'Create organization' }).getByLabel('Name'), 'Beta')
      await page.keyboard.press('Enter')
      await press(page, button(row(page, /^Beta/), 'Disable…'))
      await typeInto(page, page.getByLabel('Type Beta to go on'), 'Beta')
      await page.keyboard.press('Enter')
      await row(page, /^Beta/).getByText('Disabled').waitFor()
    })
  })

  suite('with a code, by the keyboard alone', () => {
    const password = 'correct horse battery'
    const signOut = (page: Page) =>
      chooseFrom(page, page.getByRole('banner').getByRole('button', { name: 'Account' }), 'Sign out')

    test('somebody sets an authenticator up, and signs in with its code', async () => {
      const { page } = dashboard().owner
      await findPage(page, 'Account')
      await press(page, button(page, 'Set up authenticator'))
      await press(page, button(page, 'Begin'))
      const region = page.getByRole('region', { name: 'Type this into the app' })
      const secret = ((await region.textContent()) ?? '').trim()
      const step = stepNow()
      await typeInto(page, page.getByLabel('Its code now'), totpCode(secret, step))
      await page.keyboard.press('Enter')
      await page.getByText('a code is asked for after the password').waitFor()
      await signOut(page)
      await typeInto(page, page.getByLabel('Email'), 'ann@example.com')
      await typeInto(page, page.getByLabel('Password'), password)
      await page.keyboard.press('Enter')
      // A code is taken once, and the one after it is taken ahead of its time.
      await typeInto(
        page,
        page.getByLabel('Code of your authenticator'),
        totpCode(secret, Math.max(step + 1, stepNow())),
      )
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
    })

    test('who has lost the authenticator signs in with the password and a recovery code', async () => {
      const { page } = dashboard().owner
      await findPage(page, 'Account')
      await press(page, button(page, 'New recovery codes'))
      await press(page, button(page, 'Make codes'))
      const shown = page.getByRole('dialog')
      await shown
        .getByText(/[0-9A-Z]{4}-[0-9A-Z]{4}-/)
        .first()
        .waitFor()
      const [code = ''] = /[0-9A-Z]{4}(-[0-9A-Z]{4}){3}/.exec((await shown.textContent()) ?? '') ?? []
      await press(page, button(page, 'Done'))
      await signOut(page)
      await typeInto(page, page.getByLabel('Email'), 'ann@example.com')
      await typeInto(page, page.getByLabel('Password'), password)
      await page.keyboard.press('Enter')
      await page.getByLabel('Code of your authenticator').waitFor()
      await press(page, button(page, 'Use a recovery code'))
      await typeInto(page, page.getByLabel('Recovery code'), code)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
    })
  })
}
