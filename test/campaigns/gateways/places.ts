// Places of requests under way that several gateways share on one PostgreSQL. Clients that wait for each answer are
// never refused, whichever gateways they ask; bursts use all places and not one more, and who is refused was refused
// because all were taken.

import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../../../src/core/error.ts'
import { zeroUsage } from '../../../src/core/generation.ts'
import { connectPostgres } from '../../../src/db/open-postgres.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createSharedAllowances } from '../../../src/limits/leases/shared-allowances.ts'
import type { Limiter } from '../../../src/limits/limiter.ts'
import { createTestLimiter, limitOf, principal } from '../../harness/databases/limiter.ts'
import { createPostgresDatabase } from '../../harness/databases/shared-postgres.ts'
import { Failures, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { createRandom, type Random } from '../random.ts'

const gatewayCounts = [1, 2, 3, 12] as const
const limits = [1, 4, 8] as const
const demands = ['sequential', 'bursty'] as const

/** The share of the places that is under way at one time when more than all are asked for. */
const usableShare = 0.95
/** In a burst so many times as many ask as there are places, and hold them longer than who is refused waits for one. */
const crowd = 3
const holdMs = { sequential: [0, 4], bursty: [1_200, 1_500] } as const
/** A burst takes longer than many answers that are waited for. */
const requestsPerBurst = 10

/** `count` is how many requests each client makes one after the other; there is a burst for every tenth of them. */
export async function runPlaces({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  const figures: Record<string, string> = {}
  const { url, drop } = await createPostgresDatabase('schema')
  try {
    for (const gateways of gatewayCounts) {
      for (const limit of limits) {
        for (const demand of demands) {
          const label = `${gateways} gateways, ${limit} places, ${demand}`
          const played = await play({ url, gateways, limit, demand, count, random: createRandom(seed) })
          check(label, played, { limit, demand, failures })
          const { asked, refused, refusedFalsely, most } = played
          figures[label] = `${asked} asked, ${refused} refused, ${refusedFalsely} of them falsely, ${most} at a time`
          log(`${label}: ${figures[label]}`)
        }
      }
    }
  } finally {
    await drop()
  }
  return failures.toResult(figures)
}

type Course = {
  readonly url: string
  readonly gateways: number
  readonly limit: number
  readonly demand: (typeof demands)[number]
  readonly count: number
  readonly random: Random
}

async function play({ url, gateways, limit, demand, count, random }: Course): Promise<Places> {
  const opened = Array.from({ length: gateways }, () => openGateway(url, `${gateways} ${limit} ${demand}`, limit))
  const places = new Places(limit)
  const [least, longest] = holdMs[demand]
  const ask = async () => {
    const { limiter } = random.pick(opened)
    await places.ask(limiter, random.integer(least, longest))
  }
  if (demand === 'sequential') {
    const client = async () => {
      for (let number = 0; number < count; number += 1) await ask()
    }
    await Promise.all(Array.from({ length: limit }, client))
  } else {
    for (let number = 0; number < count; number += requestsPerBurst)
      await Promise.all(Array.from({ length: crowd * limit }, ask))
  }
  for (const gateway of opened) await gateway.leave()
  return places
}

function openGateway(url: string, name: string, concurrency: number) {
  const db = connectPostgres(url)
  const shared = createSharedAllowances({ db, clock: systemClock, onError() {} })
  const limit = limitOf({ id: `limit ${name}`, concurrency })
  const { limiter, book } = createTestLimiter({ clock: systemClock, limits: [limit], parts: shared })
  const leave = async () => {
    await book.close()
    await db.destroy()
  }
  return { limiter, leave }
}

/** What clients see of the places. */
class Places {
  readonly #limit: number
  #underWay = 0
  #fullAtMs = -Infinity
  asked = 0
  refused = 0
  /** Though not all places were taken at any time between the question and the answer. */
  refusedFalsely = 0
  most = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  async ask(limiter: Limiter, holdMs: number): Promise<void> {
    const askedMs = performance.now()
    const wasFull = this.#underWay >= this.#limit
    this.asked += 1
    try {
      const admission = await limiter.admit({ principal, model: 'clarke-1.0', requestId: `req_${this.asked}` })
      this.#underWay += 1
      this.most = Math.max(this.most, this.#underWay)
      if (this.#underWay >= this.#limit) this.#fullAtMs = performance.now()
      await sleep(holdMs)
      this.#underWay -= 1
      admission.settle({ usage: zeroUsage, costPicos: 0n, atMs: 0 })
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'rate-limited') throw error
      this.refused += 1
      if (!wasFull && this.#fullAtMs < askedMs) this.refusedFalsely += 1
    }
  }
}

function check(
  label: string,
  { refused, refusedFalsely, most }: Places,
  { limit, demand, failures }: Pick<Course, 'limit' | 'demand'> & { readonly failures: Failures },
): void {
  if (most > limit) failures.add(`${most} requests at one time`, label)
  if (refusedFalsely > 0) failures.add(`${refusedFalsely} were refused while places were free`, label)
  if (demand === 'sequential' && refused > 0) failures.add(`${refused} who waited for each answer were refused`, label)
  if (demand === 'bursty' && most < limit * usableShare) failures.add(`only ${most} places could be used`, label)
}
