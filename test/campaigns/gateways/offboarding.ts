// A directory switches people off through one of three gateways while each of them answers their key, their session and
// the management key that they have made. How long it takes from the request of the directory to the last byte that any
// of them sends, and until all refuse each of these.

import { equal, ok } from 'node:assert/strict'
import { createApiKey } from '../../../src/accounts/api-keys.ts'
import { createDirectory } from '../../../src/accounts/directory/directories.ts'
import { createManagementKey } from '../../../src/accounts/management-keys.ts'
import type { MemberId } from '../../../src/core/ids.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { samePage, signInPerson } from '../../harness/sign-in.ts'
import { until, type Service } from '../../harness/start-service.ts'
import { Failures, pause, quantile, runCases, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { authorize, exchange } from '../raw-http.ts'
import { beginStream } from './revocations.ts'
import { openShared, type Key, type Shared } from './start-gateways.ts'

/** From so many trials on, times are judged. */
const longRun = 100
const cutMsMax = 1_000
const waitMsMax = 60_000
const atOnce = 2
/** Nine things are asked at once for each person, which must not take the machine from the gateways. */
const askPauseMs = 25

type Trial = {
  readonly shared: Shared
  readonly services: readonly Service[]
  readonly token: string
  readonly failures: Failures
  /** When the last stream ended, and when the last request was answered that should not have been, whichever was later. */
  readonly lastMs: number[]
  readonly answeredMs: number[]
  readonly cutMs: number[]
  readonly refusedMs: number[]
  /** A stream was asked to come again, and did. */
  onLater(): void
}

export async function runOffboarding({ count, log }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  const [lastMs, answeredMs, cutMs, refusedMs]: [number[], number[], number[], number[]] = [[], [], [], []]
  let later = 0
  const shared = await openShared()
  try {
    const { organizationId } = shared.home
    const accounts = { db: shared.db, clock: systemClock, hashSecret: shared.hashSecret }
    const settings = { organizationId, name: 'Directory', defaultRole: 'developer' } as const
    const { token } = await createDirectory(accounts, operator, settings)
    const server = { publicUrl: samePage.origin, trustedProxies: ['127.0.0.0/8'] }
    const start = () => shared.start(undefined, { config: { server } })
    const services = [await start(), await start(), await start()]
    const trial: Trial = {
      shared,
      services,
      token,
      failures,
      lastMs,
      answeredMs,
      cutMs,
      refusedMs,
      onLater: () => (later += 1),
    }
    await runCases(count, atOnce, async (number) => {
      await play(trial, number)
      if (number % 50 === 49) log(`${number + 1} of ${count}`)
    })
    for (const service of services) equal(await service.stop(), 0)
  } finally {
    await shared.stop()
  }
  const most = Math.round(quantile(lastMs, 0.99))
  if (count >= longRun && most > cutMsMax) failures.add(`the last byte came after ${most} ms at the 99th percentile`)
  return failures.toResult({
    'until the directory is answered, median, P99 and longest (ms)': describe(answeredMs),
    'to the last byte of an answer under way, median, P99 and longest (ms)': describe(cutMs),
    'to the last byte and the last answer, median, P99 and longest (ms)': describe(lastMs),
    'until all refuse the keys and the session, median, P99 and longest (ms)': describe(refusedMs),
    'beginnings that were asked to come again': later,
  })
}

const operator = { kind: 'operator' } as const

function describe(times: readonly number[]): string {
  return [0.5, 0.99, 1].map((share) => Math.round(quantile(times, share))).join(', ')
}

async function play(trial: Trial, number: number): Promise<void> {
  const { shared, services, token, failures, lastMs, answeredMs, cutMs, refusedMs, onLater } = trial
  const through = services[number % services.length] as Service
  const id = await makePerson(through, token, number)
  const key = await makeKey(shared, id, number)
  const probes = await openProbes(shared, { id, key, number })
  const everywhere = probes.flatMap((probe) => services.map((service) => ({ probe, service })))
  for (const { probe, service } of everywhere) {
    const isTaken = async () => (await ask(service, probe)).status === 200
    await until(isTaken, `${probe.path} is refused before anybody has left`, waitMsMax)
  }
  const streams = await Promise.all(services.map((service) => beginStream(service, key, onLater)))
  const sentMs = performance.now()
  const asking = everywhere.map(({ probe, service }) => askUntilRefused(service, probe))
  const body = JSON.stringify({ Operations: [{ op: 'replace', path: 'active', value: false }] })
  const path = `/scim/v2/Users/${id}`
  const answer = await exchange(through.address, { method: 'PATCH', path, headers: scimHeaders(token), body })
  answeredMs.push(performance.now() - sentMs)
  failures.check('switch off', () => equal(answer.status, 200, answer.text))
  const ends = streams.map(async (stream) => {
    const hasEnded = await stream.until(({ isComplete }) => isComplete, waitMsMax)
    failures.check('a stream', () => ok(hasEnded || stream.isClosed, 'goes on a minute after its owner has left'))
    stream.leave('fin')
    return performance.now() - sentMs
  })
  const cut = await Promise.all(ends)
  const accepted = (await Promise.all(asking)).map((atMs) => atMs - sentMs)
  cutMs.push(...cut)
  lastMs.push(Math.max(...cut, ...accepted))
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

/** Something that lets a person in, as a request shows it. */
type Probe = { readonly path: string; readonly headers: readonly (readonly [string, string])[] }

async function openProbes(
  shared: Shared,
  { id, key, number }: { readonly id: MemberId; readonly key: Key; readonly number: number },
): Promise<readonly Probe[]> {
  const { organizationId } = shared.home
  const accounts = { db: shared.db, clock: systemClock, hashSecret: shared.hashSecret }
  const { headers } = await signInPerson(accounts, { memberId: id })
  const wanted = { name: 'made', role: 'auditor', organizationId, expiresAtMs: null } as const
  const made = await createManagementKey(accounts, operator, wanted)
  await shared.db.updateTable('management_keys').set({ created_by: id }).where('id', '=', made.id).execute()
  // A network of its own, so that no refusal waits for others.
  const from = ['x-forwarded-for', `198.18.${(number >> 8) & 255}.${number & 255}`] as const
  return [
    { path: '/v1/models', headers: [...authorize(key.key), from] },
    { path: '/api/v1/session', headers: [...Object.entries(headers), from] },
    { path: `/api/v1/organizations/${organizationId}/projects`, headers: [...authorize(made.key), from] },
  ]
}

function ask({ address }: Service, { path, headers }: Probe) {
  return exchange(address, { method: 'GET', path, headers, body: '' })
}

/** Asks again and again until it is refused. Returns when the last answer had come before. */
async function askUntilRefused(service: Service, probe: Probe): Promise<number> {
  const endMs = performance.now() + waitMsMax
  let acceptedMs = -Infinity
  for (;;) {
    const { status } = await ask(service, probe)
    if (status === 401) return acceptedMs
    if (status === 200) acceptedMs = performance.now()
    ok(performance.now() < endMs, `${status} for ${probe.path} a minute after its owner has left`)
    await pause(askPauseMs)
  }
}
