// The stream of changes that browsers hear: what was changed and never what it is, only of one's own organizations, and
// nothing more once one's part has changed.

import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Session } from '../../../src/accounts/sign-in/sessions.ts'
import type { OrganizationId } from '../../../src/core/ids.ts'
import type { Topic } from '../../../src/db/tables/changes.ts'
import { EventHub, type HearEvent, type Reader } from '../../../src/http/api/events/event-hub.ts'
import { followEvents } from '../../../src/http/api/events/event-routes.ts'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import { testSignIn } from '../../harness/management.ts'
import { createManualClock } from '../../harness/manual-clock.ts'
import { openManagementService } from '../../harness/management-service.ts'
import { until } from '../../harness/start-service.ts'
import { addRequest, createCompany } from './world.ts'

const lookMs = 1_000

function sessionOf(role: 'owner', organizationId: OrganizationId): Session {
  const principal = { kind: 'member', memberId: 'mem_1', organizationId, role, projectIds: [] } as const
  const membership = { organizationId, principal } as unknown as Session['memberships'][number]
  const user = { kind: 'user', userId: 'user_1', organizationId: null, role: null } as const
  return { id: 'ses_1', principal: user, memberships: [membership] } as unknown as Session
}

function open(session: Session) {
  const clock = createManualClock()
  let hear: HearEvent | null = null
  const now = { isSame: true, hasEnded: false, isStopping: false, hasLeft: false, asked: 0 }
  const hub = {
    hasEnded: () => now.hasEnded,
    subscribe(_: Reader, given: HearEvent) {
      hear = given
      return () => (hear = null)
    },
  } as unknown as EventHub
  const events = followEvents({
    hub,
    clock,
    session,
    isSameAsker() {
      now.asked += 1
      return Promise.resolve(now.isSame)
    },
    isStopping: () => now.isStopping,
    hasLeft: () => now.hasLeft,
  })
  const next = async () => {
    const coming = events.next()
    for (let turn = 0; turn < 20; turn += 1) {
      await new Promise(setImmediate)
      clock.advance(lookMs)
    }
    return (await coming).value ?? null
  }
  return { now, next, tell: (...told: Parameters<HearEvent>) => hear?.(...told), isOpen: () => hear !== null }
}

const own = 'org_own'
const begin = 'retry: 2000\nevent: begin\ndata: {}\n\n'

test('a browser hears of its own organizations alone, and of several changes at once', async () => {
  const { next, tell } = open(sessionOf('owner', own))
  equal(await next(), begin)
  const coming = next()
  tell('requests', 'org_other')
  tell('requests', own)
  tell('requests', own)
  tell('limits', null)
  equal(
    await coming,
    `event: changed\ndata: {"organizationId":"org_own","topics":["requests"]}\n\n` +
      `event: changed\ndata: {"organizationId":null,"topics":["limits"]}\n\n`,
  )
})

test('a browser that hears of nothing is told now and then that the stream is there', async () => {
  const { next } = open(sessionOf('owner', own))
  await next()
  equal(await next(), ': here\n\n')
})

test('somebody whose session is over hears nothing more', async () => {
  const { now, next, tell, isOpen } = open(sessionOf('owner', own))
  await next()
  const coming = next()
  now.hasEnded = true
  tell('requests', own)
  equal(await coming, null)
  equal(isOpen(), false)
})

test('somebody who was given another role hears nothing more, not even of that', async () => {
  const { now, next, tell, isOpen } = open(sessionOf('owner', own))
  await next()
  equal(await next(), ': here\n\n')
  const coming = next()
  now.isSame = false
  tell('access', null)
  equal(await coming, null)
  equal(isOpen(), false)
})

test('what takes a part away as time goes by is noticed within fifteen seconds', async () => {
  const { now, next, isOpen } = open(sessionOf('owner', own))
  await next()
  equal(await next(), ': here\n\n')
  now.isSame = false
  equal(await next(), null)
  equal(isOpen(), false)
})

test('a reader of whom nothing was changed is asked about now and then, and not each second', async () => {
  const { now, next } = open(sessionOf('owner', own))
  await next()
  // Each of these is told after the fifteen looks of a heartbeat.
  for (let beat = 0; beat < 4; beat += 1) equal(await next(), ': here\n\n')
  equal(now.asked <= 8, true, `${now.asked} questions in sixty looks`)
})

test('a browser that reads nothing for long is told a short text then, however much has changed', async () => {
  const { next, tell } = open(sessionOf('owner', own))
  equal(await next(), begin)
  for (let change = 0; change < 100_000; change += 1) {
    tell('requests', own)
    tell('requests', `org_${change}`)
    for (const topic of ['access', 'limits', 'prices'] as const) tell(topic, null)
  }
  const text = await next()
  equal(
    text,
    `event: changed\ndata: {"organizationId":"org_own","topics":["requests"]}\n\n` +
      `event: changed\ndata: {"organizationId":null,"topics":["access","limits","prices"]}\n\n`,
  )
})

test('a service that stops ends the stream', async () => {
  const { now, next } = open(sessionOf('owner', own))
  await next()
  now.isStopping = true
  equal(await next(), null)
})

test('a stream that nobody reads any more ends at once, and not with its next heartbeat', async () => {
  const { next, now, isOpen } = open(sessionOf('owner', own))
  equal(await next(), begin)
  now.hasLeft = true
  equal(await next(), null)
  equal(isOpen(), false)
})

onEachDatabase(({ open: openDatabase }) => {
  test('requests that are settled, by whatever gateway, and changes of the feed are heard of', async () => {
    const service = await openManagementService(await openDatabase())
    const company = await createCompany(service.accounts)
    const { clock, db } = service
    let tellChange: (topic: Topic, counter: number) => void = () => {}
    const subscribers = new Map<Topic, (news: { counter: number; readAtMs: number | null }) => void>()
    const feed = {
      subscribe(topic: Topic, hear: (news: { counter: number; readAtMs: number | null }) => void) {
        subscribers.set(topic, hear)
        return () => subscribers.delete(topic)
      },
    }
    tellChange = (topic, counter) => subscribers.get(topic)?.({ counter, readAtMs: null })
    const hub = new EventHub({ db, clock, feed, signIn: testSignIn })
    const heard: string[] = []
    const stop = hub.subscribe({ name: 'ses_1', sessionId: null }, (topic, organizationId) =>
      heard.push(`${topic} ${organizationId ?? 'all'}`),
    )
    tellChange('access', 7)
    tellChange('access', 7)
    tellChange('access', 8)
    deepEqual(heard, ['access all'], 'What stays as it is is not told.')
    const look = async () => {
      clock.advance(lookMs)
      await new Promise((resolve) => setTimeout(resolve, 5))
      return heard.length > 1
    }
    // What is settled before the first look is over is what a reader already has.
    await until(() => hub.lastSequence !== null, 'The ledger was not looked at.')
    await addRequest(service.accounts, { ...company, apiKeyId: 'key_any' }, { at: clock.nowMs() })
    await until(look, 'The request was not heard of.')
    deepEqual(heard, ['access all', `requests ${company.organizationId}`])
    equal(hub.streamsOf('ses_1'), 1)
    stop()
    equal(hub.size, 0)
    equal(subscribers.size, 0)
    await service.close()
  })
})
