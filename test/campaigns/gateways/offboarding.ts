// A directory switches people off through one of three gateways while each of them answers their key. How long it takes
// from the request of the directory to the last byte that any of them sends, and until all refuse the key.

import { equal, ok } from 'node:assert/strict'
import { createApiKey } from '../../../src/accounts/api-keys.ts'
import { createDirectory } from '../../../src/accounts/directory/directories.ts'
import type { MemberId } from '../../../src/core/ids.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { Service } from '../../harness/start-service.ts'
import { Failures, pause, quantile, runCases, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { authorize, exchange } from '../raw-http.ts'
import { beginStream } from './revocations.ts'
import { openShared, type Key, type Shared } from './start-gateways.ts'

/** From so many trials on, times are judged. */
const longRun = 100
const cutMsMax = 1_000
const waitMsMax = 60_000
const atOnce = 2

type Trial = {
  readonly shared: Shared
  readonly services: readonly Service[]
  readonly token: string
  readonly failures: Failures
  readonly cutMs: number[]
  readonly refusedMs: number[]
  /** A stream was asked to come again, and did. */
  onLater(): void
}

export async function runOffboarding({ count, log }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  const [cutMs, refusedMs]: [number[], number[]] = [[], []]
  let later = 0
  const shared = await openShared()
  try {
    const { organizationId } = shared.home
    const accounts = { db: shared.db, clock: systemClock, hashSecret: shared.hashSecret }
    const settings = { organizationId, name: 'Directory', defaultRole: 'developer' } as const
    const { token } = await createDirectory(accounts, operator, settings)
    const services = [await shared.start(), await shared.start(), await shared.start()]
    const trial: Trial = { shared, services, token, failures, cutMs, refusedMs, onLater: () => (later += 1) }
    await runCases(count, atOnce, async (number) => {
      await play(trial, number)
      if (number % 50 === 49) log(`${number + 1} of ${count}`)
    })
    for (const service of services) equal(await service.stop(), 0)
  } finally {
    await shared.stop()
  }
  const most = Math.round(quantile(cutMs, 0.99))
  if (count >= longRun && most > cutMsMax) failures.add(`the last byte came after ${most} ms at the 99th percentile`)
  return failures.toResult({
    'to the last byte, median, P99 and longest (ms)': describe(cutMs),
    'until all refuse the key, median, P99 and longest (ms)': describe(refusedMs),
    'beginnings that were asked to come again': later,
  })
}

const operator = { kind: 'operator' } as const

function describe(times: readonly number[]): string {
  return [0.5, 0.99, 1].map((share) => Math.round(quantile(times, share))).join(', ')
}

async function play(trial: Trial, number: number): Promise<void> {
  const { shared, services, token, failures, cutMs, refusedMs, onLater } = trial
  const through = services[number % services.length] as Service
  const id = await makePerson(through, token, number)
  const key = await makeKey(shared, id, number)
  const streams = await Promise.all(services.map((service) => beginStream(service, key, onLater)))
  const sentMs = performance.now()
  const body = JSON.stringify({ Operations: [{ op: 'replace', path: 'active', value: false }] })
  const path = `/scim/v2/Users/${id}`
  const answer = await exchange(through.address, { method: 'PATCH', path, headers: scimHeaders(token), body })
  failures.check('switch off', () => equal(answer.status, 200, answer.text))
  const ends = streams.map(async (stream) => {
    const hasEnded = await stream.until(({ isComplete }) => isComplete, waitMsMax)
    cutMs.push(performance.now() - sentMs)
    failures.check('a stream', () => ok(hasEnded || stream.isClosed, 'goes on a minute after its owner has left'))
    stream.leave('fin')
  })
  await Promise.all([...ends, ...services.map((service) => waitRefused(service, key))])
  refusedMs.push(performance.now() - sentMs)
}

function scimHeaders(token: string) {
  return [...authorize(token), ['content-type', 'application/scim+json'] as const]
}

async function makePerson({ address }: Service, token: string, number: number): Promise<MemberId> {
  const body = JSON.stringify({ userName: `person${number}@acme.example` })
  const made = await exchange(address, { path: '/scim/v2/Users', headers: scimHeaders(token), body })
  equal(made.status, 201, made.text)
  return (JSON.parse(made.text) as { readonly id: MemberId }).id
}

function makeKey(shared: Shared, ownerId: MemberId, number: number): Promise<Key> {
  const accounts = { db: shared.db, clock: systemClock, hashSecret: shared.hashSecret }
  return createApiKey(accounts, operator, { name: `key ${number}`, ...shared.home, ownerId })
}

async function waitRefused({ address }: Service, { key }: Key): Promise<void> {
  const endMs = performance.now() + waitMsMax
  for (;;) {
    const { status } = await exchange(address, { method: 'GET', path: '/v1/models', headers: authorize(key), body: '' })
    if (status === 401) return
    ok(performance.now() < endMs, `${status} a minute after its owner has left`)
    await pause(10)
  }
}
