import type { Page } from 'playwright-core'
import { findPage } from '../../../web/src/app/paths.ts'
import { routes } from '../../../web/src/app/route-table.ts'
import type { Dashboard } from './use-dashboard.ts'
import { organizationOf } from './open-dashboard.ts'

/** The beginning of every address of the owner's organization. */
export function baseOf({ owner }: Dashboard): string {
  return `${owner.origin}/o/${organizationOf(owner)}`
}

/** Makes a key in the page, as people do. The page shows it once. */
export async function createKey(page: Page, base: string, name: string): Promise<string> {
  await page.goto(`${base}/keys`)
  await page.getByRole('button', { name: 'Create key' }).first().click()
  const drawer = page.getByRole('dialog', { name: 'Create key' })
  await drawer.getByLabel('Name').fill(name)
  await drawer.getByRole('button', { name: 'Create key' }).click()
  const shown = page.getByRole('dialog', { name: `“${name}” is ready` })
  const key = (await shown.getByText(/^sk-ody-\w+$/).textContent()) ?? ''
  await shown.getByRole('button', { name: 'Done' }).click()
  await shown.getByRole('button', { name: 'Close without a copy' }).click()
  return key
}

type Asked = {
  readonly key: string
  readonly model?: string
  readonly format?: 'chat-completions' | 'messages'
  readonly content?: string
  readonly outputTokensMax?: number
}

/** Asks a model with a key, as a client does; resolves with the status. */
export async function askWith(address: string, asked: Asked): Promise<number> {
  const { key, model = 'clarke-1.0', format = 'chat-completions', content = 'Hello', outputTokensMax = 5 } = asked
  const path = format === 'messages' ? '/v1/messages' : '/v1/chat/completions'
  const body = JSON.stringify({ model, max_tokens: outputTokensMax, messages: [{ role: 'user', content }] })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const answer = await fetch(address + path, { method: 'POST', headers, body })
  await answer.arrayBuffer()
  return answer.status
}

export type Answered = { readonly status: number; readonly body: unknown }

/** Asks the management API out of the page, so by the session of whoever is signed in there. */
export function askApi(page: Page, method: string, path: string, body?: unknown): Promise<Answered> {
  return page.evaluate(
    async ([verb, address, text]) => {
      const headers = { 'content-type': 'application/json' }
      const sent = text === null ? {} : { body: text, headers }
      const answer = await fetch(address, { method: verb, ...sent })
      return { status: answer.status, body: (await answer.json().catch(() => null)) as unknown }
    },
    [method, path, body === undefined ? null : JSON.stringify(body)] as const,
  )
}

/** Goes to another page within the program, without loading it anew; resolves when that page is shown, not the one before. */
export async function goTo(page: Page, address: string): Promise<void> {
  const { pathname, search } = new URL(address)
  await page.evaluate((to) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate'))
  }, pathname + search)
  const found = findPage(pathname)
  const title = found === null ? 'Not found' : routes[found.name].title
  // The program names the document when it shows the page; until then the heading of the page before stands there.
  await page.waitForFunction((begin) => document.title.startsWith(begin), `${title} ·`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await settled(page)
}

/** The rows to come are gone when all that was asked for is there. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('[role="status"][aria-label="Loading"]') === null)
}
