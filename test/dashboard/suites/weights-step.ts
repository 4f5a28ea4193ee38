// The step for weights after a service was set up: what fits this machine is fetched with its progress, or left.

import { after, before, suite, test } from 'node:test'
import { equal, match } from 'node:assert/strict'
import { madeGguf } from '../../harness/engines/made-gguf.ts'
import { sendFile, startWeightsHub, type WeightsHub } from '../../harness/engines/weights-hub.ts'
import { baseOf } from '../harness/ask.ts'
import { findFaults } from '../harness/find-faults.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

export function weightsStepSuite(dashboard: () => Dashboard): void {
  suite('the step for weights', () => {
    let hub: WeightsHub
    before(async () => {
      hub = await startWeightsHub((request, response) =>
        sendFile(request, response, { content: madeGguf(), etag: '"1"' }),
      )
      // The pages before may be of no organization.
      const { page, origin } = dashboard().owner
      await page.goto(origin)
      await page.waitForURL(/\/o\//)
    })
    after(() => hub.close())
    const step = () => dashboard().owner.page.getByRole('region', { name: '5 · Weights for this machine' })

    test('is shown to who has set the service up, says what fits, and breaks no rule of accessibility', async () => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/quickstart`)
      await page.getByRole('region', { name: '4 · Test it' }).waitFor()
      equal(await step().count(), 0, 'Others do not come from the setup.')
      await page.goto(`${baseOf(dashboard())}/quickstart?first=1`)
      await step()
        .getByText(/This machine has .* of memory/)
        .waitFor()
      await step().getByRole('table', { name: 'Weights to begin with' }).getByRole('row').nth(1).waitFor()
      equal((await findFaults(page)).join(' '), '')
    })

    test('offers first what is for the model that is chosen', async () => {
      const first = step().getByRole('table', { name: 'Weights to begin with' }).getByRole('row').nth(1)
      for (const model of ['tycho-1.0', 'hal-1.0', 'clarke-1.0']) {
        await step().getByLabel('For', { exact: true }).selectOption(model)
        await first.getByText(model).waitFor()
      }
    })

    test('fetches what is chosen in the background, and says what came of it', async () => {
      const { page } = dashboard().owner
      const source = `${hub.address}/made.gguf`
      const known = { name: 'Made', source, bytes: 1_000, models: ['tycho-1.0'], fit: 'beside' }
      await page.route('**/api/v1/installation/weights/recommended', (route) =>
        route.fulfill({ json: { data: [known], next: null } }),
      )
      await page.reload()
      await step().getByLabel('For', { exact: true }).selectOption('none')
      await step().getByRole('button', { name: 'Fetch Made' }).click()
      const work = page.getByRole('region', { name: 'Work on weights' })
      await work
        .getByText(/made\.gguf/)
        .first()
        .waitFor()
      await work.getByText('done').first().waitFor({ timeout: 60_000 })
      await page.unrouteAll({ behavior: 'wait' })
    })

    test('is left by a click, for good', async () => {
      const { page } = dashboard().owner
      await step().getByRole('button', { name: 'Done with weights' }).click()
      await step().waitFor({ state: 'detached' })
      await page.reload()
      await page.getByRole('region', { name: '4 · Test it' }).waitFor()
      const kept = await page.evaluate(() => JSON.stringify(localStorage))
      match(kept, /weights-step/)
      equal(await step().count(), 0)
    })
  })
}
