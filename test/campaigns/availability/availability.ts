// Months with outages as a script has them: gateways killed, engines that fail, full disks, databases that are away, slow
// tokens, clocks that are wrong. What is reported is held against the script, for each organization and model.

import { computeSla } from '../../../src/billing/availability/report.ts'
import { setObjective, measuredBy } from '../../../src/billing/availability/objectives.ts'
import { createLedger } from '../../../src/billing/ledger/ledger.ts'
import { createDirectLedgerWriter } from '../../../src/billing/ledger/writer/insert-rows.ts'
import { modelIds } from '../../../src/core/model.ts'
import type { Database } from '../../../src/db/database.ts'
import { connectPostgres } from '../../../src/db/open-postgres.ts'
import { openMemoryDatabase } from '../../harness/databases/memory-database.ts'
import { createPostgresDatabase } from '../../harness/databases/shared-postgres.ts'
import { Failures, pause, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { createRandom, type Random } from '../random.ts'
import { kinds, minuteMs, writeScript, type Kind, type Outage, type Script } from './script.ts'
import { agreedMs, organizations, Traffic } from './traffic.ts'
import { isAway, tellTruth, type Stretch } from './truth.ts'
import { createWorld, startGateway, type Gateway, type World } from './world.ts'

const outagesPerMonth = 4
const tickMs = 10_000
/** What is near an outage has traffic and a database; the days in between pass quickly. */
const nearMs = 15 * minuteMs
const uptimePpmMax = 100
const edgeMsMax = 30_000

export async function runAvailability(options: CampaignOptions): Promise<CampaignResult> {
  const { seed, count, log, database = 'sqlite' } = options
  const failures = new Failures()
  const worst = { minutesPpm: 0, requestsPpm: 0, edgeMs: 0 }
  const figures = { outages: 0, months: 0, 'down minutes by the script': 0, requests: 0 }
  for (let number = 0; figures.outages < count; number += 1) {
    const random = createRandom(seed, number)
    const own = Array.from({ length: Math.min(outagesPerMonth, count - figures.outages) }, (_, index) => {
      return kinds[(number * outagesPerMonth + index) % kinds.length] as Kind
    })
    const script = writeScript(random, own)
    const postgres = database === 'postgres' ? await createPostgresDatabase() : null
    const db = postgres === null ? await openMemoryDatabase() : connectPostgres(postgres.url)
    try {
      const { down, requests } = await playMonth(db, { script, random, failures, worst, waitMs: postgres ? 5 : 0 })
      figures['down minutes by the script'] += down
      figures.requests += requests
    } finally {
      await db.destroy()
      await postgres?.drop()
    }
    figures.outages += script.outages.length
    figures.months += 1
    if (figures.months % 10 === 0) log(`${figures.outages} outages, ${failures.count} failures`)
  }
  return failures.toResult({
    ...figures,
    'furthest from the script, minutes (ppm)': worst.minutesPpm,
    'furthest from the script, requests (ppm)': worst.requestsPpm,
    'furthest edge of an interval (ms)': worst.edgeMs,
  })
}

type Played = {
  readonly script: Script
  readonly random: Random
  readonly failures: Failures
  readonly worst: { minutesPpm: number; requestsPpm: number; edgeMs: number }
  /** How long a write may take. */
  readonly waitMs: number
}

async function playMonth(db: Database, played: Played) {
  const { script, random } = played
  const world = createWorld(db, script.fromMs - 4 * 60 * minuteMs)
  await prepare(db, world)
  const traffic = new Traffic(world, random)
  const gateways = Array.from({ length: script.gateways }, () => startGateway(world))
  const events = script.outages.flatMap((outage) => eventsOf(outage, { world, gateways, traffic }))
  await pass(world, { ...played, gateways, traffic, events: events.toSorted((a, b) => a.atMs - b.atMs) })
  world.isDatabaseThere = true
  for (const gateway of gateways) await gateway.signs.close()
  await traffic.refusals.close()
  const ledger = createLedger(createDirectLedgerWriter(db))
  for (let first = 0; first < traffic.entries.length; first += 500) {
    await Promise.all(traffic.entries.slice(first, first + 500).map((entry) => ledger.append(entry)))
  }
  return compare(db, { ...played, traffic, nowMs: world.time.nowMs() })
}

async function prepare(db: Database, { time: clock }: World): Promise<void> {
  for (const id of organizations) {
    await db.insertInto('organizations').values({ id, name: id, created_at: 0, disabled_at: null }).execute()
  }
  const objective = {
    ...measuredBy,
    organizationId: 'org_agreed',
    firstTokenMs: agreedMs,
    effectiveAtMs: null,
  } as const
  await setObjective({ db, clock }, { kind: 'operator' }, objective)
}

type Event = { readonly atMs: number; happen(): void | Promise<void> }
type Stage = { readonly world: World; readonly gateways: Gateway[]; readonly traffic: Traffic }

/** What an outage does, when it begins and when it ends. */
function eventsOf(outage: Outage, stage: Stage): Event[] {
  const { world, gateways } = stage
  const { kind, fromMs, untilMs } = outage
  if (kind === 'gateways restarted in turn') {
    const stepMs = Math.floor((untilMs - fromMs) / (2 * gateways.length))
    return gateways.flatMap((_, index) => [
      { atMs: fromMs + 2 * index * stepMs, happen: () => gateways[index]?.stop() },
      { atMs: fromMs + (2 * index + 1) * stepMs, happen: () => void (gateways[index] = startGateway(world)) },
    ])
  }
  const { begin, end } = changesOf(outage, stage)
  return [
    { atMs: fromMs, happen: () => (world.now.add(outage), begin()) },
    { atMs: untilMs, happen: () => (world.now.delete(outage), end()) },
  ]
}

function changesOf(outage: Outage, { world, gateways, traffic }: Stage): { begin(): void; end(): void } {
  const { kind } = outage
  const restart = (index: number) => (gateways[index] = startGateway(world))
  const setClocks = (errorMs: number) => gateways.forEach((gateway) => (gateway.clockErrorMs = errorMs))
  if (isAway(outage)) {
    return {
      begin: () => gateways.forEach((gateway) => gateway.kill()),
      end: () => void gateways.map((_, i) => restart(i)),
    }
  }
  if (kind === 'one gateway killed') return { begin: () => gateways[0]?.kill(), end: () => void restart(0) }
  if (kind === 'clock a day ahead') return { begin: () => setClocks(86_400_000), end: () => setClocks(0) }
  if (kind === 'clock a day behind') return { begin: () => setClocks(-86_400_000), end: () => setClocks(0) }
  if (kind === 'requests at fault by the thousand') return { begin: () => traffic.storm(5_000), end: () => {} }
  return { begin: () => {}, end: () => {} }
}

type Passing = Played & Stage & { readonly events: readonly Event[] }

/** Lets the month pass, ten seconds at a time, with what happens in between. */
async function pass(
  world: World,
  { script, gateways, traffic, events, waitMs }: Omit<Passing, 'world'>,
): Promise<void> {
  const waiting = [...events]
  const endMs = script.untilMs + 4 * 60 * minuteMs
  for (let atMs = world.time.nowMs(); atMs < endMs; atMs += tickMs) {
    const isNear = script.outages.some(({ fromMs, untilMs }) => atMs > fromMs - nearMs && atMs < untilMs + nearMs)
    const isWithout = [...world.now].some(({ kind }) => kind === 'disk is full' || kind === 'database is away')
    world.isDatabaseThere = isNear && !isWithout
    for (let event = waiting[0]; event !== undefined && event.atMs < atMs + tickMs; event = waiting[0]) {
      waiting.shift()
      await settle(10 * waitMs)
      world.time.advance(Math.max(0, event.atMs - world.time.nowMs()))
      await event.happen()
    }
    world.time.advance(atMs + tickMs - world.time.nowMs())
    if (isNear) traffic.ask(gateways, script.perMinute)
    await settle(isNear ? waitMs : 0)
  }
}

async function settle(waitMs: number): Promise<void> {
  if (waitMs > 0) return pause(waitMs)
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

type Compared = Played & { readonly traffic: Traffic; readonly nowMs: number }

async function compare(db: Database, { script, failures, worst, traffic, nowMs }: Compared) {
  let down = 0
  for (const organizationId of organizations) {
    const { models } = await computeSla(db, { organizationId, month: script.month, currency: 'USD' }, nowMs)
    for (const model of modelIds) {
      const label = `${script.month} ${organizationId} ${model} (${script.outages.map(({ kind }) => kind).join('; ')})`
      const truth = tellTruth(script, organizationId, model, traffic.happened)
      const found = models.find((one) => one.model === model)
      if (found === undefined) {
        failures.add('no numbers', label)
        continue
      }
      down += truth.down
      const minutesPpm = Math.abs(shareOf(truth.minutes, truth.down) - (found.uptimePpm.minutes ?? 0))
      const { valid, bad } = found.requests
      const requestsPpm = Math.abs(shareOf(truth.valid, truth.bad) - (found.uptimePpm.requests ?? 1_000_000))
      worst.minutesPpm = Math.max(worst.minutesPpm, minutesPpm)
      worst.requestsPpm = Math.max(worst.requestsPpm, requestsPpm)
      if (minutesPpm > uptimePpmMax)
        failures.add(`minutes: ${found.minutes.down} down, by the script ${truth.down}`, label)
      if (requestsPpm > uptimePpmMax || valid !== truth.valid || bad !== truth.bad)
        failures.add(`requests: ${bad} of ${valid} bad, by the script ${truth.bad} of ${truth.valid}`, label)
      compareStretches(truth.stretches, found.down, (edgeMs, words) => {
        worst.edgeMs = Math.max(worst.edgeMs, edgeMs)
        if (edgeMs > edgeMsMax) failures.add(words, label)
      })
    }
  }
  return { down, requests: traffic.happened.length }
}

/** As the product counts: in millionths, rounded down. */
function shareOf(all: number, lost: number): number {
  return all === 0 ? 1_000_000 : Math.floor(((all - lost) * 1_000_000) / all)
}

/** Holds each stretch against the reported one that is the nearest, and each reported one against those of the script. */
function compareStretches(
  truth: readonly Stretch[],
  found: readonly Stretch[],
  report: (edgeMs: number, words: string) => void,
): void {
  const distance = (a: Stretch, b: Stretch) => Math.max(Math.abs(a.fromMs - b.fromMs), Math.abs(a.untilMs - b.untilMs))
  const nearest = (one: Stretch, others: readonly Stretch[]) =>
    Math.min(Infinity, ...others.map((other) => distance(one, other)))
  const name = ({ fromMs, untilMs }: Stretch) =>
    `${new Date(fromMs).toISOString()} to ${new Date(untilMs).toISOString()}`
  for (const stretch of truth) report(nearest(stretch, found), `${name(stretch)} is not reported as it was`)
  for (const stretch of found) report(nearest(stretch, truth), `${name(stretch)} is reported and not in the script`)
}
