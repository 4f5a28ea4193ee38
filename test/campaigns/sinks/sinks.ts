// The audit is pushed to an HTTPS receiver and to a syslog receiver over TLS which fail at random, hang, leave and
// restart, by a program that is killed again and again; then both receivers are away for a long time while the audit goes
// on. Each row arrives, the first arrivals keep the order, and what comes again has the same id.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSink } from '../../../src/alerts/audit-sinks/sinks.ts'
import type { OrganizationId } from '../../../src/core/ids.ts'
import { change } from '../../../src/db/change.ts'
import type { Database } from '../../../src/db/database.ts'
import { openDatabase } from '../../../src/db/open-database.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createPostgresDatabase } from '../../harness/databases/shared-postgres.ts'
import { deliveryTimes, sealingKey } from '../alerts/times.ts'
import { Failures, pause, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { createRandom, type Random } from '../random.ts'
import { HttpsReceiver, makeCertificate, SyslogReceiver, type Mood } from './receivers.ts'

const program = join(import.meta.dirname, 'pushing-program.ts')
const organizationId: OrganizationId = 'org_1'
const operator = { kind: 'operator' } as const
/** A tenth of the rows is written while both receivers are away: for ten minutes in a long run, and a short time in a short one. */
const awayMsAll = 600_000
const awayMsPerRow = 50
const longRun = 5_000
/** What is left when nothing fails any more has so long to arrive for each row. */
const waitMsPerRow = 100

type Receiver = HttpsReceiver | SyslogReceiver

export async function runSinks({ seed, count, log, database = 'sqlite' }: CampaignOptions): Promise<CampaignResult> {
  const home = mkdtempSync(join(tmpdir(), 'odyssey-sinks-'))
  const postgres = database === 'postgres' ? await createPostgresDatabase('nothing') : null
  const location = { home, databaseUrl: postgres?.url ?? null }
  const db = await openDatabase(location)
  const certificate = makeCertificate(home)
  const receivers = [await new HttpsReceiver(certificate).open(), await new SyslogReceiver(certificate).open()]
  const killer = new Killer(location, createRandom(seed, 1))
  const unrest = new Unrest(receivers, createRandom(seed, 2))
  try {
    for (const receiver of receivers) await addSink(db, receiver, certificate.cert)
    const killing = killer.run()
    const restarting = unrest.run()
    const awayRows = Math.floor(count / 10)
    await append(db, count - awayRows - receivers.length, 5)
    log(`${count - awayRows} rows are written, over ${killer.kills} kills so far`)
    await unrest.end(restarting)
    const awayFrom = performance.now()
    for (const receiver of receivers) await receiver.close()
    await append(db, awayRows, count >= longRun ? awayMsAll / awayRows : awayMsPerRow)
    const awayMs = performance.now() - awayFrom
    for (const receiver of receivers) await receiver.open()
    log(`both receivers were away for ${Math.round(awayMs / 1_000)} s`)
    const deadlineMs = performance.now() + 30_000 + count * waitMsPerRow
    while (receivers.some((one) => arrivalsOf(one).size < count) && performance.now() < deadlineMs) await pause(50)
    killer.stop()
    await killing
    return check(receivers, { killer, unrest, count, awayMs })
  } finally {
    killer.stop()
    for (const receiver of receivers) await receiver.close()
    await db.destroy()
    await postgres?.drop()
    rmSync(home, { recursive: true, force: true })
  }
}

function addSink(db: Database, receiver: Receiver, ca: string) {
  const kind = receiver instanceof HttpsReceiver ? 'webhook' : 'syslog'
  const parts = { db, clock: systemClock, alertKey: sealingKey }
  const wanted = { kind, name: kind, format: 'json', from: 'begin', address: receiver.address, ca } as const
  return createSink(parts, operator, { organizationId, ...wanted })
}

async function append(db: Database, count: number, pauseMs: number): Promise<void> {
  for (let made = 0; made < count; made += 1) {
    const action = { action: 'things:change', organizationId, target: `thing ${made}` }
    await change({ db, clock: systemClock }, operator, action, (_, note) => Promise.resolve(note({}, { made })))
    await pause(pauseMs)
  }
}

/** The id of each row at its first arrival, in their order. */
function arrivalsOf(receiver: Receiver): ReadonlyMap<number, string> {
  const first = new Map<number, string>()
  for (const { sequence, id } of receiver.events) {
    if (sequence !== undefined && id !== undefined && !first.has(sequence)) first.set(sequence, id)
  }
  return first
}

type Done = { readonly killer: Killer; readonly unrest: Unrest; readonly count: number; readonly awayMs: number }

function check(receivers: readonly Receiver[], { killer, unrest, count, awayMs }: Done): CampaignResult {
  const failures = new Failures()
  const expected = Array.from({ length: count }, (_, index) => index + 1)
  const again: Record<string, number> = {}
  for (const receiver of receivers) {
    const name = receiver instanceof HttpsReceiver ? 'HTTPS' : 'syslog'
    const arrivals = arrivalsOf(receiver)
    const lost = expected.filter((sequence) => !arrivals.has(sequence))
    failures.check(`${name} lost`, () => deepEqual(lost, []))
    failures.check(`${name} order`, () => ok([...arrivals.keys()].every((one, index) => one === index + 1)))
    const otherIds = receiver.events.filter(({ sequence = 0, id }) => arrivals.get(sequence) !== id)
    failures.check(`${name} ids`, () => equal(otherIds.length, 0, 'A row that came again had another id.'))
    again[`rows that came more than once to ${name}`] = receiver.events.length - arrivals.size
    if (receiver instanceof SyslogReceiver) failures.check('frames', () => deepEqual(receiver.faults, []))
  }
  failures.check('kills', () => ok(killer.kills > 0, 'Nothing was killed.'))
  return failures.toResult({
    kills: killer.kills,
    'restarts of receivers': unrest.restarts,
    'attempts that were spoilt': unrest.spoilt,
    'seconds away': Math.round(awayMs / 1_000),
    ...again,
  })
}

/** Lets receivers fail in every way there is. */
class Unrest {
  restarts = 0
  spoilt = 0
  readonly #receivers: readonly Receiver[]
  readonly #random: Random
  #isStopped = false

  constructor(receivers: readonly Receiver[], random: Random) {
    this.#receivers = receivers
    this.#random = random
    for (const receiver of receivers) receiver.mood = () => this.#choose()
  }

  #choose(): Mood {
    const chance = this.#random.integer(0, 100)
    if (chance >= 20 || this.#isStopped) return 'take'
    this.spoilt += 1
    if (chance < 7) return 'refuse'
    if (chance < 12) return 'lose'
    // What hangs does so until whoever waits is killed, or this receiver restarts.
    return chance < 17 ? 'leave' : 'hang'
  }

  /** They go away, with what they have under way, and come back. */
  async run(): Promise<void> {
    while (!this.#isStopped) {
      await pause(this.#random.integer(300, 1_200))
      for (const receiver of this.#receivers) {
        await receiver.close()
        await pause(this.#random.integer(10, 120))
        await receiver.open()
        this.restarts += 1
      }
    }
  }

  async end(running: Promise<void>): Promise<void> {
    this.#isStopped = true
    await running
  }
}

/** Runs the program that pushes, and kills it at any moment. */
class Killer {
  kills = 0
  readonly #location: { readonly home: string; readonly databaseUrl: string | null }
  readonly #random: Random
  #child: ChildProcess | null = null
  #isStopped = false

  constructor(location: { readonly home: string; readonly databaseUrl: string | null }, random: Random) {
    this.#location = location
    this.#random = random
  }

  async run(): Promise<void> {
    const { home, databaseUrl } = this.#location
    while (!this.#isStopped) {
      const child = spawn(process.execPath, [program, home, ...(databaseUrl === null ? [] : [databaseUrl])], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      this.#child = child
      const ended = new Promise((resolve) => child.once('close', resolve))
      child.stdout.once('data', () => {
        const livesMs = 3 * deliveryTimes.leaseMs + this.#random.integer(0, 3_000)
        setTimeout(() => child.kill('SIGKILL'), livesMs).unref()
      })
      await ended
      if (!this.#isStopped) this.kills += 1
    }
  }

  stop(): void {
    this.#isStopped = true
    this.#child?.kill('SIGKILL')
  }
}
