// Where alerts go: a channel is made, tried, changed and removed in the page, and a silence is set and ended.

import { equal, match, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { until } from '../../harness/start-service.ts'
import { askApi, baseOf } from '../harness/ask.ts'
import { organizationOf } from '../harness/open-dashboard.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

export function channelsSuite(dashboard: () => Dashboard): void {
  suite('channels for alerts', () => {
    const rowOf = (name: RegExp) =>
      dashboard().owner.page.getByRole('table', { name: 'Channels' }).getByRole('row', { name })
    const choose = async (name: string, action: string) => {
      const { page } = dashboard().owner
      await page.getByRole('button', { name: `Actions for ${name}` }).click()
      await page.getByRole('menuitem', { name: action }).click()
    }

    test('one into the log is made, and a test arrives there', async () => {
      const { owner, service } = dashboard()
      const { page } = owner
      await page.goto(`${baseOf(dashboard())}/alerts`)
      await page.getByRole('button', { name: 'Add channel' }).click()
      const drawer = page.getByRole('dialog', { name: 'Add channel' })
      await drawer.getByLabel('Goes to').selectOption('log')
      await drawer.getByLabel('Name').fill('Our log')
      equal(await drawer.getByRole('checkbox').count(), 8, 'A log is not told of every request.')
      await drawer.getByRole('button', { name: 'Add channel' }).click()
      await rowOf(/^Our log.*Nothing sent yet/).waitFor()
      await choose('Our log', 'Send a test')
      await rowOf(/^Our log.*Arrives/).waitFor()
      // What the service prints comes here by a way of its own.
      await until(() => /channel\.test/.test(JSON.stringify(service.output())), 'The log has no test.')
    })

    test('one to a webhook shows its secret once, and says why a test does not arrive', async () => {
      const { page } = dashboard().owner
      await page.getByRole('button', { name: 'Add channel' }).click()
      const drawer = page.getByRole('dialog', { name: 'Add channel' })
      await drawer.getByLabel('Name').fill('On call')
      await drawer.getByLabel('Address').fill('not an address')
      await drawer.getByRole('button', { name: 'Add channel' }).click()
      await drawer.getByText('A webhook needs an address with http or https').waitFor()
      await drawer.getByLabel('Address').fill('http://127.0.0.1:9/hook?token=very-secret')
      await drawer.getByRole('button', { name: 'Add channel' }).click()
      const shown = page.getByRole('dialog', { name: 'The channel is ready' })
      match((await shown.getByRole('region', { name: 'Signing secret' }).textContent()) ?? '', /^whsec_\S{20,}$/)
      await shown.getByRole('button', { name: 'Done' }).click()
      await rowOf(/^On call http:\/\/127\.0\.0\.1:9/).waitFor()
      const asking = page.getByRole('table', { name: 'Rules' }).getByText('Our log').locator('..').first()
      equal(await asking.textContent(), 'Our log, On call')
      await choose('On call', 'Send a test')
      await rowOf(/^On call.*Failed (?:once|\d+ times)/).waitFor()
      ok(!(await page.content()).includes('very-secret') && !(await page.content()).includes('whsec_'))
    })

    test('one to a mailbox says why there is none where no relay is set', async () => {
      const { page } = dashboard().owner
      await page.getByRole('button', { name: 'Add channel' }).click()
      const drawer = page.getByRole('dialog', { name: 'Add channel' })
      await drawer.getByLabel('Goes to').selectOption('email')
      await drawer.getByLabel('Name').fill('Mailbox')
      await drawer.getByLabel('Address').fill('on-call@example.com')
      await drawer.getByRole('button', { name: 'Add channel' }).click()
      await drawer.getByText('its operator has set no relay').waitFor()
      await page.keyboard.press('Escape')
      await drawer.waitFor({ state: 'detached' })
    })

    test('one is renamed, disabled and removed', async () => {
      const { page } = dashboard().owner
      await choose('On call', 'Edit…')
      const drawer = page.getByRole('dialog', { name: 'Edit “On call”' })
      await drawer.getByLabel('Name').fill('Night shift')
      await drawer.getByRole('checkbox', { name: 'Every request' }).check()
      await drawer.getByRole('button', { name: 'Save' }).click()
      await rowOf(/^Night shift.*Every request/).waitFor()
      await choose('Night shift', 'Disable')
      await rowOf(/^Night shift.*Disabled/).waitFor()
      await choose('Night shift', 'Remove…')
      await page.getByRole('button', { name: 'Remove channel' }).click()
      await rowOf(/^Night shift/).waitFor({ state: 'detached' })
      await rowOf(/^Our log/).waitFor()
    })

    test('one whose receiver refused events as too large says how many were given up, and which last', async () => {
      const { page } = dashboard().owner
      const list = /\/alert-channels(?:\?|$)/
      await page.route(list, async (route) => {
        const response = await route.fetch()
        const body = (await response.json()) as { readonly data: readonly Record<string, unknown>[] }
        const data = body.data.map((channel) => ({ ...channel, givenUp: 2, lastGivenUp: 'evt_last' }))
        await route.fulfill({ response, json: { ...body, data } })
      })
      await page.goto(`${baseOf(dashboard())}/alerts`)
      await rowOf(/^Our log.*2 events were too large for the receiver and given up, last evt_last\./).waitFor()
      await page.unroute(list)
      await page.goto(`${baseOf(dashboard())}/alerts`)
      await rowOf(/^Our log/).waitFor()
    })

    test('a sink of the audit whose receiver refused rows as too large says so on the page of the log', async () => {
      const { owner } = dashboard()
      const { page } = owner
      const path = `/api/v1/organizations/${organizationOf(owner)}/audit-sinks`
      const wanted = { kind: 'webhook', name: 'Watchers', address: 'https://siem.example.com/in' }
      const made = await askApi(page, 'POST', path, wanted)
      equal(made.status, 200, JSON.stringify(made.body))
      const { id } = (made.body as { readonly sink: { readonly id: string } }).sink
      const list = /\/audit-sinks(?:\?|$)/
      await page.route(list, async (route) => {
        const response = await route.fetch()
        const body = (await response.json()) as { readonly data: readonly Record<string, unknown>[] }
        const data = body.data.map((sink) => ({ ...sink, givenUp: 1, lastGivenUp: 'org_1 99' }))
        await route.fulfill({ response, json: { ...body, data } })
      })
      await page.goto(`${baseOf(dashboard())}/audit`)
      const row = page.getByRole('table', { name: 'Sinks of the log' }).getByRole('row', { name: /^Watchers/ })
      await row.getByText('One row was too large for the receiver and given up, last org_1 99.').waitFor()
      await page.unroute(list)
      equal((await askApi(page, 'DELETE', `${path}/${id}`)).status, 204)
      await page.goto(`${baseOf(dashboard())}/audit`)
      await page.getByRole('table', { name: 'Changes, newest first' }).waitFor()
      await row.waitFor({ state: 'detached' })
      await page.goto(`${baseOf(dashboard())}/alerts`)
    })

    test('a silence stands in the list until it is ended', async () => {
      const { owner } = dashboard()
      const { page } = owner
      await page.getByRole('button', { name: 'Silence…' }).click()
      const drawer = page.getByRole('dialog', { name: 'Silence' })
      await drawer.getByLabel('Not told of').selectOption('budget.threshold')
      await drawer.getByLabel('For').selectOption('720')
      await drawer.getByLabel('Reason').fill('Known, being raised')
      await drawer.getByRole('button', { name: 'Silence', exact: true }).click()
      const row = page
        .getByRole('table', { name: 'Silences' })
        .getByRole('row', { name: /A share of a budget.*Known, being raised/ })
      await row.waitFor()
      await row.getByRole('button', { name: 'End now' }).click()
      await page.getByText('Everything that happens is sent.').waitFor()
      const path = `/api/v1/organizations/${organizationOf(owner)}/alert-silences`
      await until(async () => {
        const { body } = await askApi(page, 'GET', path)
        return (body as { readonly data: readonly unknown[] }).data.length === 0
      }, 'The silence goes on.')
    })
  })
}
