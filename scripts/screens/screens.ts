// npm run screens                       writes the pictures of docs/pictures, as WebP
// npm run screens -- survey FOLDER      looks at every page at three sizes, in two themes, in each state and with each of its
//                                       layers open, writes its pictures into the folder and says what breaks a rule
// npm run screens -- survey FOLDER keys only at the pages that are named
// npm run screens -- walk FOLDER        goes to every page as each role, at two sizes, over 100,000 requests, and says what was
//                                       refused, failed or is too wide
// npm run screens -- lighthouse FOLDER  asks Lighthouse about every page, writes what it says into the folder and says what misses
//                                       its score; pages can be named as above
// npm run screens -- tests               runs the tests of the dashboard that "npm test" leaves out: by the rules of axe, by the
//                                       keyboard alone, with answers that come late or fail, with longer words, with 200 hostile names
//
// Takes them of a real service that was set up and asked a little, in a real browser.

import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openBrowser } from '../../test/harness/http/open-browser.ts'
import { startService } from '../../test/harness/start-service.ts'
import { askApi, settled } from '../../test/dashboard/harness/ask.ts'
import { buildOnce } from '../../test/dashboard/harness/build-once.ts'
import { openDashboard, organizationOf, setUp } from '../../test/dashboard/harness/open-dashboard.ts'
import { furnishOrganization } from '../../test/dashboard/survey/furnish-organization.ts'
import { judgePages } from '../../test/dashboard/survey/judge-pages.ts'
import { surveyPages } from '../../test/dashboard/survey/survey-pages.ts'
import { walkAsRoles } from '../../test/dashboard/survey/walk-roles.ts'

const [mode = 'pictures', into = 'screens', ...wanted] = process.argv.slice(2)
const folder = join(import.meta.dirname, '../../docs/pictures')
const requests = 24
/** The pages whose address is their name. */
const others = [
  'limits',
  'budgets',
  'alerts',
  'prices',
  'availability',
  'projects',
  'members',
  'roles',
  'service-accounts',
  'sign-in',
  'audit',
  'settings',
]
/** A price is in force ten seconds after it was set at the earliest. */
const priceMs = 12_000
/** Refusals are written every five seconds. */
const countedMs = 6_000
const recordingMs = 3 * 24 * 3_600_000

if (mode === 'tests') {
  const tests = spawnSync(process.execPath, ['scripts/test.ts', 'test/dashboard/screens/'], {
    cwd: join(import.meta.dirname, '../..'),
    stdio: 'inherit',
  })
  process.exit(tests.status ?? 1)
}
if (mode === 'pictures') mkdirSync(folder, { recursive: true })
buildOnce()
const [browser, service] = await Promise.all([openBrowser(), startService()])
const opened = await openDashboard(browser, service)
const { page, origin } = opened
await setUp(opened, service)
const organization = `/o/${organizationOf(opened)}`
const within = `/api/v1/organizations/${organizationOf(opened)}`
/** No page of the service, whose policy lets no picture in that is not its own. */
const packer = await browser.newPage()

await setPrices()
await page.goto(`${origin}${organization}/quickstart`)
await page.getByRole('button', { name: 'Create key' }).click()
const key = ((await page.getByRole('region', { name: 'Key', exact: true }).textContent()) ?? '').trim()
await page.waitForTimeout(priceMs)
for (let index = 0; index < requests; index += 1) await ask(index)
await page.getByRole('button', { name: 'Test it' }).click()
await page.getByRole('link', { name: 'Open request' }).waitFor()
const request = await page.getByRole('link', { name: 'Open request' }).getAttribute('href')

if (mode === 'walk') {
  const found = await walkAsRoles({
    browser,
    service,
    owner: opened,
    params: await findRecords(),
    folder: resolve(into),
  })
  if (found.length > 0) process.exitCode = 1
} else if (mode === 'survey') {
  const found = await surveyPages({ page, origin, params: await findRecords(), folder: resolve(into), wanted })
  if (found.length + opened.faults.length > 0) process.exitCode = 1
  for (const fault of opened.faults) console.log(`the console: ${fault}`)
} else if (mode === 'lighthouse') {
  const params = { ...(await findRecords()), guide: 'customers-limits' }
  const judged = { opened, params, folder: resolve(into), wanted }
  const missed = await judgePages(judged)
  for (const one of missed) console.log(`missed: ${one}`)
  if (missed.length > 0) process.exitCode = 1
} else {
  await furnishOrganization(page, organization.slice('/o/'.length))
  await take('home', organization)
  await take('usage', `${organization}/usage?range=today&metric=tokens`)
  await take('request', request ?? '')
  await take('keys', `${organization}/keys`)
  await take('requests', `${organization}/requests?range=all`)
  await takeRefusals()
  await takePlayground()
  for (const name of others) await take(name, `${organization}/${name}`)
  await take('models', '/installation/models')
  await take('reference', '/docs/api')
  await takePortal()
  // From then on a bar says on every page that something is kept.
  await takeContent()
}
await browser.close()
await service.stop()

/** What stands for each name in the addresses of pages. */
async function findRecords(): Promise<Record<string, string>> {
  const organizationId = organization.slice('/o/'.length)
  const [apiKeyId, projectId] = [await firstOf('api-keys'), await firstOf('projects')]
  const made = await askApi(page, 'POST', `${within}/service-accounts`, { name: 'Search in production', projectId })
  const { id: serviceAccountId } = made.body as { readonly id: string }
  return { organizationId, apiKeyId, serviceAccountId, requestId: request?.split('/').at(-1) ?? '' }
}

/** The id of the first that the API lists of the organization's. */
async function firstOf(list: string): Promise<string> {
  const { body } = await askApi(page, 'GET', `${within}/${list}`)
  return (body as { readonly data: readonly { readonly id: string }[] }).data[0]?.id ?? ''
}

/** With a question and its answer. */
async function takePlayground(): Promise<void> {
  await page.goto(`${origin}${organization}/playground`)
  await page.getByLabel('Message', { exact: true }).fill('Name three things that a gateway for models does.')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText(/\d+ in.* · \d+ out/).waitFor()
  await page.waitForTimeout(500)
  await write('playground')
}

/** With some of each of the reasons that are seen most. */
async function takeRefusals(): Promise<void> {
  const messages = [{ role: 'user', content: 'Hello' }]
  const refused = [
    ...Array<object>(9).fill({ model: 'mid-4', messages }),
    ...Array<object>(5).fill({ model: 'hal-1.0', messages, temperature: 7 }),
    ...Array<object>(3).fill({ model: 'tycho-1.0', messages: [{ role: 'user', content: 'Hello, '.repeat(100_000) }] }),
  ]
  for (const body of refused) await post('/v1/chat/completions', body)
  // Refusals are counted in memory, and written together.
  await page.waitForTimeout(countedMs)
  await take('refusals', `${organization}/refusals`)
}

/** What was said in a request, of a project where it is kept. */
async function takeContent(): Promise<void> {
  const recording = { isOn: true, days: 7, endsAt: new Date(Date.now() + recordingMs).toISOString() }
  const set = await askApi(page, 'PUT', `${within}/projects/${await firstOf('projects')}/recording`, recording)
  if (set.status >= 300) throw new Error(`Nothing is kept: ${JSON.stringify(set)}`)
  const system = 'You know birds, and answer in one sentence.'
  const question = { role: 'user', content: 'Which of them nest on shingle?' }
  const answer = await post('/v1/messages', { model: 'clarke-1.0', max_tokens: 40, system, messages: [question] })
  await page.goto(`${origin}${organization}/requests/${answer.headers.get('request-id')}`)
  const content = page.getByRole('region', { name: 'Content' })
  await content.getByRole('button', { name: 'Show what was said' }).click()
  await content.getByRole('button', { name: /playground/i }).waitFor()
  await content.scrollIntoViewIfNeeded()
  await page.waitForTimeout(500)
  await write('content')
}

/** As somebody sees it who has no account. */
async function takePortal(): Promise<void> {
  await page.goto(`${origin}/portal`)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByRole('table', { name: 'Last requests' }).waitFor()
  await page.waitForTimeout(500)
  await write('portal')
}

async function take(name: string, path: string): Promise<void> {
  await page.goto(origin + path)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await settled(page)
  await page.waitForTimeout(500)
  await write(name)
}

/** As the browser itself packs it: a picture of a page is a third of what it is without loss. */
async function write(name: string): Promise<void> {
  const shown = (await page.screenshot()).toString('base64')
  const packed = await packer.evaluate(async (base64) => {
    const image = new Image()
    image.src = `data:image/png;base64,${base64}`
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = image.width
    canvas.height = image.height
    canvas.getContext('2d')?.drawImage(image, 0, 0)
    return canvas.toDataURL('image/webp', 0.8)
  }, shown)
  const bytes = Buffer.from(packed.slice(packed.indexOf(',') + 1), 'base64')
  writeFileSync(join(folder, `${name}.webp`), bytes)
  console.log(`${name}.webp ${bytes.length}`)
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
  await post(path, { model, max_tokens: 20 + index, messages: [{ role: 'user', content }] })
}

async function post(path: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const answer = await fetch(service.address + path, { method: 'POST', headers, body: JSON.stringify(body) })
  await answer.arrayBuffer()
  return answer
}
