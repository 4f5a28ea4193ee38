// Clients repeat requests as the official libraries do, and as nobody should, while the service is stopped and killed
// and starts again on the same data. What each of them saw decides what the ledger may say of its requests, row by row.

import { equal } from 'node:assert/strict'
import type { Database } from '../../../src/db/database.ts'
import { openDatabase } from '../../../src/db/open-database.ts'
import { openPostgres } from '../../../src/db/open-postgres.ts'
import { setPrice } from '../../../src/billing/prices/prices.ts'
import type { Rates } from '../../../src/billing/prices/price.ts'
import { createManualClock } from '../../harness/manual-clock.ts'
import { startService, until, type Service } from '../../harness/start-service.ts'
import { describeCounts, increment, pause, type Failures } from '../campaign.ts'
import { models } from '../plain-requests.ts'
import { createRandom, type Random } from '../random.ts'
import { judge } from './judge-attempts.ts'
import { playAttempt, type Attempt } from './play-attempt.ts'
import { makeBody } from './repeated-bodies.ts'

/** More than may ask at a time with one key, so that some are refused. */
const clientsAtOnce = 10
const perKeyMax = 7
const attemptsMax = 3
const ends = ['kill', 'stop', 'kill', 'stop in a hurry'] as const

export type StopsCourse = {
  readonly databaseUrl: string | null
  readonly seed: number
  /** Requests of all clients together that are let in, about. */
  readonly count: number
  readonly stops: number
  readonly failures: Failures
  log(line: string): void
}

type Course = StopsCourse & {
  service: Service
  /** What the service is called: it has another number after each start. */
  instance: number
  isUp: boolean
  bodies: number
  readonly attempts: Attempt[]
  /** How each of the service's lives ended. */
  readonly lives: ('SIGTERM' | 'SIGKILL')[]
}

/** Returns what was counted. */
export async function playStops(options: StopsCourse): Promise<Readonly<Record<string, string | number>>> {
  const { service, db, rates } = await startPriced(options)
  try {
    const lives: Course['lives'] = ['SIGTERM']
    const course: Course = { ...options, service, instance: 1, isUp: true, bodies: 0, attempts: [], lives }
    for (let round = 0; round < options.stops; round += 1) await playRound(course, round)
    await settle(course, db)
    const reversed = await judge({ ...course, db, rates })
    const outcomes = new Map<string, number>()
    for (const { end } of course.attempts) increment(outcomes, end)
    return {
      'requests of clients': course.attempts.length,
      'seen by them': describeCounts(outcomes),
      repetitions: course.attempts.filter(({ number }) => number > 0).length,
      'stops and kills': course.lives.length - 1,
      'charges voided': reversed,
    }
  } finally {
    await db.destroy()
  }
}

type Priced = { readonly service: Service; readonly db: Database; readonly rates: ReadonlyMap<string, Rates> }

/** Prices of yesterday are known to a service that starts today; a file is there only when one has started. */
async function startPriced({ databaseUrl, seed }: StopsCourse): Promise<Priced> {
  const random = createRandom(seed, 1)
  const server = databaseUrl === null ? null : await openPostgres(databaseUrl)
  const before = server === null ? null : await setPrices(server, random)
  await server?.destroy()
  const service = await startService({
    environment: { DATABASE_URL: databaseUrl ?? '' },
    config: {
      limits: { concurrentRequestsPerKeyMax: perKeyMax },
      billing: { reversalsPerKeyDayMax: 1_000_000 },
      server: { drainSeconds: 10 },
    },
  })
  const db = await openDatabase({ home: service.home, databaseUrl })
  if (before !== null) return { service, db, rates: before }
  const rates = await setPrices(db, random)
  await service.stop()
  return { service: await service.restart(), db, rates }
}

async function setPrices(db: Database, random: Random): Promise<ReadonlyMap<string, Rates>> {
  const clock = createManualClock(Date.now() - 86_400_000)
  const rates = new Map<string, Rates>()
  for (const model of models) {
    const rate = () => random.integer(1, 20_000_003)
    const input = rate()
    const own = {
      input,
      cacheRead: random.integer(0, input),
      cacheWriteShort: rate(),
      cacheWriteLong: rate(),
      output: rate(),
    }
    rates.set(model, own)
    const price = { organizationId: null, model, currency: 'USD', effectiveAtMs: clock.nowMs() + 3_600_000, rates: own }
    await setPrice({ db, clock, currency: 'USD' }, { kind: 'operator' }, price)
  }
  return rates
}

async function playRound(course: Course, round: number): Promise<void> {
  const random = createRandom(course.seed, 100 + round)
  const target = Math.ceil((course.count * (round + 1)) / course.stops)
  let isOver = false
  const clients = Array.from({ length: clientsAtOnce }, async (_, client) => {
    const own = createRandom(course.seed, 100_000 + round * clientsAtOnce + client)
    while (!isOver) await playBody(course, own)
  })
  await until(() => letIn(course) >= target, 'The clients do not get on.', 300_000)
  await pause(random.integer(0, 300))
  // From here on nobody begins, until the service is there again; what is under way may see its end.
  const end = ends[round % ends.length] ?? 'kill'
  await endService(course, end)
  isOver = end !== 'kill'
  course.service = await course.service.restart()
  course.instance += 1
  course.isUp = true
  isOver = true
  await Promise.all(clients)
  course.log(`${end}: ${letIn(course)} of ${course.count}`)
}

/** How many were more than turned away. */
function letIn({ attempts }: Course): number {
  return attempts.filter(({ end }) => end !== 'refused').length
}

async function endService(course: Course, end: (typeof ends)[number]): Promise<void> {
  const { service } = course
  if (end === 'kill') {
    await service.stop('SIGKILL')
    course.lives.push('SIGKILL')
  } else {
    const stopped = service.stop('SIGTERM')
    // Some still come and are refused, as they are while a service drains.
    await pause(150)
    course.isUp = false
    if (end === 'stop in a hurry') void service.stop('SIGTERM')
    const code = await stopped
    course.failures.check('an orderly stop', () => equal(code, 0))
    course.lives.push('SIGTERM')
  }
  course.isUp = false
}

async function playBody(course: Course, random: Random): Promise<void> {
  const number = (course.bodies += 1)
  const body = makeBody(random, number)
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    await until(() => course.isUp, 'The service does not come back.', 120_000)
    const { service, instance } = course
    const played = await playAttempt(service, body, { random, number: attempt, instance })
    course.attempts.push(played)
    if (played.end === 'nothing') await pause(20)
    // Not as long as they are told to: others have a place much sooner.
    if (played.end === 'refused') await pause(random.integer(20, 200))
    // The libraries repeat what broke off or was refused; what was read whole is repeated by whoever wants it for nothing.
    if (!random.chance(played.end === 'whole' ? 0.25 : 0.85)) return
  }
}

/** All that waits is decided: the time for which gateways that are gone are waited for is taken off it. */
async function settle(course: Course, db: Database): Promise<void> {
  await course.service.stop('SIGTERM')
  course.lives.push('SIGTERM')
  const waiting = () => db.selectFrom('repetitions').select('request_id').execute()
  if ((await waiting()).length === 0) return
  await db
    .updateTable('repetitions')
    .set(({ eb, ref }) => ({ at: eb(ref('at'), '-', 60_000) }))
    .execute()
  course.service = await course.service.restart()
  await until(async () => (await waiting()).length === 0, 'A void is never decided.', 60_000)
  await course.service.stop('SIGTERM')
}
