// An organization with more keys than are read at once, while requests come every second.

import { ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../../harness/start-service.ts'
import { askApi, baseOf, settled } from '../harness/ask.ts'
import { organizationOf } from '../harness/open-dashboard.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

const keyCount = 2_000
const pageRows = 200
const seconds = 30

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
  })
}

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
