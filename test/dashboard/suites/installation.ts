import { equal } from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { madeGguf } from '../../harness/engines/made-gguf.ts'
import { sendFile, startWeightsHub, type WeightsHub } from '../../harness/engines/weights-hub.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

/** What whoever runs the service does in it. */
export function installationSuite(dashboard: () => Dashboard): void {
  suite('weights', () => {
    let hub: WeightsHub
    before(async () => {
      hub = await startWeightsHub((request, response) =>
        sendFile(request, response, { content: madeGguf(), etag: '"1"' }),
      )
    })
    after(() => hub.close())

    test('are fetched in the background, and stand in the list of files', async () => {
      const { page, origin } = dashboard().owner
      await page.goto(`${origin}/installation/models`)
      await page.getByRole('button', { name: 'Fetch weights' }).click()
      const drawer = page.getByRole('dialog', { name: 'Fetch weights' })
      await drawer.getByLabel('Source').fill('no source')
      await drawer.getByRole('button', { name: 'Fetch', exact: true }).click()
      await drawer.getByText('A source is owner/repo/file.gguf').waitFor()
      await drawer.getByLabel('Source').fill(`${hub.address}/made.gguf?key=secret`)
      await drawer.getByRole('button', { name: 'Fetch', exact: true }).click()
      await page.getByRole('row', { name: /made\.gguf/ }).waitFor()
      equal((await page.content()).includes('secret'), false, 'The key of an address is not shown.')
    })

    test('weights that no engine can load leave the model what it had, and the page says why', async () => {
      const { page } = dashboard().owner
      await page.getByRole('button', { name: 'Other weights for tycho-1.0' }).click()
      const drawer = page.getByRole('dialog', { name: 'Weights of tycho-1.0' })
      const choice = drawer.getByLabel('Weights', { exact: true })
      await choice.selectOption({ index: 1 })
      await drawer.getByRole('button', { name: 'Use these weights' }).click()
      await page.getByText('tycho-1.0 keeps its weights.').first().waitFor({ timeout: 60_000 })
      await page
        .getByRole('region', { name: /tycho-1\.0/ })
        .getByText('ready')
        .waitFor()
    })

    test('are deleted by who types their name', async () => {
      const { page } = dashboard().owner
      await page.getByRole('button', { name: /^Delete .*made\.gguf$/ }).click()
      await page.getByLabel('Type made.gguf to go on').fill('made.gguf')
      await page.getByRole('button', { name: 'Delete file' }).click()
      await page.getByText('Nothing was fetched yet').waitFor()
    })
  })

  suite('the installation', () => {
    test('says where each setting comes from, and a link shows the same filter', async () => {
      const { page, origin } = dashboard().owner
      await page.goto(`${origin}/installation/settings?q=port&from=environment`)
      await page.getByRole('row', { name: /^port/ }).getByText('environment').waitFor()
      equal(await page.getByRole('row', { name: /^host/ }).count(), 0)
    })

    test('works out what a price would have cost before it is set', async () => {
      const { page, origin } = dashboard().owner
      await page.goto(`${origin}/installation/prices`)
      // A rate is told to its last digit.
      await page.getByText('$3.7525 a million').first().waitFor()
      await page.getByRole('button', { name: 'Set price' }).first().click()
      const drawer = page.getByRole('dialog', { name: 'Set price' })
      for (const name of ['Input', 'Cache read', 'Cache write, 5 min', 'Cache write, 1 h', 'Output']) {
        await drawer.getByLabel(`${name}, `).fill('1000')
      }
      await drawer.getByRole('button', { name: 'What would it have cost?' }).click()
      await drawer.getByText(/requests since .* would have cost/).waitFor()
      await drawer.getByRole('row', { name: /Acme/ }).waitFor()
      await page.keyboard.press('Escape')
      await drawer.waitFor({ state: 'detached' })
    })

    test('works out what tokens cost at the price in force, to the last digit', async () => {
      const { page } = dashboard().owner
      const calculator = page.getByRole('region', { name: 'What would it cost?' })
      await calculator.getByLabel('Input, tokens').fill('1,000,001')
      await calculator.getByLabel('Cache read, tokens').fill('7')
      await calculator.getByText('Costs $3.000005').waitFor()
      equal(await calculator.getByText('$3.000005').getAttribute('title'), '3.0000051 USD')
      await calculator.getByLabel('Output, tokens').fill('a few')
      await calculator.getByText('A whole number of tokens.').waitFor()
    })

    test('has a log of its own, which is checked in the page', async () => {
      const { page, origin } = dashboard().owner
      await page.goto(`${origin}/installation/audit?action=engines:update`)
      await page
        .getByRole('row', { name: /engines:update/ })
        .first()
        .waitFor()
      await page.getByRole('button', { name: 'Verify' }).click()
      await page
        .getByRole('main')
        .getByText(/\d+ rows, intact\./)
        .waitFor()
    })
  })
}
