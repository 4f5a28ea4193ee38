// Each page when the service fails, and with all that can be chosen on it: what is shown then, and what the address keeps.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { baseOf, goTo, settled } from '../harness/ask.ts'
import { findFaults } from '../harness/find-faults.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

const requestId = 'req_0000000000000000000000'
/** Who has signed in, the stream and what others show around the page are answered as ever. */
const read = /\/api\/v1\/(?!session$|events|organizations\/[^/]+\/(?:projects|members)(?:\?|$))/

type Open = () => { readonly page: Page; readonly address: string }

/** The page says what failed, has the request's id, and shows everything once the service answers again. */
export function testFailure(open: Open): void {
  test('says what failed, breaking no rule of accessibility, and reads it again when it is told to', async () => {
    const { page, address } = open()
    let isAsked = false
    const problem = {
      type: 'urn:odyssey:problem:internal',
      title: 'Internal',
      status: 500,
      detail: '',
      instance: requestId,
    }
    await page.route(read, async (route) => {
      if (route.request().method() !== 'GET') return route.fallback()
      isAsked = true
      await route.fulfill({ status: 500, contentType: 'application/problem+json', body: JSON.stringify(problem) })
    })
    await page.goto(address)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('load')
    await settled(page)
    const failed = page.getByRole('alert').first()
    if (isAsked && (await isSoon(() => failed.isVisible()))) {
      match((await failed.textContent()) ?? '', /could not be read.*Something failed on our side/)
      ok((await failed.textContent())?.includes(requestId))
    }
    deepEqual(await findFaults(page), [])
    await page.unrouteAll({ behavior: 'wait' })
    // Several parts may have failed, and one that is read again may bring another with it.
    await page.waitForFunction(() => {
      for (const button of document.querySelectorAll<HTMLElement>('main [role="alert"] button')) {
        if (button.textContent === 'Try again') button.click()
      }
      return document.querySelector('main [role="alert"]') === null
    })
  })
}

/** What could not be read is not taken for nothing: no page says that there is none of it. */
export function unreadSuite(dashboard: () => Dashboard): void {
  suite('what could not be read', () => {
    const refuse = async (what: RegExp) => {
      const { page } = dashboard().owner
      const problem = { type: 'urn:odyssey:problem:internal', title: 'Internal', status: 500, detail: '' }
      await page.route(what, (route) => route.fulfill({ status: 500, json: problem }))
      return { page, [Symbol.asyncDispose]: () => page.unroute(what) }
    }

    test('is told as the reason why no key can be made, and not that there is no project', async () => {
      await using refused = await refuse(/\/projects\?/)
      const { page } = refused
      await page.goto(`${baseOf(dashboard())}/quickstart`)
      const create = page.getByRole('button', { name: 'Create key' })
      await page.locator('button[title^="The projects could not be read"]').waitFor()
      match((await create.getAttribute('title')) ?? '', /^The projects could not be read\. Load the page anew\.$/)
    })

    test('is not what the browser takes for it that has lost its way to the internet', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/projects`)
      await page.getByRole('heading', { name: 'Projects' }).waitFor()
      await page.evaluate(() => window.dispatchEvent(new Event('offline')))
      await page.getByRole('link', { name: 'Audit log' }).click()
      await page.getByRole('heading', { name: 'Audit log' }).waitFor()
      await page.getByRole('row').nth(1).waitFor()
    })

    test('is no usage of nothing by any project', async () => {
      await using refused = await refuse(/\/usage\?/)
      const { page } = refused
      await page.goto(`${baseOf(dashboard())}/projects`)
      const row = page.getByRole('row').nth(1)
      await row.waitFor()
      await settled(page)
      equal(/0\.00/.test((await row.textContent()) ?? ''), false)
      equal((await row.textContent())?.match(/–/g)?.length, 2)
    })

    test('is not counted as alerts that were not told, nor as channels that nobody has', async () => {
      await using refused = await refuse(/\/(?:alert-channels|alert-events)\b/)
      const { page } = refused
      await page.goto(`${baseOf(dashboard())}/alerts`)
      const rules = page.getByRole('table', { name: 'Rules' })
      await rules.waitFor()
      await page.getByText('The channels could not be read.').waitFor()
      equal(/only here/.test((await rules.textContent()) ?? ''), false)
    })
  })
}

/** What is chosen stands in the address, and loading that anew shows the same. */
export function testAddress(open: Open): void {
  test('shows by a link what was chosen', async () => {
    const { page, address } = open()
    await goTo(page, address)
    await chooseAll(page)
    await settled(page)
    const link = await addressOf(page)
    const shown = await readChoices(page)
    await page.goto('about:blank')
    await page.goto(link)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await settled(page)
    equal(await addressOf(page), link)
    ok(
      await isSoon(async () => JSON.stringify(await readChoices(page)) === JSON.stringify(shown)),
      JSON.stringify(shown),
    )
  })
}

/** Chooses something else in each list, search and group of buttons above what is shown; the address may not know of forms. */
async function chooseAll(page: Page): Promise<void> {
  const lists = page.locator('main select:visible')
  for (let index = 0; index < (await lists.count()); index += 1) {
    const list = lists.nth(index)
    const [before, kept, other] = [await addressOf(page), await list.inputValue(), await otherChoice(list)]
    if (other === null) continue
    // Nobody chooses in a list before they are at it, and what a form held is noted then.
    await list.focus()
    await list.selectOption(other)
    // A choice is written into the address in the same turn.
    if ((await addressOf(page)) === before) await list.selectOption(kept)
  }
  const search = page.locator('main input[type="search"]:visible')
  if ((await search.count()) > 0) {
    await search.first().fill('a')
    await isSoon(async () => (await addressOf(page)).includes('q=a'))
  }
}

/** As the page itself has it: what it has just written there is told to others a moment later. */
function addressOf(page: Page): Promise<string> {
  return page.evaluate(() => window.location.href)
}

function otherChoice(list: ReturnType<Page['locator']>): Promise<string | null> {
  return list.evaluate((element) => {
    const { options, value } = element as HTMLSelectElement
    return [...options].find((option) => option.value !== value && !option.disabled)?.value ?? null
  })
}

function readChoices(page: Page): Promise<readonly string[]> {
  return page
    .locator('main select:visible, main input[type="search"]:visible')
    .evaluateAll((all) => all.map((one) => (one as HTMLSelectElement | HTMLInputElement).value))
}

async function isSoon(holds: () => Promise<boolean>, waitMs = 2_000): Promise<boolean> {
  const endMs = Date.now() + waitMs
  for (;;) {
    if (await holds()) return true
    if (Date.now() > endMs) return false
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
