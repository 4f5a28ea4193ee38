// Names as long as they may be, and names of the other direction: what stands beside them keeps its place.

import { equal } from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import type { Locator } from 'playwright-core'
import { askApi, askWith, baseOf, createKey, settled } from '../harness/ask.ts'
import { organizationOf } from '../harness/open-dashboard.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

const long = 'a-name-without-any-space-'.repeat(4)

export function longNamesSuite(dashboard: () => Dashboard): void {
  suite('a name that somebody chose', () => {
    let keyId = ''
    before(async () => {
      const { owner } = dashboard()
      const within = `/api/v1/organizations/${organizationOf(owner)}`
      const made = await askApi(owner.page, 'POST', `${within}/api-keys`, { name: long, projectId: 'proj_default' })
      keyId = (made.body as { readonly apiKey: { readonly id: string } }).apiKey.id
    })

    test('stands in lines of words as the title of its page, at every width of a window', async () => {
      const { page } = dashboard().owner
      const before = page.viewportSize()
      await page.goto(`${baseOf(dashboard())}/keys/${keyId}`)
      const title = page.getByRole('heading', { level: 1, name: long })
      for (const width of [640, 768, 820, 1_024]) {
        await page.setViewportSize({ width, height: 800 })
        equal((await linesOf(title)) <= 3, true, `at ${width} pixels`)
      }
      if (before !== null) await page.setViewportSize(before)
    })

    test('leaves the name of a model whole in the table of limits', async () => {
      const { owner } = dashboard()
      const { page } = owner
      const limit = { subject: { kind: 'api-key', id: keyId }, model: 'clarke-1.0', requestsPerMinute: 60_000 }
      await askApi(page, 'PUT', `/api/v1/organizations/${organizationOf(owner)}/limits`, limit)
      await page.goto(`${baseOf(dashboard())}/limits`)
      const model = page.getByRole('row', { name: long }).getByRole('cell', { name: 'clarke-1.0', exact: true })
      equal(await linesOf(model), 1)
    })

    test('begins where the others of its column do, whichever way it is written', async () => {
      const { owner, service } = dashboard()
      const { page } = owner
      for (const name of ['مفتاح', 'Key']) {
        const key = await createKey(page, baseOf(dashboard()), name)
        equal(await askWith(service.address, { key }), 200)
      }
      for (const place of ['requests?range=today', 'keys']) {
        await page.goto(`${baseOf(dashboard())}/${place}`)
        await settled(page)
        const nameOf = (text: RegExp) => page.locator('tr bdi').filter({ hasText: text }).first()
        const [arabic, latin] = [nameOf(/^مفتاح$/), nameOf(/^Key$/)]
        equal(await leftOf(arabic), await leftOf(latin), place)
      }
    })
  })
}

/** Where a text begins on the screen, whatever box it stands in. */
function leftOf(text: Locator): Promise<number> {
  return text.evaluate((element) => {
    const range = document.createRange()
    range.selectNodeContents(element)
    return Math.round(range.getBoundingClientRect().left)
  })
}

/** In how many lines a text stands. */
function linesOf(text: Locator): Promise<number> {
  return text.evaluate((element) => {
    const range = document.createRange()
    range.selectNodeContents(element)
    return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size
  })
}
