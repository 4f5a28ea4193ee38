// PostgreSQL is away while two gateways are asked without a pause: it refuses connections, or keeps
// them and answers nobody. Whoever was answered meanwhile is in the ledger once, soon after its return.

import { equal } from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { until, type Service } from '../../harness/start-service.ts'
import { describeCounts, Failures, increment, pause, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { checkAnswers, checkRows } from './outage-checks.ts'
import { microsMaxOf, outputPerMinute, type Away, type Course } from './outage-course.ts'
import { kinds, startLoad, type Answer, type Keys, type Load } from './outage-load.ts'
import { openShared, type Shared } from './start-gateways.ts'

const outages = ['refuses', 'hangs'] as const
/** From so many seconds on times are judged. */
const longRunSeconds = 20
const catchUpMsMax = 30_000
const beforeMs = 3_000
/** A machine that does much else may take longer than a run that is judged. */
const waitMsMax = 120_000

/** `count` is how many seconds PostgreSQL is away, once of each kind. */
export async function runOutage({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  const figures: Record<string, string | number> = {}
  const isTimed = count >= longRunSeconds
  const play = async (outage: Course['outage']) => {
    Object.assign(figures, await playOutage({ outage, seconds: count, seed, failures, isTimed }))
    log(`PostgreSQL ${outage}: over`)
  }
  // What is timed has the machine to itself.
  if (isTimed) for (const outage of outages) await play(outage)
  else await Promise.all(outages.map(play))
  return failures.toResult(figures)
}

async function playOutage(course: Course): Promise<Record<string, string | number>> {
  const shared = await openShared()
  try {
    const keys = await createKeys(shared, course)
    const services = [await shared.start(), await shared.start()]
    const load = startLoad({ services, keys, seed: course.seed })
    await pause(beforeMs)
    const away = await beAway(shared, course)
    const caughtUp = await catchUp({ shared, services, load, away }, course)
    await load.end()
    await until(() => spooledFiles(services) === 0, 'The last rows did not get to PostgreSQL.', waitMsMax)
    for (const service of services) equal(await service.stop(), 0)
    checkAnswers(load.answers, away, course)
    await checkRows(shared, { keys, answers: load.answers }, course)
    return describe(course, { answers: load.answers, away, caughtUp })
  } finally {
    await shared.stop()
  }
}

async function createKeys(shared: Shared, course: Course): Promise<Keys> {
  const keys = {
    free: await shared.createKey('free'),
    limited: await shared.createKey('limited'),
    paid: await shared.createKey('paid'),
  }
  await shared.limit(keys.limited, { outputTokensPerMinute: outputPerMinute })
  await shared.budget(keys.paid, { microsMax: microsMaxOf(course) })
  return keys
}

async function beAway({ server }: Shared, { outage, seconds }: Course): Promise<Away> {
  const fromMs = performance.now()
  await (outage === 'hangs' ? server.freeze() : server.kill())
  await pause(seconds * 1_000)
  if (outage === 'hangs') server.thaw()
  else await server.restart()
  return { fromMs, toMs: performance.now() }
}

type Return = {
  readonly shared: Shared
  readonly services: readonly Service[]
  readonly load: Load
  readonly away: Away
}

/** Returns after how many milliseconds what was over. */
async function catchUp(
  { shared: { db }, services, load, away }: Return,
  { failures, outage, isTimed }: Course,
): Promise<Record<string, number>> {
  const times: Record<string, number> = {}
  const untilOver = async (what: string, isOver: () => boolean | Promise<boolean>) => {
    const isReached = await until(isOver, what, waitMsMax).catch(() => false)
    const ms = performance.now() - away.toMs
    times[what] = Math.round(ms)
    const last = load.answers.findLast(({ status }) => status !== 200)?.text.slice(0, 200)
    if (!isReached) failures.add(`${what}: not reached; the last refusal is ${last}`, outage)
    else if (isTimed && ms > catchUpMsMax) failures.add(`${what} took ${Math.round(ms)} ms`, outage)
  }
  const isAnswered = (kind: Answer['kind']) =>
    services.every((_, gateway) =>
      load.answers.some(
        (answer) =>
          answer.kind === kind && answer.gateway === gateway && answer.askedMs > away.toMs && isDecided(answer),
      ),
    )
  await Promise.all([
    untilOver('all rows in PostgreSQL', () => spooledFiles(services) === 0),
    untilOver('key with a limit served', () => isAnswered('limited')),
    untilOver('key with a budget served', () => isAnswered('paid')),
  ])
  const { last } = await db
    .selectFrom('ledger')
    .select(({ fn }) => fn.max('sequence').as('last'))
    .executeTakeFirstOrThrow()
  await untilOver('rollups caught up', async () => {
    const progress = await db.selectFrom('ledger_progress').select('rolled_up_to').executeTakeFirstOrThrow()
    return progress.rolled_up_to >= last
  })
  await untilOver('budget used up', () => isSpent(services, load))
  return times
}

/** Served, or refused because nothing is left: not because nobody knows. */
function isDecided({ status }: Answer): boolean {
  return status === 200 || status === 429
}

function isSpent(services: readonly Service[], { answers }: Load): boolean {
  const refused = answers.filter(({ kind, status }) => kind === 'paid' && status === 429)
  return services.every((_, gateway) => refused.filter((answer) => answer.gateway === gateway).length >= 3)
}

function spooledFiles(services: readonly Service[]): number {
  return services.reduce((sum, { home }) => sum + readdirSync(join(home, 'spool')).length, 0)
}

type Ended = {
  readonly answers: readonly Answer[]
  readonly away: Away
  readonly caughtUp: Readonly<Record<string, number>>
}

function describe({ outage }: Course, { answers, away, caughtUp }: Ended): Record<string, string | number> {
  const during = answers.filter(({ askedMs }) => askedMs > away.fromMs && askedMs < away.toMs)
  const counts = new Map<string, number>()
  for (const { kind, status } of during) increment(counts, `${kind} ${status}`)
  const longest = (kind: Answer['kind']) =>
    Math.round(Math.max(0, ...during.filter((answer) => answer.kind === kind).map(({ tookMs }) => tookMs)))
  const figures = {
    'answers meanwhile': describeCounts(counts),
    'longest answer meanwhile (ms)': kinds.map((kind) => `${kind} ${longest(kind)}`).join(', '),
    'acknowledged, one row each': answers.filter(({ usage }) => usage !== null).length,
    ...Object.fromEntries(Object.entries(caughtUp).map(([what, ms]) => [`${what} after (ms)`, ms])),
  }
  return Object.fromEntries(Object.entries(figures).map(([what, value]) => [`${outage}: ${what}`, value]))
}
