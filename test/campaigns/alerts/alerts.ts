// Events are delivered to a receiver that fails at random, hangs and restarts, by a program that is killed again and
// again. Each event arrives, and the first arrivals keep the order.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { appendEvents } from '../../../src/alerts/append-event.ts'
import { createChannel } from '../../../src/alerts/channels.ts'
import { signWebhook } from '../../../src/alerts/webhook.ts'
import type { AlertTopic } from '../../../src/core/alert-topic.ts'
import type { Database } from '../../../src/db/database.ts'
import { openDatabase } from '../../../src/db/open-database.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createPostgresDatabase } from '../../harness/databases/shared-postgres.ts'
import { Failures, pause, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { createRandom, type Random } from '../random.ts'
import { deliveryTimes, sealingKey } from './times.ts'

const program = join(import.meta.dirname, 'delivering-program.ts')
const organizationId = 'org_1'
const topics = ['budget.threshold', 'request.finished', 'usage.hour'] as const satisfies readonly AlertTopic[]
const eventsAtOnce = 50
/** What is left when nobody is killed any more has so long to arrive for each event. */
const waitMsPerEvent = 100

export async function runAlerts({ seed, count, log, database = 'sqlite' }: CampaignOptions): Promise<CampaignResult> {
  const home = mkdtempSync(join(tmpdir(), 'odyssey-alerts-'))
  const postgres = database === 'postgres' ? await createPostgresDatabase('nothing') : null
  const location = { home, databaseUrl: postgres?.url ?? null }
  const db = await openDatabase(location)
  const receiver = await Receiver.open(createRandom(seed, 1))
  const killer = new Killer(location, createRandom(seed, 2))
  try {
    const wanted = { organizationId, kind: 'webhook', name: 'campaign', address: receiver.address, topics } as const
    const parts = { db, clock: systemClock, alertKey: sealingKey, mail: null }
    const { secret } = await createChannel(parts, { kind: 'operator' }, wanted)
    receiver.secret = secret ?? ''
    const killing = killer.run()
    const restarting = receiver.restartAtTimes()
    await append(db, count, log)
    const deadlineMs = performance.now() + 20_000 + count * waitMsPerEvent
    while (receiver.first.size < count && performance.now() < deadlineMs) await pause(20)
    killer.stop()
    receiver.stop()
    await Promise.all([killing, restarting])
    return check(receiver, killer.kills, count)
  } finally {
    killer.stop()
    await receiver.close()
    await db.destroy()
    await postgres?.drop()
    rmSync(home, { recursive: true, force: true })
  }
}

async function append(db: Database, count: number, log: (line: string) => void): Promise<void> {
  for (let first = 0; first < count; first += eventsAtOnce) {
    const numbers = Array.from({ length: Math.min(eventsAtOnce, count - first) }, (_, index) => first + index)
    const events = numbers.map((number) => ({ topic: topics[number % topics.length] ?? topics[0], data: { number } }))
    await db.transaction().execute((transaction) => appendEvents(transaction, Date.now(), { organizationId, events }))
    await pause(10)
  }
  log(`${count} events are written`)
}

function check(receiver: Receiver, kills: number, count: number): CampaignResult {
  const failures = new Failures()
  const lost = Array.from({ length: count }, (_, number) => number).filter((number) => !receiver.first.has(number))
  failures.check('lost', () => deepEqual(lost, []))
  failures.check('forged', () => equal(receiver.forged, 0))
  failures.check('ids', () => equal(new Set(receiver.ids.values()).size, receiver.ids.size, 'Two events have one id.'))
  failures.check('ids', () => equal(receiver.otherIds, 0, 'An event that came again had another id.'))
  for (const [place, topic] of topics.entries()) {
    const arrived = [...receiver.first].filter((number) => number % topics.length === place)
    const sorted = arrived.toSorted((one, other) => one - other)
    failures.check(topic, () => deepEqual(arrived, sorted, 'The order is not kept.'))
  }
  failures.check('kills', () => ok(kills > 0, 'Nothing was killed.'))
  return failures.toResult({
    kills,
    'restarts of the receiver': receiver.restarts,
    'attempts it failed or left hanging': receiver.spoilt,
    'events that came more than once': receiver.accepted - receiver.first.size,
  })
}

/** Answers most of what comes, and lets the rest fail in every way there is. */
class Receiver {
  readonly first = new Set<number>()
  readonly ids = new Map<number, string>()
  secret = ''
  accepted = 0
  spoilt = 0
  restarts = 0
  forged = 0
  otherIds = 0
  readonly #random: Random
  #server: Server
  #port = 0
  #isStopped = false

  private constructor(random: Random) {
    this.#random = random
    this.#server = this.#create()
  }

  static async open(random: Random): Promise<Receiver> {
    const receiver = new Receiver(random)
    await receiver.#listen()
    return receiver
  }

  get address(): string {
    return `http://127.0.0.1:${this.#port}/hook`
  }

  /** Goes away, with what it has under way, and comes back. */
  async restartAtTimes(): Promise<void> {
    while (!this.#isStopped) {
      await pause(this.#random.integer(200, 900))
      if (this.#isStopped) return
      await this.close()
      await pause(this.#random.integer(10, 120))
      this.#server = this.#create()
      await this.#listen()
      this.restarts += 1
    }
  }

  stop(): void {
    this.#isStopped = true
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #create(): Server {
    return createServer((request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (piece: string) => (body += piece))
      request.on('error', () => {})
      request.on('end', () => this.#take(request, body, response))
    })
  }

  async #listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve))
    this.#port = (this.#server.address() as AddressInfo).port
  }

  #take({ headers }: IncomingMessage, body: string, response: ServerResponse): void {
    const id = String(headers['webhook-id'])
    const expected = signWebhook(this.secret, { id, body }, Number(headers['webhook-timestamp']) * 1_000)
    if (headers['webhook-signature'] !== expected['webhook-signature']) this.forged += 1
    const chance = this.#random.integer(0, 1_000)
    if (chance < 40) {
      this.spoilt += 1
      if (chance < 20) response.writeHead(500).end()
      else if (chance < 35) response.socket?.destroy()
      // The others hang until whoever waits is killed, or this receiver restarts.
      return
    }
    const { number } = (JSON.parse(body) as { readonly data: { readonly number: number } }).data
    if ((this.ids.get(number) ?? id) !== id) this.otherIds += 1
    this.ids.set(number, id)
    this.first.add(number)
    this.accepted += 1
    // Some answers are lost on their way: the event has arrived, and comes again.
    if (chance < 50) response.socket?.destroy()
    else response.writeHead(204).end()
  }
}

/** Runs the program that delivers, and kills it at any moment. */
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
        const livesMs = deliveryTimes.leaseMs + this.#random.integer(0, 1_500)
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
