// The official SDKs in a page of a real browser: the named origin may use the models, another one may not.

import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type * as Messages from '@anthropic-ai/sdk'
import type * as Chat from 'openai'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../harness/http/open-browser.ts'
import { servePage, type PageServer } from '../harness/http/serve-page.ts'
import { startService, type Service } from '../harness/start-service.ts'

type Asked = { readonly address: string; readonly key: string; readonly sdk: string }
type Answer = { readonly text: string; readonly requestId: string | null }

let named: PageServer
let stranger: PageServer
let service: Service
let browser: Browser

before(async () => {
  ;[named, stranger, browser] = await Promise.all([servePage(), servePage(), openBrowser()])
  service = await startService({ config: { server: { corsOrigins: [named.origin] } } })
})
after(() => Promise.all([browser.close(), named.close(), stranger.close(), service.stop()]))

async function openPage({ origin }: PageServer): Promise<Page> {
  const page = await browser.newPage({ locale: 'en-US' })
  await page.goto(origin)
  return page
}

/** Runs in the page; its text is all that is taken there. */
async function askForChat({ address, key, sdk }: Asked): Promise<Answer> {
  const { OpenAI } = (await import(sdk)) as typeof Chat
  const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: key, dangerouslyAllowBrowser: true, maxRetries: 0 })
  const { data, response } = await client.chat.completions
    .create({ model: 'clarke-1.0', messages: [{ role: 'user', content: 'Hello' }], stream: true })
    .withResponse()
  let text = ''
  for await (const chunk of data) text += chunk.choices[0]?.delta.content ?? ''
  return { text, requestId: response.headers.get('x-request-id') }
}

/** Runs in the page as well. */
async function askForMessages({ address, key, sdk }: Asked): Promise<Answer> {
  const { default: Anthropic } = (await import(sdk)) as typeof Messages
  const client = new Anthropic({ baseURL: address, apiKey: key, dangerouslyAllowBrowser: true, maxRetries: 0 })
  const { data, response } = await client.messages
    .create({ model: 'clarke-1.0', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }], stream: true })
    .withResponse()
  let text = ''
  for await (const event of data)
    if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text
  return { text, requestId: response.headers.get('request-id') }
}

const clients = {
  chat: { ask: askForChat, sdk: '/modules/openai/index.mjs' },
  messages: { ask: askForMessages, sdk: '/modules/@anthropic-ai/sdk/index.mjs' },
}

for (const [format, { ask, sdk }] of Object.entries(clients)) {
  describe(`the SDK for ${format} in a browser`, () => {
    const asked = () => ({ address: service.address, key: service.key, sdk })

    test('streams an answer to a page of the named origin, which may read its id', async () => {
      const page = await openPage(named)
      const { text, requestId } = await page.evaluate(ask, asked())
      match(text, /\w/)
      const row = service.ledger().find(({ request_id: id }) => id === requestId)
      equal(row?.outcome, 'finished')
      await page.close()
    })

    test('gets nothing in a page of another origin, and nothing is begun for it', async () => {
      const known = service.ledger()
      const page = await openPage(stranger)
      await rejects(page.evaluate(ask, asked()), /Connection error/)
      deepEqual(service.ledger(), known)
      await page.close()
    })
  })
}
