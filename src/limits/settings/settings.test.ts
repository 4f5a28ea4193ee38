import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases.ts'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { until } from '../../../test/harness/start-service.ts'
import { ensureDefaultHome, type Home } from '../../accounts/organizations.ts'
import { ApiError } from '../../core/error.ts'
import type { MemberPrincipal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import { systemClock } from '../../lib/clock.ts'
import { createLog } from '../../telemetry/log.ts'
import { createAlert } from '../budgets/record-alert.ts'
import { listBudgets, removeBudget, setBudget } from './budget-settings.ts'
import { listLimits, removeLimit, setLimit } from './limit-settings.ts'
import { watchSettings, type LimitSettings } from './watch-settings.ts'

const operator = { kind: 'operator' } as const
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

  test('a limit is set, set anew in its place, and removed, each with its audit row', async () => {
    const place = { ...organization, model: 'hal-1.0' } as const
    const id = await setLimit(parts, operator, {
      ...place,
      inputTokensPerMinute: 1_000,
      isRequestsEnforced: true,
      requestsPerMinute: 5,
    })
    assert.equal(await setLimit(parts, operator, { ...place, outputTokensPerMinute: 2_000 }), id)
    await setLimit(parts, operator, { ...place, model: '*', concurrency: 3, cachedReadPercent: 0 })
    const limits = await listLimits(parts, operator, home.organizationId)
    assert.deepEqual(
      limits.map(
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
    assert.equal(await removeLimit(parts, operator, { id, organizationId: home.organizationId }), true)
    assert.equal(await removeLimit(parts, operator, { id, organizationId: home.organizationId }), false)
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
    const id = await setBudget(parts, operator, { ...place, microsMax: 9_000_000_000_000_000, alertPercent: 80 })
    assert.equal(await setBudget(parts, operator, { ...place, tokensMax: 0 }), id)
    assert.deepEqual(await listBudgets(parts, operator, home.organizationId), [
      { id, ...place, microsMax: null, tokensMax: 0, alertPercent: null },
    ])
    assert.equal(await removeBudget(parts, operator, { id, organizationId: 'org_other' }), false)
    assert.equal(await removeBudget(parts, operator, { id, organizationId: home.organizationId }), true)
    assert.deepEqual(await listBudgets(parts, operator, home.organizationId), [])
  })

  test('what limits nothing, or could not be counted, is refused', async () => {
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
    await assert.rejects(setBudget(parts, operator, { ...budget, tokensMax: 1, alertPercent: 0 }), invalid)
  })

  test('only those who may change limits, and a developer sees those of their own projects', async () => {
    const developer: MemberPrincipal = {
      kind: 'member',
      memberId: 'mem_1',
      organizationId: home.organizationId,
      role: 'developer',
      projectIds: [home.projectId],
    }
    const project = { organizationId: home.organizationId, subject: { kind: 'project', id: home.projectId } } as const
    await setLimit(parts, operator, { ...project, model: '*', concurrency: 1 })
    await setLimit(parts, operator, { ...organization, model: '*', concurrency: 2 })
    const refused = hasCode('permission-denied')
    await assert.rejects(setLimit(parts, developer, { ...project, model: '*', concurrency: 9 }), refused)
    const budget = { ...project, period: 'day', tokensMax: 1 } as const
    await assert.rejects(setBudget(parts, developer, budget), refused)
    await setBudget(parts, { ...developer, role: 'billing' }, budget)
    const seen = await listLimits(parts, developer, home.organizationId)
    assert.deepEqual(
      seen.map(({ concurrency }) => concurrency),
      [1],
    )
  })

  test('a change is noticed within a second, whoever made it', async () => {
    const clock = createManualClock()
    const seen: LimitSettings[] = []
    const watch = await watchSettings({
      db,
      clock,
      onChange: (settings) => void seen.push(settings),
      onError: assert.fail,
    })
    assert.equal(seen.length, 1)
    await setLimit(parts, operator, { ...organization, model: '*', concurrency: 4 })
    clock.advance(1_000)
    await until(() => seen.length === 2, 'The change was not noticed.')
    assert.equal(seen[1]?.limits[0]?.concurrency, 4)
    await watch.look()
    assert.equal(seen.length, 2)
    watch.stop()
  })

  test('an alert is written down once for a budget and period', async () => {
    const lines: unknown[] = []
    const log = { ...createLog('silent'), warn: (line: unknown) => void lines.push(line) } as ReturnType<
      typeof createLog
    >
    const alert = createAlert({ db, clock: systemClock, log })
    const budget = {
      id: 'budget_1',
      ...organization,
      period: 'day',
      microsMax: 10,
      tokensMax: null,
      alertPercent: 50,
    } as const
    for (const micros of [5, 6]) alert(budget, 1_000, { micros, tokens: 0 })
    alert(budget, 2_000, { micros: 7, tokens: 0 })
    await until(() => lines.length === 2, 'The alert was not logged.')
    const rows = await db.selectFrom('budget_alerts').select('period_start').orderBy('period_start').execute()
    assert.deepEqual(
      rows.map(({ period_start }) => period_start),
      [1_000, 2_000],
    )
  })
})
