// Whether a domain is still the organization's own is asked again each day, of the domain's own servers.

import { deepEqual, equal } from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { checkDomains } from '../../src/accounts/single-sign-on/check-domains.ts'
import { trustDomain } from '../../src/accounts/single-sign-on/domains.ts'
import { findConnectionOf } from '../../src/accounts/single-sign-on/sign-in-by-connection.ts'
import { tellDomains } from '../../src/alerts/rules.ts'
import type { OrganizationId } from '../../src/core/ids.ts'
import { onEachDatabase } from '../harness/databases/databases.ts'
import { domainToken, testSignIn } from '../harness/management.ts'
import { createCompany } from '../http/api/world.ts'
import { openSso, type Sso } from './open-sso.ts'

const operator = { kind: 'operator' } as const
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const record = `odyssey-domain=${domainToken}`

onEachDatabase((database) => {
  let sso: Sso
  let organizationId: OrganizationId
  let count = 0
  let name = ''
  let id = ''
  /** What the domain's servers say; null for nothing at all. */
  let texts: readonly string[] | null = []
  let asked: string[] = []

  before(async () => {
    sso = await openSso(await database.open())
    organizationId = sso.company.organizationId
    await sso.connect()
  })
  after(() => sso.close())

  beforeEach(async () => {
    await sso.service.db.deleteFrom('domains').execute()
    count += 1
    name = `d${count}.example`
    const made = await change('POST', '', { name })
    id = String(made.body['id'])
    await sso.service.db.updateTable('domains').set({ token: domainToken }).execute()
    equal((await change('POST', `/${id}/verify`)).status, 200)
    texts = ['v=spf1 -all', record]
    asked = []
  })

  const change = (method: 'GET' | 'POST' | 'DELETE', path = '', body?: unknown, of = organizationId) =>
    sso.service.ask({
      method,
      path: `/api/v1/organizations/${of}/domains${path}`,
      key: sso.service.key,
      ...(body !== undefined && { body }),
    })
  const iso = (ms: number) => new Date(ms).toISOString()
  const nowMs = () => sso.service.clock.nowMs()

  /** A gateway looks at what is due, after so long. */
  async function look(afterMs: number, meanwhile = async () => {}): Promise<void> {
    sso.service.clock.sleep(afterMs)
    const { db, clock } = sso.service
    const resolveTexts = async (of: string) => {
      asked.push(of)
      await meanwhile()
      return texts
    }
    await checkDomains({ db, clock, resolveTexts })
  }
  async function read() {
    const [domain] = (await change('GET')).body['data'] as readonly Record<string, unknown>[]
    return domain ?? {}
  }
  /** Whether people with its addresses are sent to the organization's provider. */
  const counts = async () => (await findConnectionOf(sso.service.accounts, `ann@${name}`)) !== null
  async function audited(): Promise<readonly string[]> {
    const rows = sso.service.db.selectFrom('audit').select('action').where('target', '=', id).orderBy('sequence')
    return (await rows.execute()).map(({ action }) => action).slice(2)
  }

  test('a record that is there is looked for once a day, by all gateways together', async () => {
    await look(dayMs - 1)
    deepEqual(asked, [])
    await look(1, () => look(0))
    deepEqual(asked, [`_odyssey.${name}`])
    await look(dayMs - 1)
    equal(asked.length, 1)
    await look(1)
    equal(asked.length, 2)
    const { checkedAt, missingSince, lapsesAt } = await read()
    deepEqual([checkedAt, missingSince, lapsesAt], [iso(nowMs()), null, null])
    deepEqual(await audited(), [], 'What stays as it was is no change.')
  })

  test('a domain whose record is gone counts for a week more, and says until when', async () => {
    texts = [record.slice(0, -1)]
    await look(dayMs)
    const missedMs = nowMs()
    const { verifiedAt, missingSince, lapsesAt } = await read()
    deepEqual([typeof verifiedAt, missingSince, lapsesAt], ['string', iso(missedMs), iso(missedMs + 7 * dayMs)])
    await look(hourMs)
    await look(hourMs)
    equal(asked.length, 3, 'It is looked for each hour, so that one that is back is soon found.')
    await look(7 * dayMs - 2 * hourMs - 1)
    equal(await counts(), true)
    await look(hourMs)
    equal(await counts(), false)
    const lapsed = await read()
    deepEqual([lapsed['verifiedAt'], lapsed['missingSince']], [null, iso(missedMs)])
    await look(30 * dayMs)
    equal(asked.length, 5, 'Nobody looks on for it.')
    deepEqual(await audited(), ['domains:miss', 'domains:lapse'])
  })

  test('a record that is back within the week makes the domain what it was', async () => {
    texts = []
    await look(dayMs)
    texts = [record]
    await look(6 * dayMs)
    const { verifiedAt, missingSince, lapsesAt } = await read()
    deepEqual([typeof verifiedAt, missingSince, lapsesAt], ['string', null, null])
    texts = []
    await look(dayMs)
    await look(6 * dayMs)
    equal(await counts(), true, 'The week begins anew.')
    deepEqual(await audited(), ['domains:miss', 'domains:return', 'domains:miss'])
  })

  test('servers that do not answer prove nothing, however long', async () => {
    texts = null
    for (let days = 0; days < 30; days += 1) await look(dayMs)
    equal(await counts(), true)
    texts = []
    await look(hourMs)
    texts = null
    await look(30 * dayMs)
    equal(await counts(), true, 'It lapses when they say again that there is nothing.')
    texts = []
    await look(hourMs)
    equal(await counts(), false)
  })

  test('a domain that the operator vouches for is not looked at', async () => {
    const parts = { ...sso.service.accounts, signIn: testSignIn }
    texts = []
    await look(dayMs)
    await trustDomain(parts, operator, { id, organizationId })
    asked = []
    await look(30 * dayMs)
    const { checkedAt, missingSince } = await read()
    deepEqual([asked, checkedAt, missingSince], [[], null, null])
    equal(await counts(), true)
  })

  test('one that has lapsed is another organization’s as soon as that shows its record, or the first one’s again', async () => {
    texts = []
    await look(dayMs)
    const other = (await createCompany(sso.service.accounts)).organizationId
    const added = await change('POST', '', { name }, other)
    await sso.service.db.updateTable('domains').set({ token: domainToken }).execute()
    const verify = (of: OrganizationId, own: string) => change('POST', `/${own}/verify`, undefined, of)
    equal((await verify(other, String(added.body['id']))).status, 409)
    await look(7 * dayMs)
    equal((await verify(other, String(added.body['id']))).status, 200)
    equal((await verify(organizationId, id)).status, 409)
    await change('DELETE', `/${String(added.body['id'])}`, undefined, other)
    equal((await verify(organizationId, id)).status, 200)
    const { missingSince, lapsesAt } = await read()
    deepEqual([missingSince, lapsesAt], [null, null])
  })

  test('one that is verified or removed while its servers are asked is left alone', async () => {
    texts = []
    await look(dayMs, async () => void (await change('POST', `/${id}/verify`)))
    equal((await read())['missingSince'], null)
    await look(dayMs, async () => void (await change('DELETE', `/${id}`)))
    deepEqual(await audited(), ['domains:verify', 'domains:remove'])
  })

  test('the organization is told once that the record is gone, and once that the domain has lapsed', async () => {
    const { db, clock } = sso.service
    const told = async () => {
      for (let times = 0; times < 2; times += 1) await tellDomains({ db, clock })
      const events = db.selectFrom('alert_events').select(['organization_id', 'topic', 'data'])
      const own = (await events.orderBy('sequence').execute()).filter(({ data }) => data.includes(id))
      return own.map(({ data, ...event }) => ({ ...event, ...(JSON.parse(data) as Record<string, unknown>) }))
    }
    deepEqual(await told(), [])
    texts = []
    await look(dayMs)
    const missing = { missingSince: iso(nowMs()), lapsesAt: iso(nowMs() + 7 * dayMs) }
    const event = { organization_id: organizationId, topic: 'domain.record-missing', domainId: id, domain: name }
    deepEqual(await told(), [{ ...event, isVerified: true, ...missing }])
    await look(7 * dayMs)
    deepEqual(await told(), [
      { ...event, isVerified: true, ...missing },
      { ...event, isVerified: false, ...missing },
    ])
  })
})
