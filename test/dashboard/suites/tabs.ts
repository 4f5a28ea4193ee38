// Many tabs of one browser: one stream of changes for all of them, and signing out in one that empties all.

import { equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { BrowserContext, Page, Request } from 'playwright-core'
import { until } from '../../harness/start-service.ts'
import { askApi } from '../harness/ask.ts'
import { organizationOf } from '../harness/open-dashboard.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

/** More than the six connections that a browser opens to a host over plain HTTP. */
const tabCount = 8

/** The streams of changes that are open in a browser, and the tabs that read them. */
function watchStreams(context: BrowserContext): ReadonlyMap<Request, Page> {
  const open = new Map<Request, Page>()
  context.on('request', (request) => {
    if (new URL(request.url()).pathname === '/api/v1/events') open.set(request, request.frame().page())
  })
  const end = (request: Request) => open.delete(request)
  context.on('requestfinished', end)
  context.on('requestfailed', end)
  return open
}

/** Ends with the owner signed out, in the page that was there before. */
export function tabsSuite(dashboard: () => Dashboard): void {
  suite(`${tabCount} tabs`, () => {
    let streams: ReadonlyMap<Request, Page> = new Map()
    const tabs: Page[] = []
    let keysPath = ''

    test('load all, and read one stream of changes together', async () => {
      const { page, context, origin } = dashboard().owner
      keysPath = `/o/${organizationOf(dashboard().owner)}/keys`
      streams = watchStreams(context)
      await page.goto(origin + keysPath)
      for (let index = 1; index < tabCount; index += 1) {
        const tab = await context.newPage()
        tabs.push(tab)
        await tab.goto(origin + keysPath)
      }
      for (const tab of [page, ...tabs]) await tab.getByRole('link', { name: 'laptop' }).waitFor()
      await until(() => streams.size === 1, 'There is not one stream.')
      for (const tab of tabs) await tab.getByText('live', { exact: true }).waitFor()
    })

    test('are told by another tab when the one that reads the stream is closed', async () => {
      const { page } = dashboard().owner
      const [reader] = streams.values()
      // The first page has the passkey, and has to stay; where it reads the stream, it is the one that leaves.
      if (reader === undefined || reader === page) await page.goto('about:blank')
      else await reader.close()
      const left = tabs.filter((tab) => !tab.isClosed())
      await until(() => streams.size === 1 && [...streams.values()].every((tab) => tab !== reader), 'Nobody took over.')
      const [next] = streams.values()
      const other = left.find((tab) => tab !== next)
      if (other === undefined) throw new Error('There is no other tab.')
      const path = `/api/v1/organizations/${keysPath.split('/')[2]}`
      const projects = (await askApi(other, 'GET', `${path}/projects`)).body as {
        readonly data: readonly { id: string }[]
      }
      const made = await askApi(other, 'POST', `${path}/api-keys`, {
        name: 'elsewhere',
        projectId: projects.data[0]?.id,
      })
      equal(made.status, 201)
      for (const tab of left) await tab.getByRole('link', { name: 'elsewhere' }).waitFor()
    })

    test('stay as they are where signing out has failed, and say that somebody is still in', async () => {
      const { page, origin } = dashboard().owner
      await page.goto(origin + keysPath)
      await page.getByRole('link', { name: 'laptop' }).waitFor()
      await page.route('**/session/sign-out', (route) => route.abort('connectionrefused'))
      await page.getByRole('banner').getByRole('button', { name: 'Account' }).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
      const said = page.getByRole('dialog', { name: 'You are still signed in' })
      await said.getByText('Odyssey does not answer.').waitFor()
      await page.unroute('**/session/sign-out')
      await said.getByRole('button', { name: 'Close' }).click()
      await said.waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'laptop' }).waitFor()
    })

    test('are empty as soon as one of them has signed out', async () => {
      const { page, origin } = dashboard().owner
      await page.goto(origin + keysPath)
      await page.getByRole('link', { name: 'laptop' }).waitFor()
      await page.getByRole('link', { name: 'Usage and cost' }).click()
      await page.getByRole('heading', { name: 'Usage and cost' }).waitFor()
      await page.getByRole('banner').getByRole('button', { name: 'Account' }).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
      for (const tab of [page, ...tabs.filter((one) => !one.isClosed())]) {
        await tab.getByRole('heading', { name: 'Sign in' }).waitFor()
        equal(await tab.getByText('laptop').count(), 0)
      }
      await page.goBack()
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      equal(await page.getByText('laptop').count(), 0)
      for (const tab of tabs) await tab.close()
    })
  })
}
