// A page that stays open while the service gets another dashboard, or is away for a while.

import { equal } from 'node:assert/strict'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { suite, test } from 'node:test'
import type { Page, Response } from 'playwright-core'
import { askApi, baseOf } from '../harness/ask.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

export function updateSuite(dashboard: () => Dashboard): void {
  suite('a page that is open when the dashboard is updated', () => {
    const told = 'Odyssey was updated. Reload to use the new dashboard.'

    test('says so, and has the new dashboard once it is loaded anew', async () => {
      const { page } = dashboard().owner
      let isOld = true
      await page.route('**/readyz', async (route) => {
        const response = await route.fetch()
        const headers = { ...response.headers(), ...(isOld && { 'x-odyssey-build': 'another' }) }
        await route.fulfill({ response, headers })
      })
      await page.goto(`${baseOf(dashboard())}/keys`)
      await page.getByText(told).waitFor()
      // Told of its own build again before that, the page would take the button away.
      page.on('request', (request) => {
        if (request.isNavigationRequest()) isOld = false
      })
      const buildOf = (response: Response) => response.headers()['x-odyssey-build']
      // One that was asked for before may be answered only now.
      const ready = page.waitForResponse(
        (response) => response.url().endsWith('/readyz') && buildOf(response) !== 'another',
      )
      await page.getByRole('button', { name: 'Reload' }).click()
      const build = buildOf(await ready)
      equal(await page.evaluate(() => document.documentElement.dataset['build']), build)
      await page.getByRole('link', { name: 'laptop' }).waitFor()
      equal(await page.getByText(told).count(), 0)
      await page.unrouteAll({ behavior: 'wait' })
    })

    test('shows the next page, though the part that it was made of is gone', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/keys`)
      await page.getByRole('link', { name: 'laptop' }).waitFor()
      await page.evaluate(() => Object.assign(window, { isFirst: true }))
      await losePartsUntil(page, '**/budgets')
      await page.getByRole('link', { name: 'Budgets' }).click()
      await page.getByRole('heading', { level: 1, name: 'Budgets' }).waitFor()
      equal(await page.evaluate(() => 'isFirst' in window), false)
      await page.unrouteAll({ behavior: 'wait' })
    })

    test('shows each next page whose part is gone, however soon after another', async () => {
      const { page } = dashboard().owner
      for (const name of ['Limits', 'Alerts']) {
        await losePartsUntil(page, `**/${name.toLowerCase()}`)
        await page.getByRole('link', { name, exact: true }).click()
        await page.getByRole('heading', { level: 1, name }).waitFor()
        await page.unrouteAll({ behavior: 'wait' })
      }
    })

    test('stays where it is while nothing answers, and goes on when something does', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/keys`)
      await page.getByRole('link', { name: 'laptop' }).waitFor()
      const lost = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/healthz'))
      await page.route(/\/(assets\/.*\.js|healthz)$/, (route) => route.abort())
      await page.getByRole('link', { name: 'Prices', exact: true }).click()
      await lost
      equal(new URL(page.url()).pathname.split('/').at(-1), 'keys')
      await page.getByRole('link', { name: 'laptop' }).waitFor()
      await page.unrouteAll({ behavior: 'wait' })
      await page.getByRole('link', { name: 'Prices', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: 'Prices' }).waitFor()
    })
  })

  test('a page is live again without being loaded anew once the service is back, and shows what it missed', async (t) => {
    const { owner, service } = dashboard()
    const door = await openDoor(Number(new URL(service.address).port))
    t.after(() => door.close())
    const page = await owner.context.newPage()
    const path = new URL(baseOf(dashboard())).pathname
    await page.goto(`http://localhost:${door.port}${path}/keys`)
    await page.getByRole('link', { name: 'laptop' }).waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    await page.evaluate(() => Object.assign(window, { isFirst: true }))
    await door.close()
    await page.getByText('every 15 s', { exact: true }).waitFor()
    await page.getByText('Odyssey does not answer.').waitFor()
    const within = `/api/v1/organizations/${path.split('/').at(-1)}`
    const { body } = await askApi(owner.page, 'GET', `${within}/projects`)
    const [project] = (body as { readonly data: readonly { readonly id: string }[] }).data
    const made = await askApi(owner.page, 'POST', `${within}/api-keys`, { name: 'meanwhile', projectId: project?.id })
    equal(made.status, 201)
    await door.open()
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'meanwhile' }).waitFor()
    await page.getByText('Odyssey does not answer.').waitFor({ state: 'detached' })
    equal(await page.evaluate(() => 'isFirst' in window), true)
    await page.close()
  })
}

/** The parts of the dashboard are not to be had until this address is loaded. */
async function losePartsUntil(page: Page, address: string): Promise<void> {
  let isGone = true
  await page.route('**/assets/*.js', (route) =>
    isGone ? route.fulfill({ status: 404, body: '{}' }) : route.continue(),
  )
  await page.route(address, (route) => {
    isGone = false
    return route.continue()
  })
}

/** A port in front of a service that can be shut, as the service's own is while it starts anew. */
async function openDoor(target: number) {
  const sockets = new Set<Socket>()
  const server: Server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {}).once('close', () => sockets.delete(socket))
    }
    near.pipe(far).pipe(near)
  })
  const listen = (port: number) => new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  return {
    port,
    open: () => listen(port),
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy()
        if (server.listening) server.close(() => resolve())
        else resolve()
      }),
  }
}
