// npm run screens                 writes the pictures of docs/pictures
//
// Takes them of a real service that was set up and asked a little, in a real browser.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openBrowser } from '../test/harness/http/open-browser.ts'
import { startService } from '../test/harness/start-service.ts'
import { buildOnce } from '../test/dashboard/harness/build-once.ts'
import { openDashboard, organizationOf, setUp } from '../test/dashboard/harness/open-dashboard.ts'

const folder = join(import.meta.dirname, '../docs/pictures')
const requests = 24
/** A price is in force ten seconds after it was set at the earliest. */
const priceMs = 12_000

mkdirSync(folder, { recursive: true })
buildOnce()
const [browser, service] = await Promise.all([openBrowser(), startService()])
const opened = await openDashboard(browser, service)
const { page, origin } = opened
await setUp(opened, service)
const organization = `/o/${organizationOf(opened)}`

await setPrices()
await page.goto(`${origin}${organization}/quickstart`)
await page.getByRole('button', { name: 'Create key' }).click()
const key = ((await page.getByRole('region', { name: 'Key', exact: true }).textContent()) ?? '').trim()
await page.waitForTimeout(priceMs)
for (let index = 0; index < requests; index += 1) await ask(index)
await page.getByRole('button', { name: 'Test it' }).click()
await page.getByRole('link', { name: 'Open request' }).waitFor()
const request = await page.getByRole('link', { name: 'Open request' }).getAttribute('href')

await take('home', organization)
await take('usage', `${organization}/usage?range=today&metric=tokens`)
await take('request', request ?? '')
await take('keys', `${organization}/keys`)
await take('requests', `${organization}/requests?range=all`)
await take('playground', `${organization}/playground`)
await take('members', `${organization}/members`)
await take('models', '/installation/models')
await take('reference', '/docs/api')
await takePortal()
await browser.close()
await service.stop()

/** As somebody sees it who has no account. */
async function takePortal(): Promise<void> {
  await page.goto(`${origin}/portal`)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByRole('table', { name: 'Last requests' }).waitFor()
  await page.waitForTimeout(500)
  await page.screenshot({ path: join(folder, 'portal.png') })
  console.log('portal.png')
}

async function take(name: string, path: string): Promise<void> {
  await page.goto(origin + path)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
  await page.waitForTimeout(500)
  await page.screenshot({ path: join(folder, `${name}.png`) })
  console.log(`${name}.png`)
}

async function setPrices(): Promise<void> {
  await page.goto(`${origin}${organization}/prices`)
  for (const [model, input] of [
    ['clarke-1.0', 3],
    ['hal-1.0', 5],
    ['tycho-1.0', 1],
  ] as const) {
    await page.getByRole('button', { name: 'Set price' }).first().click()
    const drawer = page.getByRole('dialog')
    await drawer.getByLabel('Model').selectOption(model)
    const rates = [
      ['Input', 1],
      ['Cache read', 0.1],
      ['Cache write, 5 min', 1.25],
      ['Cache write, 1 h', 2],
      ['Output', 5],
    ] as const
    for (const [name, factor] of rates) await drawer.getByLabel(`${name}, `).fill((input * factor).toFixed(2))
    await drawer.getByRole('button', { name: 'Set price' }).click()
    await drawer.waitFor({ state: 'detached' })
  }
}

async function ask(index: number): Promise<void> {
  const model = ['clarke-1.0', 'hal-1.0', 'tycho-1.0'][index % 3]
  const path = index % 2 === 0 ? '/v1/chat/completions' : '/v1/messages'
  const content = `Tell me about number ${index % 5}. ${'It is a long story. '.repeat(20)}`
  const body = JSON.stringify({ model, max_tokens: 20 + index, messages: [{ role: 'user', content }] })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  await (await fetch(service.address + path, { method: 'POST', headers, body })).arrayBuffer()
}
