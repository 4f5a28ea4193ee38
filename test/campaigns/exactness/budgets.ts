// Budgets are set and changed while requests begin and end at several gateways, and at one where the database is
// SQLite. In the end each of them has spent what the ledger holds, to the unit.

import { equal } from 'node:assert/strict'
import { ensureDefaultHome, type Home } from '../../../src/accounts/organizations.ts'
import type { Database } from '../../../src/db/database.ts'
import { rollUp } from '../../../src/billing/usage/roll-up.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { setBudget } from '../../../src/limits/settings/budget-settings.ts'
import { begin, openGateway, readUse, type Gateway } from '../../harness/databases/budgeted-gateway.ts'
import { pause, type Failures } from '../campaign.ts'
import { createRandom, type Random } from '../random.ts'

const clients = 8
const sharedGateways = 3
/** Nobody is refused: what is counted is what is looked at. */
const enough = 1_000_000_000_000
const periods = ['day', 'week', 'month', 'year', 'lifetime'] as const

export type BudgetCourse = {
  readonly db: Database
  readonly isShared: boolean
  readonly seed: number
  /** Requests of all clients together. */
  readonly count: number
  readonly failures: Failures
}

/** Returns how often a budget was set. */
export async function playBudgets({ db, isShared, seed, count, failures }: BudgetCourse): Promise<number> {
  const home = await ensureDefaultHome({ db, clock: systemClock })
  const opening = Array.from({ length: isShared ? sharedGateways : 1 }, () => openGateway(db, isShared))
  const gateways = await Promise.all(opening)
  let left = count
  const client = async (random: Random) => {
    while (left > 0) {
      left -= 1
      const request = await begin(random.pick(gateways), home, random.integer(0, 2_000))
      await pause(random.integer(0, 3))
      await request.end(random.next())
    }
  }
  let sets = 0
  const setter = async (random: Random) => {
    while (left > 0) {
      await setRandomBudget(db, home, random)
      sets += 1
      if (random.chance(0.1)) await rollUp(db)
      await Promise.all(gateways.filter(() => random.chance(0.7)).map(({ limits }) => limits.look()))
      await pause(random.integer(5, 50))
    }
  }
  const working = Array.from({ length: clients }, (_, number) => client(createRandom(seed, number)))
  await Promise.all([...working, setter(createRandom(seed, clients))])
  await compare({ db, home, gateways, isShared, failures })
  return sets
}

async function setRandomBudget(db: Database, { organizationId, projectId }: Home, random: Random): Promise<void> {
  const subject = random.pick([
    { kind: 'organization', id: organizationId },
    { kind: 'project', id: projectId },
  ] as const)
  const most = () => enough + random.integer(0, 1_000)
  const values = random.pick([{ microsMax: most() }, { tokensMax: most() }, { microsMax: most(), tokensMax: most() }])
  const budget = { organizationId, subject, period: random.pick(periods), ...values }
  await setBudget({ db, clock: systemClock }, { kind: 'operator' }, budget)
}

type End = Pick<BudgetCourse, 'db' | 'isShared' | 'failures'> & {
  readonly home: Home
  readonly gateways: readonly Gateway[]
}

/** A gateway by itself knows what is spent; of several, the counters do when all have left. */
async function compare({ db, home, gateways, isShared, failures }: End): Promise<void> {
  await Promise.all(gateways.map(({ limits }) => limits.look()))
  const [first] = gateways
  // A request of nothing makes the ledger be read.
  if (!isShared && first !== undefined) await (await begin(first, home, 0)).end(0)
  const budgets = await db.selectFrom('budgets').selectAll().execute()
  const known = budgets.map(({ id }) => first?.limits.spentOf(id) ?? null)
  for (const gateway of gateways) await gateway.leave()
  for (const [number, budget] of budgets.entries()) {
    const { range, spent } = await readUse(db, home, budget)
    for (const measure of ['micros', 'tokens'] as const) {
      if (budget[`${measure}_max`] === null) continue
      const id = `${budget.id}:${measure}:${range.fromMs}`
      const counter = await db.selectFrom('limit_counters').select('level').where('id', '=', id).executeTakeFirst()
      const found = isShared ? counter?.level : known[number]?.[measure]
      failures.check(`${measure} spent of a budget set under load, by the ${budget.period}`, () =>
        equal(found, spent[measure], budget.id),
      )
    }
  }
}
