// From the link that a fresh service prints to an answer in the page and by an official SDK, in a real browser.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { OpenAI } from 'openai'
import type { Page } from 'playwright-core'
import { askApi, settled } from './harness/ask.ts'
import { openDashboard, organizationOf, setUp } from './harness/open-dashboard.ts'
import { useDashboard } from './harness/use-dashboard.ts'
import { openScales } from './harness/weigh.ts'
import { tabsSuite } from './suites/tabs.ts'
import { updateSuite } from './suites/update.ts'

const dashboard = useDashboard({ isSetUp: false, service: { config: { billing: { currency: 'EUR' } } } })
let key = ''
let organizationId = ''

suite('the first minutes', () => {
  test('a stranger is told where the link is, and sees nothing else', async () => {
    const { page, origin } = dashboard().owner
    await page.goto(`${origin}/o/org_default/keys`)
    await page.getByRole('heading', { name: 'Odyssey is not set up yet' }).waitFor()
    equal(await page.getByRole('navigation').count(), 0)
  })

  test('who starts it without a terminal is told of the command that prints the link, and of the file with the key', async () => {
    const { page, origin } = dashboard().owner
    for (const path of ['/login', '/setup']) {
      await page.goto(origin + path)
      await page.getByText('npx odyssey owners link').waitFor()
    }
    await page.goto(`${origin}/login`)
    await page.getByText('first-api-key').waitFor()
  })

  test('a stranger comes to the documentation from where they would sign in and from where they set it up', async () => {
    const { page, origin } = dashboard().owner
    for (const path of ['/login', '/setup']) {
      await page.goto(origin + path)
      await page.getByRole('link', { name: 'Documentation' }).click()
      await page.waitForURL(`${origin}/docs`)
      await page.getByRole('heading', { level: 1, name: 'Guides' }).waitFor()
    }
  })

  test('the printed link makes an owner with a passkey, and works once', async () => {
    const { owner, service } = dashboard()
    await setUp(owner, service)
    const { page } = owner
    equal(new URL(page.url()).hash, '')
    equal(
      (await page.context().cookies()).every(({ name, httpOnly }) => name.includes('theme') || httpOnly),
      true,
    )
  })

  test('a key was made with it, is shown and answers in the page', async () => {
    const { page } = dashboard().owner
    await page.getByText('This is the only time the key is shown').waitFor()
    key =
      /sk-ody-\w+/.exec((await page.getByRole('region', { name: 'Key', exact: true }).textContent()) ?? '')?.[0] ?? ''
    match(key, /^sk-ody-\w{20,}$/)
    await page.getByRole('button', { name: 'Test it' }).click()
    await page.getByText(/200 · .* to the first token/).waitFor()
    await page.getByRole('link', { name: 'Open request' }).waitFor()
  })

  test('the key works with an official SDK, and both requests are in the list and in the sums', async () => {
    const client = new OpenAI({ baseURL: `${dashboard().service.address}/v1`, apiKey: key })
    const answer = await client.chat.completions.create({
      model: 'clarke-1.0',
      messages: [{ role: 'user', content: 'Hello' }],
    })
    equal(answer.choices.length, 1)
    const { page, origin } = dashboard().owner
    organizationId = organizationOf(dashboard().owner)
    await page.goto(`${origin}/o/${organizationId}/requests`)
    await page
      .getByRole('row', { name: /Finished/ })
      .nth(1)
      .waitFor()
    equal(await page.getByRole('row', { name: /Finished/ }).count(), 2)
    await page.goto(`${origin}/o/${organizationId}/usage?range=today&metric=requests`)
    await page.getByRole('row', { name: /clarke-1.0/ }).waitFor()
    match((await page.getByRole('row', { name: /clarke-1.0/ }).textContent()) ?? '', /^clarke-1.02/)
  })

  test('the first price is set in the currency of the installation, in which every amount is shown', async () => {
    const { page, origin } = dashboard().owner
    await page.goto(`${origin}/o/${organizationId}/keys`)
    await page.getByRole('columnheader', { name: 'Cost, 30 days, EUR' }).waitFor()
    await page.goto(`${origin}/o/${organizationId}/prices`)
    await page.getByRole('button', { name: 'Set price' }).first().click()
    const drawer = page.getByRole('dialog', { name: 'Set price' })
    await drawer.waitFor()
    for (const field of await drawer.getByLabel(/, EUR for a million tokens$/).all()) await field.fill('1')
    await drawer.getByRole('button', { name: 'Set price' }).click()
    await drawer.waitFor({ state: 'detached' })
    await page.getByText('€1.00').first().waitFor()
  })

  test('the key is nowhere once its page is left', async () => {
    const { page, origin } = dashboard().owner
    await page.goto(`${origin}/o/${organizationOf(dashboard().owner)}/keys`)
    await page.getByRole('link', { name: 'laptop' }).waitFor()
    const kept = await page.evaluate(
      () =>
        document.documentElement.outerHTML +
        JSON.stringify(localStorage) +
        JSON.stringify(sessionStorage) +
        location.href,
    )
    equal(kept.includes(key), false)
  })
})

updateSuite(dashboard)
tabsSuite(dashboard)

suite('after signing out', () => {
  test('the passkey signs in again to the page that was asked for', async () => {
    const { page, origin } = dashboard().owner
    const keys = `/o/${organizationId}/keys`
    await page.goto(origin + keys)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await page.waitForURL(({ pathname }) => pathname === keys)
  })

  test('a session that ends over a form is begun anew there, and nothing that was typed is lost', async () => {
    const { page, context } = dashboard().owner
    await page.getByRole('button', { name: 'Create key' }).first().click()
    await page.getByRole('dialog', { name: 'Create key' }).getByLabel('Name').fill('typed before')
    await context.clearCookies()
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    const again = page.getByRole('dialog', { name: 'Sign in again' })
    await again.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByRole('dialog', { name: '“typed before” is ready' }).waitFor()
  })

  test('a session that is ended elsewhere asks once for a new one over the form, and the page goes on with it', async () => {
    const { page, origin } = dashboard().owner
    await page.goto(`${origin}/o/${organizationId}/keys`)
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Create key' }).first().click()
    const drawer = page.getByRole('dialog', { name: 'Create key' })
    await drawer.getByLabel('Name').fill('typed meanwhile')
    await endSession(page)
    const again = page.getByRole('dialog', { name: 'Sign in again' })
    await again.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await again.waitFor({ state: 'detached' })
    equal(await drawer.getByLabel('Name').inputValue(), 'typed meanwhile')
    await page.keyboard.press('Escape')
    await page.getByText('live', { exact: true }).waitFor()
    // What was asked for while nobody was signed in has come: nothing on the page waits any more.
    await page.getByRole('link', { name: 'Limits', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Limits' }).waitFor()
    await settled(page)
  })

  test('who puts the new session off keeps the page, and is asked again for a change alone', async () => {
    const { page, origin } = dashboard().owner
    await page.goto(`${origin}/o/${organizationId}/keys`)
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Create key' }).first().click()
    const drawer = page.getByRole('dialog', { name: 'Create key' })
    await drawer.getByLabel('Name').fill('put off')
    await endSession(page)
    const again = page.getByRole('dialog', { name: 'Sign in again' })
    await again.getByRole('button', { name: 'Close' }).click()
    await again.waitFor({ state: 'detached' })
    equal(await drawer.getByLabel('Name').inputValue(), 'put off')
    await drawer.getByRole('button', { name: 'Create key' }).click()
    await again.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByRole('dialog', { name: '“put off” is ready' }).waitFor()
  })

  test('somebody who has not signed in is sent no more than the sign-in needs', async () => {
    const { browser, service } = dashboard()
    const stranger = await openDashboard(browser, service)
    const { page, context, origin } = stranger
    const { weigh } = await openScales(stranger)
    const { bytes, files } = await weigh(async () => {
      await page.goto(`${origin}/`)
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      await page.waitForLoadState('networkidle')
    })
    await page.waitForURL(({ pathname }) => pathname === '/login')
    ok(bytes <= 110_000 && files.length <= 9, `${bytes} bytes: ${files.join(', ')}`)
    await context.close()
  })

  test('nothing broke the content policy, and no program failed', () => deepEqual(dashboard().owner.faults, []))
})

/** As somebody does in the list of another device. */
async function endSession(page: Page): Promise<void> {
  const sessions = (await askApi(page, 'GET', '/api/v1/sessions')).body as {
    readonly data: readonly { readonly id: string; readonly isCurrent: boolean }[]
  }
  const current = sessions.data.find(({ isCurrent }) => isCurrent)?.id ?? ''
  equal((await askApi(page, 'DELETE', `/api/v1/sessions/${current}`)).status, 204)
}
