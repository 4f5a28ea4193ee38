// Every page of the table looked at closely: by the rules of axe in both themes, opened by a link, with words that are two
// fifths longer, where the service fails, and with 200 hostile names in every field.

import { deepEqual, ok } from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { guideGroups, slugOf } from '../../../web/guides/guide-list.ts'
import { goTo, settled } from '../harness/ask.ts'
import { findFaults, fitsItsWidth, themeRules, widerTables, widestOf } from '../harness/find-faults.ts'
import { isPublic, narrow, pages, useHostileDashboard, wide } from '../harness/hostile-dashboard.ts'
import { openDashboard } from '../harness/open-dashboard.ts'
import { stretchText } from '../harness/stretch-text.ts'
import { testAddress, testFailure } from '../suites/states.ts'

const { dashboard, reader, addressOf, breakouts, addOtherNames, faults } = useHostileDashboard({ names: 20 })
const phone = { width: 390, height: 844 }

for (const [name, { title }] of pages) {
  suite(`the page ${title}`, () => {
    const open = () => ({ page: reader(name).page, address: addressOf(name) })

    before(async () => {
      const { page, address } = open()
      await page.setViewportSize(wide)
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
      await page.goto(address)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await settled(page)
    })

    test('breaks no rule of accessibility in the light theme', async () => {
      deepEqual(await findFaults(open().page), [])
    })

    test('breaks no rule of accessibility that the dark theme can break', async () => {
      const { page } = open()
      await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
      deepEqual(await findFaults(page, null, themeRules), [])
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
    })

    if (isPublic(name)) return
    testAddress(open)
    testFailure(open)
  })
}

suite('words that are two fifths longer, and wider spacing,', () => {
  for (const [name, { title }] of pages) {
    test(`are held by the page ${title} on a phone and on a desk`, async () => {
      const { page } = reader(name)
      await page.emulateMedia({ reducedMotion: 'reduce' })
      await page.goto(addressOf(name))
      await page.getByRole('heading', { level: 1 }).waitFor()
      await settled(page)
      await page.evaluate(() => document.fonts.ready)
      for (const viewport of [narrow, wide]) {
        await page.setViewportSize(viewport)
        deepEqual(await stretchText(page), [])
      }
    })
  }
})

suite('200 hostile names', () => {
  before(async () => {
    await dashboard().owner.page.setViewportSize(wide)
    await addOtherNames()
  })

  for (const [name, { title }] of pages.filter(([one]) => !isPublic(one))) {
    test(`stay names on the page ${title}, and leave it as wide as it is`, async () => {
      const { page } = dashboard().owner
      await goTo(page, addressOf(name))
      deepEqual(breakouts().found, [])
      ok(await fitsItsWidth(page), await widestOf(page))
      await page.setViewportSize(narrow)
      const wider = await widerTables(page)
      await page.setViewportSize(wide)
      deepEqual(wider, [], 'On a phone')
    })
  }
})

test('the guides are within reach of everybody: each by day or by night, on a desk or on a phone', async () => {
  const { browser, service } = dashboard()
  const stranger = await openDashboard(browser, service)
  const { page, origin } = stranger
  const found: string[] = []
  for (const [at, slug] of ['', ...guideGroups.flatMap(({ files }) => files.map(slugOf))].entries()) {
    await page.setViewportSize(at % 2 === 0 ? phone : wide)
    await page.emulateMedia({ colorScheme: at % 4 < 2 ? 'light' : 'dark' })
    await page.goto(slug === '' ? `${origin}/docs?q=budget` : `${origin}/docs/guides/${slug}`)
    await page.locator('main p, main td').first().waitFor()
    found.push(...(await findFaults(page)).map((fault) => `${slug}: ${fault}`))
    if (!(await fitsItsWidth(page))) found.push(`${slug}: too wide`)
  }
  deepEqual(found, [])
  deepEqual(stranger.faults, [])
  await stranger.context.close()
})

test('no page broke the content policy, and no program failed', () => deepEqual(faults(), []))
