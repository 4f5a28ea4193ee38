import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openBrowser } from './open-browser.ts'

const silent = createServer(() => {})
let address = ''

before(async () => {
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  address = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`
})
after(() => {
  silent.closeAllConnections()
  silent.close()
})

for (const what of ['context', 'browser'] as const) {
  test(`an answer that is being changed when its ${what} closes fails no test`, async () => {
    const browser = await openBrowser()
    try {
      const page = await (await browser.newContext()).newPage()
      const asked = Promise.withResolvers<void>()
      // A request may be held before the browser has confirmed that it holds requests: what closes then fails the confirmation.
      await page.route('**', async (route) => {
        asked.resolve()
        await route.fulfill({ response: await route.fetch() })
      })
      const gone = page.goto(address).catch(() => {})
      await asked.promise
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
    const asked = Promise.withResolvers<void>()
    await page.route('**', async (route) => {
      asked.resolve()
      await route.fulfill({ response: await route.fetch() })
    })
    const gone = page.goto(`http://127.0.0.1:${(slow.address() as AddressInfo).port}/`).catch(() => {})
    await asked.promise
    await page.unroute('**')
    await gone
    await delay(600)
  } finally {
    await browser.close()
    slow.closeAllConnections()
    slow.close()
  }
})
