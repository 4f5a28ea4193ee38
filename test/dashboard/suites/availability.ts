// The page of availability over a month that is over: what was promised, what was down and why, what does not count, and
// the signed report; and over one of which nothing is known.

import { generateKeyPairSync } from 'node:crypto'
import { equal, match } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, suite, test } from 'node:test'
import { closeMonths } from '../../../src/billing/availability/close-months.ts'
import { modelIds } from '../../../src/core/model.ts'
import { openDatabase } from '../../../src/db/open-database.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { baseOf } from '../harness/ask.ts'
import { localKey } from '../../../src/lib/signed-note.ts'
import type { Dashboard } from '../harness/use-dashboard.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

export function availabilitySuite(dashboard: () => Dashboard): void {
  suite('availability', () => {
    const now = new Date()
    const beginMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)
    const endMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)
    const month = new Date(beginMs).toISOString().slice(0, 7)
    const open = async (query: string) => {
      const { page } = dashboard().owner
      await page.goto(`${baseOf(dashboard())}/availability${query}`)
      await page.getByRole('heading', { level: 1, name: 'Availability' }).waitFor()
    }

    before(async () => {
      const db = await openDatabase({ home: dashboard().service.home, databaseUrl: null })
      await db
        .updateTable('organizations')
        .set({ created_at: beginMs - dayMs })
        .execute()
      const promised = { availability_ppm: 999_000, basis: 'minutes', down_share_ppm: 50_000 } as const
      const credits = JSON.stringify([{ belowPpm: 999_000, percent: 10 }])
      const objective = { id: 'slo_past', organization_id: '', ...promised, first_token_ms: 2_000, credits } as const
      const since = { effective_at: beginMs - dayMs, created_at: beginMs - dayMs }
      await db
        .insertInto('sla_objectives')
        .values({ ...objective, ...since })
        .execute()
      // Everything ran but for three hours, of which one was announced.
      const downMs = beginMs + 10 * dayMs
      const upMs = downMs + 3 * hourMs
      const spans = ['', ...modelIds].flatMap((subject) => [
        { subject, number: 1, from_at: beginMs, until_at: downMs },
        { subject, number: 2, from_at: upMs, until_at: endMs },
      ])
      for (const { number, ...span } of spans) {
        const boot = { boot_id: `boot_past_${number}`, number: modelIds.indexOf(span.subject as 'hal-1.0') + 2 }
        await db
          .insertInto('life_spans')
          .values({ ...boot, ...span, ended_by: null })
          .execute()
      }
      const maintenance = { id: 'maint_past', reason: 'New disks', announced_at: beginMs, withdrawn_at: null }
      await db
        .insertInto('sla_exclusions')
        .values({ ...maintenance, from_at: downMs, until_at: downMs + hourMs })
        .execute()
      const keys = [localKey(generateKeyPairSync('ed25519').privateKey)]
      await closeMonths({ db, clock: systemClock, currency: 'USD' }, { keys, name: 'test' })
      await db.destroy()
    })

    test('shows for each model what was kept of what was promised, and when and why it was down', async () => {
      const { page } = dashboard().owner
      await open(`?month=${month}`)
      const card = page.getByRole('region', { name: 'hal-1.0' })
      await card.getByText('Below the promise').waitFor()
      match((await card.textContent()) ?? '', /120 of [\d,]+ down/)
      const down = page.getByRole('table', { name: 'When models were down' })
      await down.getByRole('row', { name: /^hal-1\.0 .* 120 .*did not run.* none came$/ }).waitFor()
      const agreed = page.getByRole('region', { name: 'Agreed' })
      match(
        (await agreed.textContent()) ?? '',
        /99\.900 % of minutes, the first token within 2000 ms\. Given back: 10 % of the charges below 99\.900 %.*New disks/,
      )
    })

    test('saves the signed report of a month that is over', async () => {
      const { page } = dashboard().owner
      const saved = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Signed report' }).click()
      const file = await saved
      equal(file.suggestedFilename().endsWith(`-${month}.txt`), true, file.suggestedFilename())
      const text = readFileSync(await file.path(), 'utf8')
      match(text, /^\S+\/sla\/org_/)
      match(text, /\n— \S+\/sla\/org_\S+ \S+\n$/)
    })

    test('keeps the month in the address, also where nothing is known of it', async () => {
      const { page } = dashboard().owner
      const list = page.getByLabel('Month')
      const oldest = (await list.locator('option').last().getAttribute('value')) ?? ''
      await list.selectOption(oldest)
      await page.getByText('Nothing is known of this month.').waitFor()
      await page.reload()
      await page.getByText('Nothing is known of this month.').waitFor()
      equal(await list.inputValue(), oldest)
      match(page.url(), new RegExp(`\\?month=${oldest}$`))
      await open('?month=never')
      await page.getByRole('region', { name: 'Agreed' }).waitFor()
    })
  })
}
