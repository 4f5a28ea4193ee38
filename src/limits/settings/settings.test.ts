import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { openTestFeed } from '../../../test/harness/databases/change-feed.ts'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { ledgerRow } from '../../../test/harness/databases/ledger-row.ts'
import { budgetOf } from '../../../test/harness/databases/limiter.ts'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { until } from '../../../test/harness/start-service.ts'
import { createApiKey, rotateApiKey } from '../../accounts/api-keys.ts'
import { createMember } from '../../accounts/members.ts'
import { createProject, setProjectMember } from '../../accounts/projects.ts'
import { createOrganization, ensureDefaultHome, type Home } from '../../accounts/organizations.ts'
import { insertRows } from '../../billing/ledger/writer/insert-rows.ts'
import { ApiError } from '../../core/error.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { MemberPrincipal } from '../../core/principal.ts'
import type { Role } from '../../core/role.ts'
import type { Database } from '../../db/database.ts'
import { createReadSpent } from '../../inference/read-spent.ts'
import { systemClock } from '../../lib/clock.ts'
import { createLog } from '../../telemetry/log.ts'
import { createAlertRecorder, openLimits } from '../open-limits.ts'
import { listBudgets, raiseBudget, readBudgetAlerts, removeBudget, setBudget } from './budget-settings.ts'
import { listLimits, removeLimit, setLimit } from './limit-settings.ts'
import type { LimitChange } from './change-limits.ts'
import { openSettings } from './live-settings.ts'
import type { LimitSettings } from './setting.ts'

const operator = { kind: 'operator' } as const
const hashSecret = new Uint8Array(32)
const hasCode = (code: string) => (error: unknown) => error instanceof ApiError && error.code === code

onEachDatabase((database) => {
  let db: Database
  let parts: { db: Database; clock: typeof systemClock }
  let home: Home
  let organization: {
    readonly organizationId: Home['organizationId']
    readonly subject: { kind: 'organization'; id: Home['organizationId'] }
  }
  beforeEach(async () => {
    db = await database.open()
    parts = { db, clock: systemClock }
    home = await ensureDefaultHome(parts)
    const { organizationId } = home
    organization = { organizationId, subject: { kind: 'organization', id: organizationId } }
  })
  afterEach(() => db.destroy())

  async function join(role: Role): Promise<MemberPrincipal> {
    const { organizationId } = home
    const person = { email: `${role}@example.org`, name: 'M', role }
    const memberId = await createMember({ ...parts, hashSecret }, operator, { organizationId, ...person })
    return { kind: 'member', memberId, organizationId, role, projectIds: [] }
  }

  test('a limit is set, set anew in its place, and removed, each with its audit row', async () => {
    const place = { ...organization, model: 'hal-1.0' } as const
    const { id } = await setLimit(parts, operator, {
      ...place,
      inputTokensPerMinute: 1_000,
      isRequestsEnforced: true,
      requestsPerMinute: 5,
    })
    assert.equal((await setLimit(parts, operator, { ...place, outputTokensPerMinute: 2_000 })).id, id)
    await setLimit(parts, operator, { ...place, model: '*', concurrency: 3, cachedReadPercent: 0 })
    const limits = await listLimits(parts, operator, home.organizationId)
    const inOrder = limits.toSorted((left, right) => right.model.localeCompare(left.model))
    assert.deepEqual(
      inOrder.map(
        ({
          model,
          inputTokensPerMinute,
          outputTokensPerMinute,
          requestsPerMinute,
          isRequestsEnforced,
          concurrency,
          cachedReadPercent,
        }) => [
          model,
          inputTokensPerMinute,
          outputTokensPerMinute,
          requestsPerMinute,
          isRequestsEnforced,
          concurrency,
          cachedReadPercent,
        ],
      ),
      [
        ['hal-1.0', null, 2_000, null, false, null, 10],
        ['*', null, null, null, false, 3, 0],
      ],
    )
    await removeLimit(parts, operator, { id, organizationId: home.organizationId })
    await assert.rejects(
      removeLimit(parts, operator, { id, organizationId: home.organizationId }),
      hasCode('not-found'),
    )
    const audit = await db.selectFrom('audit').select(['action', 'before', 'after']).where('target', '=', id).execute()
    assert.deepEqual(
      audit.map(({ action }) => action),
      ['limits:set', 'limits:set', 'limits:remove'],
    )
    assert.match(audit[1]?.before ?? '', /"inputTokensPerMinute":1000/)
    assert.equal(audit[2]?.after, null)
  })

  test('a budget is set, set anew in its place, and removed', async () => {
    const place = { ...organization, period: 'month' } as const
    const { id } = await setBudget(parts, operator, {
      ...place,
      microsMax: 9_000_000_000_000_000,
      alertPercents: [80, 50, 80],
    })
    assert.equal((await setBudget(parts, operator, { ...place, tokensMax: 0 })).id, id)
    assert.deepEqual(await listBudgets(parts, operator, home.organizationId), [
      { id, ...place, microsMax: null, tokensMax: 0, alertPercents: [], setBy: 'installation', raise: null },
    ])
    await assert.rejects(removeBudget(parts, operator, { id, organizationId: 'org_other' }), hasCode('not-found'))
    await removeBudget(parts, operator, { id, organizationId: home.organizationId })
    assert.deepEqual(await listBudgets(parts, operator, home.organizationId), [])
  })

  test('a limit or budget without a number that limits, or with one out of range, is refused', async () => {
    const limit = { ...organization, model: '*' } as const
    const invalid = hasCode('invalid-request')
    await assert.rejects(setLimit(parts, operator, limit), invalid)
    await assert.rejects(setLimit(parts, operator, { ...limit, inputTokensPerMinute: 0 }), invalid)
    await assert.rejects(setLimit(parts, operator, { ...limit, inputTokensPerMinute: 1.5 }), invalid)
    await assert.rejects(setLimit(parts, operator, { ...limit, concurrency: 1, cachedReadPercent: 101 }), invalid)
    await assert.rejects(setLimit(parts, operator, { ...limit, model: 'gpt-4o' as 'hal-1.0', concurrency: 1 }), invalid)
    const budget = { ...organization, period: 'day' } as const
    await assert.rejects(setBudget(parts, operator, budget), invalid)
    await assert.rejects(setBudget(parts, operator, { ...budget, microsMax: 2 ** 53 }), invalid)
    await assert.rejects(setBudget(parts, operator, { ...budget, tokensMax: 1, alertPercents: [50, 0] }), invalid)
  })

  test('a developer cannot change limits, and sees those of their own projects alone', async () => {
    const { organizationId, projectId } = home
    const developer: MemberPrincipal = { ...(await join('developer')), projectIds: [projectId] }
    const shown = { id: projectId, organizationId, memberId: developer.memberId, maySee: true }
    await setProjectMember({ ...parts, hashSecret }, operator, shown)
    const project = { organizationId: home.organizationId, subject: { kind: 'project', id: home.projectId } } as const
    await setLimit(parts, operator, { ...project, model: '*', concurrency: 1 })
    await setLimit(parts, operator, { ...organization, model: '*', concurrency: 2 })
    const refused = hasCode('permission-denied')
    await assert.rejects(setLimit(parts, developer, { ...project, model: '*', concurrency: 9 }), refused)
    const budget = { ...project, period: 'day', tokensMax: 1 } as const
    await assert.rejects(setBudget(parts, developer, budget), refused)
    await setBudget(parts, await join('billing'), budget)
    const seen = await listLimits(parts, developer, home.organizationId)
    assert.deepEqual(
      seen.map(({ concurrency }) => concurrency),
      [1],
    )
  })

  test('what the installation has set an organization neither changes nor removes nor raises, and its own it does', async () => {
    const { organizationId } = home
    const owner = await join('owner')
    const refused = hasCode('permission-denied')
    const limit = { ...organization, model: '*', concurrency: 2 } as const
    const budget = { ...organization, period: 'month', tokensMax: 100 } as const
    const [held, capped] = [await setLimit(parts, operator, limit), await setBudget(parts, operator, budget)]
    const raise = { microsMax: null, tokensMax: 1_000, untilMs: Date.now() + 60_000 }
    const ofBudget = { id: capped.id, organizationId }
    await assert.rejects(setLimit(parts, owner, { ...limit, concurrency: 9 }), refused)
    await assert.rejects(removeLimit(parts, owner, { id: held.id, organizationId }), refused)
    await assert.rejects(setBudget(parts, owner, { ...budget, tokensMax: 1_000 }), refused)
    await assert.rejects(raiseBudget(parts, owner, { ...ofBudget, raise }), refused)
    await raiseBudget(parts, operator, { ...ofBudget, raise })
    await assert.rejects(raiseBudget(parts, owner, { ...ofBudget, raise: null }), refused)
    await assert.rejects(removeBudget(parts, owner, ofBudget), refused)
    const [limitNow] = await listLimits(parts, owner, organizationId)
    const [budgetNow] = await listBudgets(parts, owner, organizationId)
    assert.deepEqual([limitNow, budgetNow], [held, { ...capped, raise }])
    const own = await setLimit(parts, owner, { ...limit, model: 'hal-1.0' })
    const ownBudget = await setBudget(parts, owner, { ...budget, period: 'day' })
    assert.deepEqual([own.setBy, ownBudget.setBy], ['organization', 'organization'])
    assert.equal((await setBudget(parts, owner, { ...budget, period: 'day', tokensMax: 5 })).tokensMax, 5)
    await removeLimit(parts, owner, { id: own.id, organizationId })
    // What the installation sets in its place is the installation's from then on.
    await setBudget(parts, operator, { ...budget, period: 'day' })
    await assert.rejects(removeBudget(parts, owner, { id: ownBudget.id, organizationId }), refused)
  })

  test('a developer sees the limits and budgets of the keys in their own projects, and of no others', async () => {
    const { organizationId } = home
    const accounts = { ...parts, hashSecret }
    const siblingId = await createProject(accounts, operator, { organizationId, name: 'Sibling' })
    const make = async (projectId: ProjectId) =>
      (await createApiKey(accounts, operator, { organizationId, projectId, name: 'k' })).id
    const [own, other] = [await make(home.projectId), await make(siblingId)]
    for (const id of [own, other]) {
      const whose = { organizationId, subject: { kind: 'api-key', id } } as const
      await setLimit(parts, operator, { ...whose, model: '*', concurrency: 1 })
      await setBudget(parts, operator, { ...whose, period: 'day', tokensMax: 1 })
    }
    // The key that replaces another has the limits of the first, which is gone one day.
    await rotateApiKey(accounts, operator, { id: own, organizationId }, 0)
    const seenBy = async (projectIds: readonly ProjectId[]) => {
      const developer = { kind: 'member', memberId: 'mem_1', organizationId, role: 'developer', projectIds } as const
      const limits = await listLimits(parts, developer, organizationId)
      const budgets = await listBudgets(parts, developer, organizationId)
      return [...limits, ...budgets].map(({ subject }) => subject.id)
    }
    assert.deepEqual(await seenBy([home.projectId]), [own, own])
    assert.deepEqual(await seenBy([siblingId]), [other, other])
    assert.deepEqual(await seenBy([]), [])
  })

  test('a limit of what another organization has, or nobody, is refused', async () => {
    const other = await createOrganization({ ...parts, hashSecret }, operator, { name: 'Other' })
    const subjects = [
      { kind: 'organization', id: other.organizationId },
      { kind: 'project', id: other.projectId },
      { kind: 'project', id: 'proj_nobody' },
      { kind: 'api-key', id: 'key_nobody' },
    ] as const
    for (const subject of subjects) {
      const owner = { organizationId: home.organizationId, subject }
      await assert.rejects(setLimit(parts, operator, { ...owner, model: '*', concurrency: 1 }), hasCode('not-found'))
      await assert.rejects(setBudget(parts, operator, { ...owner, period: 'day', tokensMax: 1 }), hasCode('not-found'))
    }
    assert.deepEqual(await db.selectFrom('limits').selectAll().execute(), [])
    const refused = await db.selectFrom('audit').select('id').where('action', '=', 'limits:set').execute()
    assert.deepEqual(refused, [])
  })

  test('a gateway puts a change that was made elsewhere into force within a second', async () => {
    const clock = createManualClock()
    const seen: LimitSettings[] = []
    const feed = openTestFeed(db, clock)
    const live = await openSettings({
      db,
      feed,
      onChange: (settings) => void seen.push(settings),
      onError: assert.fail,
    })
    assert.equal(seen.length, 1)
    await setLimit(parts, operator, { ...organization, model: '*', concurrency: 4 })
    clock.advance(1_000)
    await until(() => seen.length === 2, 'The change was not noticed.')
    assert.equal(seen[1]?.limits[0]?.concurrency, 4)
    await live.look()
    assert.equal(seen.length, 2)
    live.stop()
    await feed.close()
  })

  test('a gateway puts its own change into force without reading, and reads all where another came between', async () => {
    let reads = 0
    const feed = openTestFeed(db, createManualClock())
    const seen: LimitSettings[] = []
    const live = await openSettings({
      db: db.withPlugin({
        transformQuery({ node }) {
          reads += 1
          return node
        },
        transformResult: ({ result }) => Promise.resolve(result),
      }),
      feed,
      onChange: (settings) => void seen.push(settings),
      onError: assert.fail,
    })
    const before = reads
    const here = { ...parts, limitsChanged: (change: LimitChange) => live.apply(change) }
    const limit = await setLimit(here, operator, { ...organization, model: '*', concurrency: 1 })
    await setBudget(here, operator, { ...organization, period: 'day', tokensMax: 5 })
    await setLimit(here, operator, { ...organization, model: '*', concurrency: 2 })
    assert.deepEqual(seen.at(-1)?.limits, [{ ...limit, concurrency: 2 }])
    assert.equal(seen.at(-1)?.budgets.length, 1)
    await removeLimit(here, operator, { id: limit.id, organizationId: home.organizationId })
    assert.deepEqual(seen.at(-1)?.limits, [])
    assert.equal(reads, before)
    await setLimit(parts, operator, { ...organization, model: 'hal-1.0', concurrency: 3 })
    await setLimit(here, operator, { ...organization, model: 'tycho-1.0', concurrency: 4 })
    assert.deepEqual(
      // The order in which limits are read is not promised.
      new Set(seen.at(-1)?.limits.map(({ concurrency }) => concurrency)),
      new Set([3, 4]),
    )
    assert.ok(reads > before)
    live.stop()
    await feed.close()
  })

  test('an alert is written down once for a budget and period', async () => {
    const lines: unknown[] = []
    const log = { ...createLog('silent'), warn: (line: unknown) => void lines.push(line) } as ReturnType<
      typeof createLog
    >
    const { alert } = createAlertRecorder({ db, clock: systemClock, log })
    const budget = budgetOf({ ...organization, microsMax: 10, alertPercents: [50] })
    const spent = (micros: number) => () => Promise.resolve({ micros, tokens: 0 })
    for (const micros of [5, 6]) alert(budget, { percent: 50, periodStart: 1_000 }, spent(micros))
    alert(budget, { percent: 50, periodStart: 2_000 }, spent(7))
    await until(() => lines.length === 2, 'The alert was not logged.')
    const rows = await db.selectFrom('budget_alerts').select('period_start').orderBy('period_start').execute()
    assert.deepEqual(
      rows.map(({ period_start }) => period_start),
      [1_000, 2_000],
    )
    const read = await readBudgetAlerts(db, { ...budget, alertPercents: [50, 90] }, 2_000)
    assert.deepEqual(
      read.map(({ percent, reachedAtMs }) => [percent, reachedAtMs !== null]),
      [
        [50, true],
        [90, false],
      ],
    )
  })

  test('an alert that comes due while the database is away is written down once it is back', async () => {
    const clock = createManualClock()
    const lines = { error: 0, warn: 0 }
    const log = {
      ...createLog('silent'),
      error: () => (lines.error += 1),
      warn: () => (lines.warn += 1),
    } as unknown as ReturnType<typeof createLog>
    const { alert, stop } = createAlertRecorder({ db, clock, log })
    let isAway = true
    const away = () => Promise.reject(new Error('The database is away.'))
    const readSpent = () => (isAway ? away() : Promise.resolve({ micros: 5, tokens: 0 }))
    const budget = budgetOf({ ...organization, microsMax: 10, alertPercents: [50] })
    alert(budget, { percent: 50, periodStart: 1_000 }, readSpent)
    for (let minute = 0; minute < 5; minute += 1) {
      await turn()
      clock.advance(60_000)
    }
    isAway = false
    await turn()
    clock.advance(60_000)
    await until(() => lines.warn === 1, 'The alert was not written down.')
    const rows = await db.selectFrom('budget_alerts').select(['period_start', 'percent', 'spent_micros']).execute()
    assert.deepEqual(
      rows.map((row) => Object.values(row)),
      [[1_000, 50, 5]],
    )
    assert.equal(lines.error, 1, 'What fails for hours is said once.')
    let tries = 0
    alert(budget, { percent: 50, periodStart: 2_000 }, () => {
      tries += 1
      return away()
    })
    await turn()
    stop()
    clock.advance(600_000)
    assert.equal(tries, 1, 'Nothing is tried once the service stops.')
  })

  test('an alert that a process ended before it could write down is written once after the start, without a request', async () => {
    const nowMs = systemClock.nowMs()
    await setBudget(parts, operator, {
      ...organization,
      period: 'lifetime',
      microsMax: 1_000,
      alertPercents: [50, 80, 100],
    })
    const own = { organization_id: home.organizationId, project_id: home.projectId, at: nowMs }
    const cost = { price_id: 'price_1', cost_micros: 950, cost_rest_picos: 0 } as const
    await insertRows(db, [{ ...ledgerRow(1), ...own, ...cost }])
    const told: unknown[] = []
    const warn = ({ alert_percent: percent }: { readonly alert_percent: number }) => void told.push(percent)
    const log = { ...createLog('silent'), warn } as unknown as ReturnType<typeof createLog>
    let reads = 0
    const read = createReadSpent(db)
    const readSpent: typeof read = (...asked) => {
      reads += 1
      return read(...asked)
    }
    const feed = openTestFeed(db, systemClock)
    const start = () => openLimits({ db, feed, clock: systemClock, log, readSpent, requestsPerKeyMax: null })
    const first = await start()
    await until(() => told.length === 2, 'The alerts were not written down.')
    await first.close()
    const second = await start()
    await until(() => reads === 2, 'The second process did not look.')
    await second.close()
    const rows = await db.selectFrom('budget_alerts').select(['percent', 'spent_micros']).orderBy('percent').execute()
    assert.deepEqual(
      rows.map((row) => Object.values(row)),
      [
        [50, 950],
        [80, 950],
      ],
    )
    assert.equal(told.length, 2, 'Nothing is told again.')
    await feed.close()
  })
})
