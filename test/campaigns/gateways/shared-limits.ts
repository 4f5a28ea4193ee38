import { deepEqual, equal, ok } from 'node:assert/strict'
import type { Service } from '../../harness/start-service.ts'
import type { Failures } from '../campaign.ts'
import { ask, plainBody, type Body, type Demand, type Served } from './demand.ts'
import { inputOf, placesOf, readRows, requestsTaken, tokensTaken, type Row } from './ledger-of.ts'
import type { Key, Shared } from './start-gateways.ts'
import { bucketGives, mostAtOnce, mostOverBucket, type Take } from './windows.ts'
import type { Random } from '../random.ts'

/** Small enough that three gateways use it up in a few seconds, and large beside a single request. */
const inputPerMinute = 6_000
const outputPerMinute = 3_000
const requestsPerMinute = 120
const placesMax = 4
const microsMax = 6_000

/** The share of what a limit allows that can be used at least. */
const usableShare = 0.95

export type LimitedKeys = Readonly<Record<'input' | 'output' | 'requests' | 'places' | 'money', Key>>

export async function createLimitedKeys(shared: Shared, round: number): Promise<LimitedKeys> {
  const create = (name: string) => shared.createKey(`${name} ${round}`)
  const keys = {
    input: await create('input'),
    output: await create('output'),
    requests: await create('requests'),
    places: await create('places'),
    money: await create('money'),
  }
  // A prompt counts in full, so that nothing is given back and every window can be compared with the ledger.
  await shared.limit(keys.input, { inputTokensPerMinute: inputPerMinute, cachedReadPercent: 100 })
  await shared.limit(keys.output, { outputTokensPerMinute: outputPerMinute })
  await shared.limit(keys.requests, { requestsPerMinute, isRequestsEnforced: true })
  await shared.limit(keys.places, { concurrency: placesMax })
  await shared.budget(keys.money, { microsMax })
  return keys
}

export type LimitRound = {
  readonly shared: Shared
  readonly services: readonly Service[]
  readonly keys: LimitedKeys
  readonly seed: number
  readonly leastMs: number
  readonly refusedPlaces: number
  readonly failures: Failures
  /** The part of what each limit allows that was used in this round; the rounds before it are kept. */
  readonly shares: Map<string, number[]>
}

/** Everything at once: each limit has a key of its own, which knows nothing of the others. */
export async function playLimits(round: LimitRound): Promise<void> {
  await Promise.all([playBuckets(round), playBudget(round)])
  // Answers that take long hold the places, and would keep the other keys' from being made.
  await playPlaces(round)
}

async function playBuckets(round: LimitRound): Promise<void> {
  const short = (random: Random) => plainBody(random, 20, 1)
  await Promise.all([
    playBucket(round, {
      name: 'input',
      perMinute: inputPerMinute,
      body: short,
      takes: (rows) => tokensTaken(rows, inputOf),
    }),
    playBucket(round, {
      name: 'output',
      perMinute: outputPerMinute,
      body: (random) => plainBody(random, 3, random.integer(8, 32)),
      takes: (rows) => tokensTaken(rows, ({ output }) => output),
    }),
    playBucket(round, {
      name: 'requests',
      perMinute: requestsPerMinute,
      body: short,
      takes: (rows, { sentAtMs }) => requestsTaken(rows, sentAtMs),
    }),
  ])
}

type Bucket = {
  readonly name: 'input' | 'output' | 'requests'
  readonly perMinute: number
  body(random: Random): Body
  takes(rows: readonly Row[], served: Served): readonly Take[]
}

async function playBucket(round: LimitRound, { name, perMinute, body, takes }: Bucket): Promise<void> {
  const { shared, keys, failures, leastMs } = round
  const served = await ask(demandOf(round, name, body), leastMs, 20)
  const rows = await readRows(shared.db, keys[name])
  const label = `${name} per minute`
  failures.check(label, () => requireRows(rows, served))
  const taken = takes(rows, served)
  const over = mostOverBucket(taken, perMinute)
  failures.check(label, () => ok(over <= 0, `a window has ${over.toFixed(1)} more than it may`))
  const used = taken.reduce((sum, { amount }) => sum + amount, 0)
  noteShare(round, label, used / bucketGives(perMinute, served.elapsedMs))
}

async function playPlaces(round: LimitRound): Promise<void> {
  const { shared, keys, failures } = round
  const served = await ask(
    demandOf(round, 'places', (random) => plainBody(random, 3, 64)),
    round.leastMs / 2,
    round.refusedPlaces,
  )
  const rows = await readRows(shared.db, keys.places)
  failures.check('concurrency', () => requireRows(rows, served))
  const most = mostAtOnce(placesOf(rows))
  failures.check('concurrency', () => ok(most <= placesMax, `${most} requests at one time`))
  noteShare(round, 'concurrency', most / placesMax)
}

async function playBudget(round: LimitRound): Promise<void> {
  const { shared, keys, failures } = round
  const served = await ask(
    demandOf(round, 'money', (random) => plainBody(random, 20, random.integer(4, 16))),
    0,
    5,
  )
  const rows = await readRows(shared.db, keys.money)
  failures.check('budget', () => requireRows(rows, served))
  const spent = rows.reduce((sum, { cost_micros: cost }) => sum + (cost ?? 0), 0)
  failures.check('budget', () => ok(spent <= microsMax, `${spent} of ${microsMax} were spent`))
  noteShare(round, 'budget', spent / microsMax)
}

function demandOf({ services, keys, seed }: LimitRound, name: keyof LimitedKeys, body: Demand['body']): Demand {
  return { services, key: keys[name].key, clientsEach: name === 'places' ? 3 : 2, seed, body }
}

/** Every answer has its one row, and no row is of an answer that nobody got. */
function requireRows(rows: readonly Row[], { sentAtMs, others }: Served): void {
  const finished = rows.filter(({ outcome }) => outcome === 'finished').map(({ request_id: id }): string => id)
  deepEqual(finished.toSorted(), [...sentAtMs.keys()].toSorted(), 'answers and rows')
  equal(others.length, 0, `an answer was ${others[0] ?? ''}`)
}

function noteShare({ shares, failures }: LimitRound, label: string, share: number): void {
  shares.set(label, [...(shares.get(label) ?? []), share])
  if (share < usableShare) failures.add(`only ${(share * 100).toFixed(1)} % could be used`, label)
}
