// A key that was shown once, looked for everywhere that a browser and a service keep things.

import { deepEqual, equal, match } from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { askApi, baseOf, settled } from '../harness/ask.ts'
import { memberIdOf, organizationOf, type Opened } from '../harness/open-dashboard.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

type Listed = { readonly data: readonly { readonly id: string }[] }

export function secretsSuite(dashboard: () => Dashboard): void {
  suite('the text of a key', () => {
    let key = ''
    const within = () => `/api/v1/organizations/${organizationOf(dashboard().owner)}`

    test('is found nowhere in the browser once its dialog is done', async () => {
      const { owner } = dashboard()
      const { page } = owner
      await page.goto(`${baseOf(dashboard())}/keys`)
      await page.getByRole('button', { name: 'Create key' }).first().click()
      const drawer = page.getByRole('dialog', { name: 'Create key' })
      await drawer.getByLabel('Name').fill('once')
      // Read off the wire, so that the test itself leaves no copy in the page.
      const answer = page.waitForResponse((response) => response.request().method() === 'POST')
      await drawer.getByRole('button', { name: 'Create key' }).click()
      ;({ key } = (await (await answer).json()) as { readonly key: string })
      match(key, /^sk-ody-\w{20,}$/)
      const shown = page.getByRole('dialog', { name: '“once” is ready' })
      await shown.waitFor()
      equal((await placesOf(owner, key)).includes('the memory'), true, 'While it is shown it is found.')
      await shown.getByRole('button', { name: 'Done' }).click()
      await shown.getByRole('button', { name: 'Close without a copy' }).click()
      await shown.waitFor({ state: 'detached' })
      deepEqual(await placesOf(owner, key), [])
    })

    test('goes from a tab that nobody looks at, whatever changes meanwhile', async () => {
      await using tab = await openTab(dashboard())
      const { page } = tab
      await page.goto(`${baseOf(dashboard())}/keys`)
      const make = async (name: string) => {
        const projects = (await askApi(page, 'GET', `${within()}/projects`)).body as Listed
        const made = await askApi(page, 'POST', `${within()}/api-keys`, { name, projectId: projects.data[0]?.id })
        equal(made.status, 201)
      }
      await page.getByRole('button', { name: 'Create key' }).first().click()
      const drawer = page.getByRole('dialog', { name: 'Create key' })
      await drawer.getByLabel('Name').fill('hidden')
      await drawer.getByRole('button', { name: 'Create key' }).click()
      const shown = page.getByRole('dialog', { name: '“hidden” is ready' })
      await shown.getByText('This is the only time the key is shown').waitFor()
      await hide(page)
      await page.clock.runFor('02:30')
      // The list behind the dialog is drawn anew.
      await make('made meanwhile')
      await page.locator('tr', { hasText: 'made meanwhile' }).waitFor({ state: 'attached' })
      await page.clock.runFor('02:31')
      await shown.getByText(gone).waitFor()
      equal(await shown.getByText('This is the only time the key is shown').count(), 0)
    })

    test('goes from the quickstart too, out of the memory as well, when nobody looks at it or it is left', async () => {
      await using tab = await openTab(dashboard())
      const { page } = tab
      await page.goto(`${baseOf(dashboard())}/quickstart`)
      const make = async () => {
        const answer = page.waitForResponse((response) => response.request().method() === 'POST')
        await page.getByRole('button', { name: 'Create key' }).click()
        const { key: made } = (await (await answer).json()) as { readonly key: string }
        await page.getByText('This is the only time the key is shown').waitFor()
        return made
      }
      const first = await make()
      equal((await placesOf(tab, first)).includes('the memory'), true, 'While it is shown it is found.')
      await hide(page)
      await page.clock.runFor('04:59')
      await page.getByText('This is the only time the key is shown').waitFor({ state: 'attached' })
      await page.clock.runFor('00:02')
      await page.getByText(gone).waitFor({ state: 'attached' })
      deepEqual(await placesOf(tab, first), [])
      const second = await make()
      await page.getByRole('link', { name: 'Projects', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor()
      deepEqual(await placesOf(tab, second), [])
    })

    test('goes as codes for recovery do', async () => {
      await using tab = await openTab(dashboard())
      const { page } = tab
      await page.goto(`${dashboard().owner.origin}/account`)
      await page.getByRole('button', { name: /recovery codes/i }).click()
      const answer = page.waitForResponse((response) => response.url().endsWith('/recovery-codes'))
      await page.getByRole('button', { name: 'Make codes' }).click()
      const { codes } = (await (await answer).json()) as { readonly codes: readonly string[] }
      const dialog = page.getByRole('dialog', { name: 'Recovery codes' })
      await dialog.getByText('They are shown only now').waitFor()
      await hide(page)
      await page.clock.runFor('05:01')
      await dialog.getByText(gone).waitFor()
      deepEqual(await placesOf(tab, codes[0] ?? 'none'), [])
    })

    test('goes as the secret of an authenticator does', async () => {
      await using tab = await joinByPassword(dashboard())
      const { page } = tab
      await page.goto(`${dashboard().owner.origin}/account`)
      await page.getByRole('button', { name: 'Set up authenticator' }).click()
      const dialog = page.getByRole('dialog', { name: 'Authenticator' })
      const answer = page.waitForResponse((response) => response.url().endsWith('/me/totp'))
      await dialog.getByRole('button', { name: 'Begin' }).click()
      const { secret } = (await (await answer).json()) as { readonly secret: string }
      await dialog.getByLabel('Its code now').fill('12')
      equal((await placesOf(tab, secret)).includes('the memory'), true, 'While it is shown it is found.')
      await hide(page)
      await page.clock.runFor('05:01')
      await dialog.getByText(gone).waitFor()
      deepEqual(await placesOf(tab, secret), [])
    })

    test('goes as the links of invitations do, and what was typed beside them stays', async () => {
      await using tab = await openTab(dashboard())
      const { page } = tab
      await page.goto(`${baseOf(dashboard())}/members`)
      await page.getByRole('button', { name: 'Invite' }).click()
      const drawer = page.getByRole('dialog', { name: 'Invite' })
      const invite = async (email: string) => {
        await drawer.getByLabel('Email').fill(email)
        const answer = page.waitForResponse((response) => response.request().method() === 'POST')
        await drawer.getByRole('button', { name: /^Invite/ }).click()
        const { link } = (await (await answer).json()) as { readonly link: string }
        await drawer.getByRole('region', { name: email }).waitFor()
        return link.slice(link.indexOf('#') + 1)
      }
      const tokens = [await invite('one@example.com'), await invite('two@example.com')]
      await drawer.getByLabel('Email').fill('three@example.com')
      equal((await placesOf(tab, tokens[0] ?? 'none')).includes('the memory'), true, 'While it is shown it is found.')
      await hide(page)
      await page.clock.runFor('05:01')
      await drawer.getByText(gone).nth(1).waitFor()
      for (const token of tokens) deepEqual(await placesOf(tab, token), [])
      equal(await drawer.getByLabel('Email').inputValue(), 'three@example.com')
      await drawer.getByText('one@example.com').waitFor()
    })

    test('is found in no answer, no log and no file of the service', async () => {
      const { owner, service } = dashboard()
      const { page } = owner
      const answers: string[] = []
      page.on('response', (response) => {
        if (response.url().includes('/api/v1/') && !response.url().endsWith('/events'))
          void response.text().then(
            (text) => answers.push(text),
            () => null,
          )
      })
      for (const path of ['/keys', '/requests', '/usage', '/audit', '/limits', '']) {
        await page.goto(baseOf(dashboard()) + path)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await settled(page)
      }
      page.removeAllListeners('response')
      equal(answers.length > 5, true)
      equal(answers.filter((text) => text.includes(key)).length, 0)
      const { stdout, stderr } = service.output()
      equal((stdout + stderr).includes(key), false)
      const files = readdirSync(service.home, { recursive: true, withFileTypes: true }).filter((entry) =>
        entry.isFile(),
      )
      const holding = files.filter((file) => readFileSync(join(file.parentPath, file.name)).includes(key))
      deepEqual(
        holding.map(({ name }) => name),
        [],
      )
    })
  })
}

const gone = /^Nobody looked at this page for five minutes, so what it showed once is gone from it\./

type Tab = Pick<Opened, 'page' | 'context'> & AsyncDisposable

/** A tab of the owner's with a clock of its own: that of the other pages goes on by the real one. */
async function openTab({ browser, owner }: Dashboard): Promise<Tab> {
  const context = await browser.newContext({ storageState: await owner.context.storageState() })
  const page = await context.newPage()
  await page.clock.install()
  return { page, context, [Symbol.asyncDispose]: () => context.close() }
}

/** A tab of somebody who signs in with a password, which an authenticator goes with; they are removed in the end. */
async function joinByPassword(opened: Dashboard): Promise<Tab> {
  const { browser, owner } = opened
  const within = `/api/v1/organizations/${organizationOf(owner)}`
  const wanted = { email: 'pat@example.com', role: 'developer', projectIds: [] }
  const { link } = (await askApi(owner.page, 'POST', `${within}/invitations`, wanted)).body as { readonly link: string }
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.clock.install()
  await page.goto(link)
  await page.getByLabel('Your name').fill('Pat Moe')
  await page.getByText('Use a password instead').click()
  await page.getByLabel('Password').fill('correct horse battery')
  await page.getByRole('button', { name: 'Set password and join' }).click()
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  const memberId = await memberIdOf(page)
  return {
    page,
    context,
    async [Symbol.asyncDispose]() {
      await context.close()
      await askApi(owner.page, 'DELETE', `${within}/members/${memberId}`)
    },
  }
}

async function hide(page: Page): Promise<void> {
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { value: true })
    document.dispatchEvent(new Event('visibilitychange'))
  })
}

/** Where in the browser a text is. */
async function placesOf({ page, context }: Pick<Opened, 'page' | 'context'>, text: string): Promise<readonly string[]> {
  const places = await page.evaluate(async (wanted) => {
    const caches = await globalThis.caches.keys()
    const databases = await indexedDB.databases()
    const all = {
      'the page': document.documentElement.outerHTML,
      'the storage': JSON.stringify(localStorage) + JSON.stringify(sessionStorage),
      'the address': location.href + JSON.stringify(history.state),
      'the title': document.title,
      'the cookies': document.cookie,
      'a cache or a database': caches.length + databases.length > 0 ? wanted : '',
    }
    return Object.entries(all).flatMap(([name, kept]) => (kept.includes(wanted) ? [name] : []))
  }, text)
  const snapshot = await readMemory(page)
  const cookies = JSON.stringify(await context.cookies())
  return [
    ...places,
    ...(snapshot.includes(text) ? ['the memory'] : []),
    ...(cookies.includes(text) ? ['a cookie'] : []),
  ]
}

/** Everything that the page's programs still hold, after what they do not was thrown away. */
async function readMemory(page: Page): Promise<string> {
  const devtools = await page.context().newCDPSession(page)
  const parts: string[] = []
  devtools.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => parts.push(chunk))
  await devtools.send('HeapProfiler.enable')
  await devtools.send('HeapProfiler.collectGarbage')
  await devtools.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false })
  // Whoever detaches here takes the page's authenticator along, and with it every passkey.
  await devtools.send('HeapProfiler.disable')
  return parts.join('')
}
