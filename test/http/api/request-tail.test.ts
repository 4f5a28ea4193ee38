// Requests as they are settled: those of the filters and of the projects that the reader may see, no more than twenty a
// second, and none once the reader's session is over.

import { deepEqual, equal } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { OrganizationId } from '../../../src/core/ids.ts'
import type { Principal } from '../../../src/core/principal.ts'
import type { Reader } from '../../../src/http/api/events/event-hub.ts'
import { EventHub } from '../../../src/http/api/events/event-hub.ts'
import { followRequests, type Tail } from '../../../src/http/api/events/request-tail.ts'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import { createManualClock, type ManualClock } from '../../harness/manual-clock.ts'
import { testSignIn } from '../../harness/management.ts'
import { openManagementService, type ManagementService } from '../../harness/management-service.ts'
import { signInPerson } from '../../harness/sign-in.ts'
import { until } from '../../harness/start-service.ts'
import { addRequest, addRequests, createCompany, type Company } from './world.ts'

const lookMs = 1_000
const key: Reader = { name: 'key', sessionId: null }

onEachDatabase(({ open: openDatabase }) => {
  let service: ManagementService
  let company: Company
  let clock: ManualClock
  let hub: EventHub
  let reading = true

  beforeEach(async () => {
    service = await openManagementService(await openDatabase())
    company = await createCompany(service.accounts)
    clock = createManualClock()
    reading = true
    hub = new EventHub({ db: service.db, clock, feed: { subscribe: () => () => {} }, signIn: testSignIn })
  })
  afterEach(() => service.close())

  /** Follows the company's requests; `heard` is all that was told so far. */
  function follow(principal: Principal, given: Partial<Tail> = {}) {
    const { organizationId } = company
    const whole = { hub, clock, db: service.db, reader: key, endMs: Infinity, filter: { organizationId } }
    const own = { isSameAsker: () => Promise.resolve(true), isStopping: () => !reading, hasLeft: () => false }
    const stream = followRequests({ ...whole, ...own, principal, ...given })
    const heard: string[] = []
    const ended = (async () => {
      for await (const chunk of stream) heard.push(...eventsIn(chunk))
    })()
    return { heard, ended }
  }

  async function look(): Promise<void> {
    clock.advance(lookMs)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }

  async function untilHeard(heard: readonly string[], count: number): Promise<void> {
    await until(async () => {
      await look()
      return heard.length >= count
    }, `Only ${heard.length} of ${count} events were heard.`)
  }

  async function end(...streams: readonly { readonly ended: Promise<void> }[]): Promise<void> {
    reading = false
    let isOver = false
    const all = Promise.all(streams.map(({ ended }) => ended)).then(() => (isOver = true))
    while (!isOver) await look()
    await all
  }

  const whoseOf = ({ organizationId, projectId }: Pick<Company, 'organizationId' | 'projectId'>) =>
    ({ organizationId, projectId, apiKeyId: 'key_any' }) as const
  const settle = (projectId: Company['projectId'], fields = {}, { organizationId } = company) =>
    addRequest(service.accounts, whoseOf({ organizationId, projectId }), fields)

  test('requests of the filters alone are told, and a developer hears only of their own projects', async () => {
    const other = await createCompany(service.accounts)
    const all = follow(company.members.owner)
    const own = follow(company.members.developer)
    const failed = follow(company.members.owner, {
      filter: { organizationId: company.organizationId, outcome: 'failed' },
    })
    const streams = [all, own, failed]
    for (const { heard } of streams) await untilHeard(heard, 1)
    await until(() => hub.lastSequence !== null, 'The ledger was not looked at.')
    const one = await settle(company.projectId)
    const sibling = await settle(company.siblingId, { outcome: 'failed' })
    await settle(other.projectId, {}, other)
    await untilHeard(all.heard, 3)
    await untilHeard(own.heard, 2)
    await untilHeard(failed.heard, 2)
    const last = await settle(company.projectId)
    await untilHeard(all.heard, 4)
    await untilHeard(own.heard, 3)
    deepEqual(all.heard, ['begin', one, sibling, last])
    deepEqual(own.heard, ['begin', one, last])
    deepEqual(failed.heard, ['begin', sibling])
    await end(...streams)
    equal(hub.size, 0)
  })

  test('of more than twenty within a second the newest are told, and how many were passed over', async () => {
    const { heard, ...stream } = follow(company.members.owner)
    await untilHeard(heard, 1)
    await until(() => hub.lastSequence !== null, 'The ledger was not looked at.')
    // One by one they could be told by two looks, of which one was under way already.
    const ids = await addRequests(service.accounts, whoseOf(company), 25)
    await untilHeard(heard, 22)
    deepEqual(heard, ['begin', 'dropped 5', ...ids.slice(5)])
    await end(stream)
  })

  test('readers who follow the same share what is read of the ledger', async () => {
    let reads = 0
    const shared = hub.share.bind(hub)
    hub.share = (name, read) =>
      shared(name, () => {
        reads += 1
        return read()
      })
    const readers = ['one', 'two', 'three'].map((name) =>
      follow(company.members.owner, { reader: { name, sessionId: null } }),
    )
    for (const { heard } of readers) await untilHeard(heard, 1)
    await until(() => hub.lastSequence !== null, 'The ledger was not looked at.')
    await settle(company.projectId)
    for (const { heard } of readers) await untilHeard(heard, 2)
    equal(reads, 1)
    await end(...readers)
  })

  test('nothing more is told once the session is over', async () => {
    const { sessionId } = await signInPerson(
      { ...service.accounts, clock },
      { memberId: company.members.owner.memberId },
    )
    const { heard, ended } = follow(company.members.owner, { reader: { name: 'person', sessionId } })
    await untilHeard(heard, 1)
    await service.db.deleteFrom('sessions').where('id', '=', sessionId).execute()
    let isOver = false
    void ended.then(() => (isOver = true))
    await until(async () => {
      await look()
      return isOver
    }, 'The stream went on.')
    await settle(company.projectId)
    deepEqual(heard, ['begin'])
    equal(hub.size, 0)
  })

  test('it goes on for as long as is asked for', async () => {
    const { heard, ended } = follow(company.members.owner, { endMs: clock.monotonicMs() + 2 * lookMs })
    await untilHeard(heard, 1)
    for (let looks = 0; looks < 3; looks += 1) await look()
    await ended
    deepEqual(heard, ['begin'])
  })

  test('what belongs to an organization is followed by its own people alone', async () => {
    const other = await createCompany(service.accounts)
    const path = `/api/v1/organizations/${other.organizationId satisfies OrganizationId}/requests/tail?seconds=0`
    const { headers } = await signInPerson(service.accounts, { memberId: company.members.owner.memberId })
    equal((await service.ask({ path, headers })).status, 404)
    const own = path.replace(other.organizationId, company.organizationId)
    const answer = await service.ask({ path: own, headers })
    deepEqual([answer.status, eventsIn(answer.text)], [200, ['begin']])
    const { headers: billing } = await signInPerson(service.accounts, { memberId: company.members.billing.memberId })
    equal((await service.ask({ path: own, headers: billing })).status, 403)
  })
})

/** The events of a part of a stream: the ids of requests, how many were passed over, or a name alone. */
function eventsIn(text: string): string[] {
  return [...text.matchAll(/event: (\w+)\ndata: (.*)\n/g)].map(([, name = '', data = '{}']) => {
    const { requestId, dropped } = JSON.parse(data) as { readonly requestId?: string; readonly dropped?: number }
    return requestId ?? (dropped === undefined ? name : `${name} ${dropped}`)
  })
}
