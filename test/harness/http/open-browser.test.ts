import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { openBrowser } from './open-browser.ts'

const silent = createServer(() => {})

before(async () => {
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
})
after(() => {
  silent.closeAllConnections()
  silent.close()
})

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** Opens an address whose answers a test changes, and returns once one is asked for; the opening itself ends in `gone`. */
async function askChanging(page: Page, address: string): Promise<{ readonly gone: Promise<unknown> }> {
  const asked = Promise.withResolvers<void>()
  // A request may be held before the browser has confirmed that it holds requests: what closes then fails the confirmation.
  await page.route('**', async (route) => {
    asked.resolve()
    await route.fulfill({ response: await route.fetch() })
  })
  const gone = page.goto(address).catch(() => {})
  await asked.promise
  return { gone }
}

for (const what of ['context', 'browser'] as const) {
  test(`an answer that is being changed when its ${what} closes fails no test`, async () => {
    const browser = await openBrowser()
    try {
      const page = await (await browser.newContext()).newPage()
      const { gone } = await askChanging(page, addressOf(silent))
      await (what === 'context' ? page.context() : browser).close()
      await gone
      // By then whatever the answer ended with would have failed this test.
      await delay(200)
    } finally {
      await browser.close()
    }
  })
}

test('an answer that is being changed when its route is taken back fails no test', async () => {
  const slow = createServer((_, response) => void delay(300).then(() => response.end('late')))
  slow.listen(0, '127.0.0.1')
  await once(slow, 'listening')
  const browser = await openBrowser()
  try {
    const page = await (await browser.newContext()).newPage()
    const { gone } = await askChanging(page, addressOf(slow))
    await page.unroute('**')
    await gone
    await delay(600)
  } finally {
    await browser.close()
    slow.closeAllConnections()
    slow.close()
  }
})
