// Three whole services on one PostgreSQL. Whatever each of them is asked, together they keep to the
// limits, the ledger says so, and a key that one of them revokes is refused by all.

import { equal } from 'node:assert/strict'
import { rollUp } from '../../../src/billing/usage/roll-up.ts'
import { verifyLedger } from '../../../src/billing/audits/verify-ledger.ts'
import { Failures, quantile, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { openNoticeFilter } from './notice-filter.ts'
import { playRevocation } from './revocations.ts'
import { createLimitedKeys, playLimits } from './shared-limits.ts'
import { openShared, type Shared } from './start-gateways.ts'

/** From so many rounds on, a round takes its time and times are judged. */
const longRun = 5
const revocationsPerRound = 3
/**
 * For how long each limit is asked for at least, and how often each gateway must have refused a place: whoever has one keeps it
 * where it asks again at once, so that a gateway is refused rarely.
 */
const paces = {
  short: { leastMs: 3_000, refusedPlaces: 1 },
  long: { leastMs: 20_000, refusedPlaces: 5 },
}

export async function runGateways({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  const isLong = count >= longRun
  const pace = isLong ? paces.long : paces.short
  const failures = new Failures()
  const shares = new Map<string, number[]>()
  const tookMs = new Map<string, number[]>()
  const shared = await openShared()
  const filter = await openNoticeFilter(shared.server.url)
  try {
    const rounds = await Promise.all(Array.from({ length: count }, (_, round) => createRound(shared, round)))
    const owner = await shared.createOwner()
    const [through, told, untold] = [await shared.start(), await shared.start(), await shared.start(filter.url)]
    const services = [through, told, untold]
    const others = [
      { name: 'by one that is told', service: told },
      { name: 'by one whose notices are lost', service: untold },
    ]
    for (const [round, { limited, revoked }] of rounds.entries()) {
      await playLimits({ shared, services, keys: limited, seed: seed + round, ...pace, failures, shares })
      for (const key of revoked) {
        await playRevocation({ shared, through, others, owner, key, failures, tookMs, isTimed: isLong })
      }
      log(`${round + 1} of ${count}`)
    }
    for (const service of services) equal(await service.stop(), 0)
    await checkLedger(shared, failures)
  } finally {
    await filter.close()
    await shared.stop()
  }
  return failures.toResult({ ...toShares(shares), ...toTimes(tookMs) })
}

async function createRound(shared: Shared, round: number) {
  const limited = await createLimitedKeys(shared, round)
  const creating = Array.from({ length: revocationsPerRound }, () => shared.createKey(`to be revoked ${round}`))
  return { limited, revoked: await Promise.all(creating) }
}

/** What `odyssey bill verify` does. */
async function checkLedger({ db }: Shared, failures: Failures): Promise<void> {
  await rollUp(db)
  await verifyLedger({ db, currency: 'USD' }, ({ subject, fault }) => failures.add(fault, subject))
}

function toShares(shares: ReadonlyMap<string, readonly number[]>): Record<string, string> {
  return Object.fromEntries(
    [...shares].map(([label, all]) => [`${label}, least used`, `${(Math.min(...all) * 100).toFixed(1)} %`]),
  )
}

function toTimes(tookMs: ReadonlyMap<string, readonly number[]>): Record<string, string> {
  return Object.fromEntries(
    [...tookMs].map(([what, all]) => [
      `${what}, median and longest (ms)`,
      `${Math.round(quantile(all, 0.5))}, ${Math.round(Math.max(...all))}`,
    ]),
  )
}
