// Budgets are set, changed and removed while requests run: what is spent of each is what the ledger holds, and what
// is reserved is what the requests under way have reserved, whoever was there first.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import {
  begin,
  openGateway,
  readUse,
  type Gateway,
  type Request,
} from '../../test/harness/databases/budgeted-gateway.ts'
import { onEachDatabase } from '../../test/harness/databases/databases.ts'
import { ensureDefaultHome } from '../accounts/organizations.ts'
import { rollUp } from '../billing/usage/roll-up.ts'
import type { Database } from '../db/database.ts'
import { systemClock } from '../lib/clock.ts'
import { removeBudget, setBudget } from '../limits/settings/budget-settings.ts'

const operator = { kind: 'operator' } as const
const clock = systemClock

type Step = { readonly kind: 'begin' | 'end' | 'set' | 'remove' | 'roll up'; readonly number: number }

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom<Step['kind']>('begin', 'begin', 'begin', 'end', 'end', 'set', 'set', 'remove', 'roll up'),
    number: fc.nat(999),
  }),
  { minLength: 10, maxLength: 60 },
)

/** Never refused, so that everything runs; what is counted is what is looked at. */
const enough = 1_000_000_000

onEachDatabase(({ name, open }) => {
  const opened: Database[] = []
  const leaving: Gateway[] = []
  after(async () => {
    for (const gateway of leaving) await gateway.leave().catch(() => {})
    for (const db of opened) await db.destroy()
  })

  test('whenever budgets are set and changed, what is spent and reserved of them is counted once', async () => {
    const db = await open()
    opened.push(db)
    const home = await ensureDefaultHome({ db, clock })
    const isShared = name === 'PostgreSQL'
    const parts = { db, clock }
    await fc.assert(
      fc.asyncProperty(steps, async (course) => {
        const gateways = await Promise.all(Array.from({ length: isShared ? 3 : 1 }, () => openGateway(db, isShared)))
        leaving.push(...gateways)
        const underWay = new Set<Request>()
        const ending: Promise<void>[] = []
        for (const { kind, number } of course) {
          const gateway = gateways[number % gateways.length]!
          if (kind === 'begin') underWay.add(await begin(gateway, home, number))
          if (kind === 'end') {
            const [request] = [...underWay].slice(number % Math.max(1, underWay.size))
            if (request === undefined) continue
            underWay.delete(request)
            ending.push(request.end(number / 1_000))
          }
          if (kind === 'set') await set(number)
          if (kind === 'remove') await remove(number)
          if (kind === 'roll up') await rollUp(db)
          // Each hears of a change by itself: one may have opened a shared counter before another knows of the budget.
          if (number % 3 === 0) await gateways[Math.floor(number / 3) % gateways.length]!.limits.look()
          await turn()
        }
        await Promise.all(ending)
        await Promise.all(gateways.map(({ limits }) => limits.look()))
        if (!isShared) await checkCounted(gateways[0]!, underWay)
        for (const request of underWay) await request.end(0.5)
        for (const gateway of leaving.splice(0)) await gateway.leave()
        if (isShared) await checkCounters()
        for (const budget of await budgets()) await remove(0, budget.id)
      }),
      { numRuns: isShared ? 15 : 60 },
    )

    async function set(number: number): Promise<void> {
      const kinds = ['organization', 'project'] as const
      const kind = kinds[number % 2]!
      const id = kind === 'organization' ? home.organizationId : home.projectId
      const values = [{ microsMax: enough }, { tokensMax: enough }, { microsMax: enough, tokensMax: enough - number }]
      const period = number % 5 === 0 ? 'month' : 'day'
      const { organizationId } = home
      await setBudget(parts, operator, {
        organizationId,
        subject: { kind, id } as never,
        period,
        ...values[number % 3],
      })
    }

    function budgets() {
      return db.selectFrom('budgets').selectAll().execute()
    }

    async function remove(number: number, id?: string): Promise<void> {
      const all = await budgets()
      const removed = id ?? all[number % Math.max(1, all.length)]?.id
      if (removed !== undefined)
        await removeBudget(parts, operator, { id: removed, organizationId: home.organizationId })
    }

    /** A request of nothing makes the ledger be read. */
    async function checkCounted(gateway: Gateway, underWay: ReadonlySet<Request>): Promise<void> {
      const last = await begin(gateway, home, 0)
      const all = [...underWay, last]
      const sumOf = (measure: 'micros' | 'tokens') => all.reduce((sum, { reserved }) => sum + reserved[measure], 0)
      for (const budget of await budgets()) {
        const { spent } = await readUse(db, home, budget)
        const reserved = gateway.limits.reservedOf(budget.id)
        for (const measure of ['micros', 'tokens'] as const) {
          if (budget[`${measure}_max`] === null) continue
          assert.equal(reserved?.[measure], sumOf(measure))
          assert.equal(gateway.limits.spentOf(budget.id)?.[measure], spent[measure])
        }
      }
      await last.end(0)
    }

    /** When all gateways have left, the counters hold what the ledger holds. */
    async function checkCounters(): Promise<void> {
      for (const budget of await budgets()) {
        const { range, spent } = await readUse(db, home, budget)
        for (const measure of ['micros', 'tokens'] as const) {
          const id = `${budget.id}:${measure}:${range.fromMs}`
          const counter = await db.selectFrom('limit_counters').selectAll().where('id', '=', id).executeTakeFirst()
          const limit = measure === 'micros' ? budget.micros_max : budget.tokens_max
          if (counter !== undefined && limit !== null)
            assert.equal(counter.level, spent[measure], `${measure} of ${id}`)
        }
        const leases = await db.selectFrom('limit_leases').selectAll().execute()
        assert.deepEqual(leases, [])
      }
    }
  })
})
