// Where answers are slow, pages come in parts. No part may push away what somebody is reading already.

import { ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ApiKeyId, OrganizationId, ProjectId } from '../../../src/core/ids.ts'
import { openDatabase } from '../../../src/db/open-database.ts'
import { pagePath, type PageName } from '../../../web/src/app/paths.ts'
import { routes } from '../../../web/src/app/route-table.ts'
import { askApi } from '../harness/ask.ts'
import { slowDown, type Order } from '../harness/measure-shifts.ts'
import { organizationOf } from '../harness/open-dashboard.ts'
import { writeRandomRequests } from '../harness/random-requests.ts'
import { useDashboard, type Dashboard } from '../harness/use-dashboard.ts'
import { furnishOrganization } from '../survey/furnish-organization.ts'

/** A fifth of what counts as good by the measure’s own makers. A row that comes late is about half of it. */
const shiftsMax = 0.02
const requests = 3_000
const dayMs = 86_400_000
const [phone, desk] = [
  { width: 390, height: 844 },
  { width: 1_280, height: 800 },
]
/** A part that comes late jumps where the one above it comes later still, and one that comes early is pushed by it. */
const ways: readonly (readonly [typeof phone, Order])[] = [
  [phone, 'as asked'],
  [phone, 'backwards'],
  [desk, 'backwards'],
]
/** Pages of one size are opened beside each other, since most of the time each of them waits. */
const lanes = 6

let params: Record<string, string> = {}
const dashboard = useDashboard({
  isSetUp: true,
  async prepare(opened) {
    await furnishOrganization(opened.owner.page, organizationOf(opened.owner))
    params = await fill(opened)
  },
})
const names = (Object.keys(routes) as PageName[]).filter((name) => name !== 'start' && routes[name].needs !== 'public')

for (const [viewport, order] of ways) {
  suite(`with answers that come late, ${order}, at ${viewport.width} pixels,`, { concurrency: lanes }, () => {
    for (const name of names) {
      test(`little of the page ${routes[name].title} (${name}) jumps`, async (t) => {
        const { browser, owner } = dashboard()
        const context = await browser.newContext({
          locale: 'en-US',
          timezoneId: 'UTC',
          reducedMotion: 'reduce',
          viewport,
          storageState: await owner.context.storageState(),
        })
        const { measure } = await slowDown(await context.newPage(), order)
        const { sum, furthest } = await measure(owner.origin + pagePath(name, params))
        await context.close()
        t.diagnostic(`${name}: ${sum.toFixed(3)}`)
        ok(sum <= shiftsMax, [sum.toFixed(3), ...furthest].join('\n'))
      })
    }
  })
}

/** Requests of a month by all of the organization’s keys. Resolves with records to look at. */
async function fill({ owner, service }: Dashboard): Promise<Record<string, string>> {
  const organizationId = organizationOf(owner) as OrganizationId
  const list = async <Item>(path: string) => {
    const { body } = await askApi(owner.page, 'GET', `/api/v1/organizations/${organizationId}/${path}`)
    return (body as { readonly data: readonly Item[] }).data
  }
  const keys = await list<{ readonly id: ApiKeyId; readonly projectId: ProjectId }>('api-keys')
  const db = await openDatabase({ home: service.home, databaseUrl: null })
  const nowMs = Date.now()
  const places = keys.map(({ id, projectId }) => ({ apiKeyId: id, projectId }))
  const times = [{ fromMs: nowMs - 30 * dayMs, toMs: nowMs - dayMs / 24 }]
  await writeRandomRequests(db, { count: requests, seed: 7, organizationId, keys: places, times })
  await db.destroy()
  const idOf = async (path: string) => (await list<{ readonly id: string }>(path))[0]?.id ?? ''
  const [entry] = await list<{ readonly requestId: string }>('ledger?limit=1')
  return {
    organizationId,
    apiKeyId: keys[0]?.id ?? '',
    // What others do here is no change of this one.
    memberId: (await list<{ readonly id: string }>('members')).at(-1)?.id ?? '',
    serviceAccountId: await idOf('service-accounts'),
    requestId: entry?.requestId ?? '',
  }
}
