// An organization with more keys than are read at once, while requests come every second, and with more requests than
// are looked through at once.

import { equal, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { openDatabase } from '../../../src/db/open-database.ts'
import { until } from '../../harness/start-service.ts'
import { askApi, askWith, baseOf, createKey, settled } from '../harness/ask.ts'
import { organizationOf } from '../harness/open-dashboard.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

const keyCount = 2_000
const pageRows = 200
const seconds = 30

/** More than the page goes on from by itself, and then some. */
const shortPages = 13

export function searchSuite(dashboard: () => Dashboard): void {
  suite('a search of too many requests to look through at once', () => {
    for (const [live, how] of [
      ['off', 'as read'],
      ['on', 'live'],
    ] as const) {
      test(`${how} goes on by itself, stops to ask, and finds the only request far behind`, async () => {
        const { owner, browser, service } = dashboard()
        const key = await createKey(owner.page, baseOf(dashboard()), `far behind ${how}`)
        equal(await askWith(service.address, { key }), 200)
        const context = await browser.newContext({ storageState: await owner.context.storageState() })
        const page = await context.newPage()
        let deepest = 0
        await page.route('**/ledger?*', (route) => {
          const url = new URL(route.request().url())
          // A page may be asked for again, and is the same one then.
          const place = Number(url.searchParams.get('after')?.replace('place-', '') ?? 0) + 1
          deepest = Math.max(deepest, place)
          // The last place that was looked at is where the newest rows are, as far as the service is asked.
          url.searchParams.delete('after')
          if (place > shortPages) return route.continue({ url: url.href })
          const searchedTo = new Date(Date.UTC(2020, 0, 40 - place)).toISOString()
          return route.fulfill({ json: { data: [], next: `place-${place}`, searchedTo } })
        })
        await page.goto(`${baseOf(dashboard())}/requests?range=all&format=chat-completions&live=${live}`)
        const said = page.getByRole('status').filter({ hasText: 'Searched back to' })
        const further = page.getByRole('button', { name: 'Search further' })
        await said.filter({ hasText: /Searched back to 30 Jan 2020 .*\.$/ }).waitFor()
        equal(deepest, 10)
        equal(await page.getByRole('main').getByText('No requests match these filters.').count(), 0)
        await further.focus()
        await page.keyboard.press('Enter')
        await page
          .getByRole('row', { name: new RegExp(`far behind ${how}`) })
          .first()
          .waitFor()
        equal(deepest, shortPages + 1)
        equal(await further.count(), 0)
        await context.close()
      })
    }

    test('live without a stream looks no further back, and says what does', async () => {
      const { owner, browser } = dashboard()
      const context = await browser.newContext({ storageState: await owner.context.storageState() })
      const page = await context.newPage()
      await page.route('**/requests/tail?*', (route) => route.fulfill({ status: 503, json: {} }))
      await page.route('**/ledger?*', (route) =>
        route.fulfill({ json: { data: [], next: 'place-1', searchedTo: '2020-02-08T00:00:00.000Z' } }),
      )
      await page.goto(`${baseOf(dashboard())}/requests?range=all&format=chat-completions&live=on`)
      await page.getByText('Searched back to 8 Feb 2020').waitFor()
      await page.getByText('“As read” looks further back.').waitFor()
      equal(await page.getByRole('button', { name: 'Search further' }).count(), 0)
      await context.close()
    })

    test('leads from one request to the next one that is far behind', async () => {
      const { owner, browser, service } = dashboard()
      const key = await createKey(owner.page, baseOf(dashboard()), 'one after the other')
      for (let asked = 0; asked < 2; asked++) equal(await askWith(service.address, { key }), 200)
      const path = `/api/v1/organizations/${organizationOf(owner)}/ledger?limit=2`
      const { data } = (await askApi(owner.page, 'GET', path)).body as { readonly data: readonly LedgerEntry[] }
      const [first, second] = data
      const context = await browser.newContext({ storageState: await owner.context.storageState() })
      const page = await context.newPage()
      await page.route('**/ledger?*', (route) => {
        const after = new URL(route.request().url()).searchParams.get('after')
        const place = Number(after?.replace('place-', '') ?? 0)
        const isShort = place < 4
        const row = place === 0 ? [first] : isShort ? [] : [second]
        const searchedTo = isShort ? new Date(Date.UTC(2020, 0, 40 - place)).toISOString() : null
        return route.fulfill({ json: { data: row, next: isShort ? `place-${place + 1}` : null, searchedTo } })
      })
      const filter = '?range=all&format=chat-completions'
      await page.goto(`${baseOf(dashboard())}/requests/${first?.requestId}${filter}`)
      await page.getByRole('button', { name: 'Next request ]', disabled: false }).click()
      await page.waitForURL(`**/requests/${second?.requestId}${filter}`)
      await page.getByTitle('This is the last request of the list.').waitFor()
      await context.close()
    })

    test('says from when on requests are counted', async () => {
      const { owner, browser } = dashboard()
      const context = await browser.newContext({ storageState: await owner.context.storageState() })
      const page = await context.newPage()
      await page.route('**/requests/histogram?*', async (route) => {
        const answer = await route.fetch()
        const counts = (await answer.json()) as object
        await route.fulfill({ json: { ...counts, countedFrom: '2020-01-31T12:00:00.000Z' } })
      })
      await page.goto(`${baseOf(dashboard())}/requests?format=chat-completions`)
      await page.getByText(/^Counted from 31 Jan 2020 .* on: there are too many requests before it/).waitFor()
      await context.close()
    })
  })
}

export function crowdSuite(dashboard: () => Dashboard): void {
  suite(`${keyCount} keys`, () => {
    test('are read anew a page a second under traffic, and at once when somebody has changed one', async () => {
      const { owner, browser } = dashboard()
      const context = await browser.newContext({ storageState: await owner.context.storageState() })
      const page = await context.newPage()
      const read = await answerWithMany(page, dashboard())
      // The stream is held open and says nothing by itself.
      await page.route('**/api/v1/events', () => {})
      await page.clock.install()
      await page.goto(`${baseOf(dashboard())}/keys`)
      await page.getByRole('row', { name: /crowd/ }).first().waitFor()
      await settled(page)
      // Else it would go on beside the seconds that are counted, the longer the slower the machine is.
      await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1_000))
      const organizationId = organizationOf(owner)
      const tell = (topic: string) =>
        page.evaluate(
          (changed) => {
            // Another tab, which reads the stream.
            const tab = new BroadcastChannel('odyssey-events')
            tab.postMessage({ isLive: true })
            tab.postMessage({ changed })
            tab.close()
          },
          { organizationId, topics: [topic] },
        )
      const before = read.count
      for (let second = 0; second < seconds; second += 1) {
        await tell('requests')
        await page.clock.runFor(1_000)
        // By then what is read again has been begun, and it is waited for to its end.
        await page.evaluate(() => fetch('/healthz').then(({ ok: isOk }) => isOk))
        await until(() => read.isWhole, 'A list is not read to its end.')
      }
      const pages = read.count - before
      // The list that was due when it began, the last one, and one by the clock before it knew of the stream come on top.
      ok(pages > 0 && pages <= seconds + 3 * (keyCount / pageRows), `${pages} pages in ${seconds} seconds`)
      const after = read.count
      await tell('access')
      await page.clock.runFor(1_000)
      await until(() => read.count > after, 'A change is not read at once.')
      await context.close()
    })

    test('the newest of more keys than are listed is found by the filters, and the page says that there are more', async () => {
      const { owner, service } = dashboard()
      const { page } = owner
      const db = await openDatabase({ home: service.home, databaseUrl: null })
      const row = await db.selectFrom('api_keys').selectAll().where('kind', 'is', null).executeTakeFirstOrThrow()
      const many = Array.from({ length: 2_100 }, (_, index) => {
        const own = { id: `key_many${index}`, name: `many ${index}`, key_hash: `many ${index}` } as const
        return { ...row, ...own, revoked_at: null, disabled_at: null, created_at: row.created_at + index }
      })
      for (let from = 0; from < many.length; from += 100) {
        await db
          .insertInto('api_keys')
          .values(many.slice(from, from + 100))
          .execute()
      }
      await page.goto(`${baseOf(dashboard())}/keys`)
      await page.getByText('There are more keys than are listed: these are the oldest 2,000.').waitFor()
      await page.getByLabel('Name, last four or id').fill('many 2099')
      await page.getByRole('link', { name: 'many 2099' }).waitFor()
      await db.deleteFrom('api_keys').where('id', 'like', 'key_many%').execute()
      await db.destroy()
    })
  })
}

type LedgerEntry = { readonly requestId: string }

type Read = {
  /** Pages of the list. */
  readonly count: number
  /** Whether none is missing of the list that was begun last. */
  readonly isWhole: boolean
}

/** Has the list of keys answered as if there were many; counts how many pages of it are read. */
async function answerWithMany(page: Page, dashboard: Dashboard): Promise<Read> {
  const read = { count: 0, isWhole: true }
  const path = `/api/v1/organizations/${organizationOf(dashboard.owner)}/api-keys?limit=1`
  const [known] = ((await askApi(dashboard.owner.page, 'GET', path)).body as { readonly data: readonly object[] }).data
  await page.route(/\/api-keys\?limit=200(?!.*kind=)/, async (route) => {
    read.count += 1
    read.isWhole = false
    const from = Number(new URL(route.request().url()).searchParams.get('after') ?? 0)
    const data = Array.from({ length: pageRows }, (_, index) => ({
      ...known,
      id: `key_crowd${from + index}`,
      name: `crowd ${from + index}`,
    }))
    const next = from + pageRows < keyCount ? String(from + pageRows) : null
    await route.fulfill({ json: { data, next } })
    read.isWhole = next === null
  })
  return read
}
