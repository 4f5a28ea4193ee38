// What becomes an event because a table says so. Each looks at what is new since it looked before, so nothing is lost
// while the service stands still.

import { type Selectable, sql } from 'kysely'
import { fromCostColumns } from '../billing/ledger/cost-columns.ts'
import { tokenColumns } from '../billing/ledger/token-columns.ts'
import { lastSettled } from '../billing/usage/last-settled.ts'
import type { AlertTopic } from '../core/alert-topic.ts'
import type { OrganizationId } from '../core/ids.ts'
import type { CostColumns, LedgerTable, TokenColumns } from '../db/tables/billing.ts'
import { readBudgets } from '../limits/settings/budget-settings.ts'
import { maxInForce, type Budget } from '../limits/settings/setting.ts'
import { toMicrosText } from '../core/money.ts'
import { type AlertParts, appendEvents, lockStream, type NewEvent, raise } from './append-event.ts'
import { startOf, topicsOf } from './channel-topics.ts'
import { hourMs, summedColumns } from '../billing/usage/usage-columns.ts'

/** Alerts and sums that are older were told long ago, or nobody was there to be told. */
export const lookBackMs = 86_400_000
const requestsAtOnce = 500

/** The organizations that want to be told of a topic, with the time since when. */
export async function findAsking({ db }: AlertParts, topic: AlertTopic): Promise<ReadonlyMap<OrganizationId, number>> {
  const rows = await db
    .selectFrom('alert_channels')
    .select(['organization_id', 'topics', 'topic_starts', 'created_at'])
    .execute()
  const asking = new Map<OrganizationId, number>()
  for (const row of rows) {
    if (!topicsOf(row).includes(topic)) continue
    asking.set(row.organization_id, Math.min(startOf(row, topic).atMs, asking.get(row.organization_id) ?? Infinity))
  }
  return asking
}

/** What was told of a topic lately: looking is cheaper than to try to tell it again. */
export async function readTold(
  { db, clock }: AlertParts,
  organizationId: OrganizationId,
  topic: AlertTopic,
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('alert_causes')
    .select('cause')
    .where('organization_id', '=', organizationId)
    .where('topic', '=', topic)
    .where('at', '>=', clock.nowMs() - lookBackMs)
    .execute()
  return new Set(rows.map(({ cause }) => cause))
}

/** Tells of the shares of budgets that were spent. */
export async function tellBudgets(parts: AlertParts & { readonly currency: string }): Promise<void> {
  for (const [organizationId, sinceMs] of await findAsking(parts, 'budget.threshold')) {
    const rows = await parts.db
      .selectFrom('budget_alerts')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('at', '>=', Math.max(sinceMs, parts.clock.nowMs() - lookBackMs))
      .orderBy('at')
      .execute()
    const told = rows.length === 0 ? new Set() : await readTold(parts, organizationId, 'budget.threshold')
    const causeOf = (row: (typeof rows)[number]) => `${row.budget_id}:${row.period_start}:${row.percent}`
    const untold = rows.filter((row) => !told.has(causeOf(row)))
    const budgets = untold.length === 0 ? [] : await readBudgets(parts.db)
    for (const row of untold) {
      const budget = budgets.find(({ id }) => id === row.budget_id)
      await raise(parts, {
        organizationId,
        topic: 'budget.threshold',
        cause: causeOf(row),
        windowMs: null,
        data: {
          budgetId: row.budget_id,
          ...(budget === undefined ? {} : describeBudget(budget, parts)),
          percent: row.percent,
          periodStartsAt: new Date(row.period_start).toISOString(),
          reachedAt: new Date(row.at).toISOString(),
          spent: { micros: row.spent_micros, tokens: row.spent_tokens },
        },
      })
    }
  }
}

/** What a receiver would have to ask for. A budget that was removed meanwhile is told of by its id alone. */
function describeBudget(
  budget: Budget,
  { clock, currency }: Pick<AlertParts, 'clock'> & { readonly currency: string },
) {
  const nowMs = clock.nowMs()
  const max = { micros: maxInForce(budget, 'microsMax', nowMs), tokens: maxInForce(budget, 'tokensMax', nowMs) }
  return { subject: budget.subject, period: budget.period, currency, max }
}

/** Tells of every row of the ledger, once: how far it has come stands in the database with the events. */
export async function tellRequests(parts: AlertParts): Promise<void> {
  const asking = await findAsking(parts, 'request.finished')
  if (asking.size === 0) return
  const newest = await parts.db
    .selectFrom('ledger')
    .select('sequence')
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()
  const sources = await parts.db.selectFrom('alert_sources').selectAll().execute()
  const behind = sources.filter(
    (source) => asking.has(source.organization_id) && source.ledger_up_to < (newest?.sequence ?? 0),
  )
  if (behind.length === 0) return
  const last = await lastSettled(parts.db)
  for (const { organization_id: organizationId } of behind) {
    while (await tellSomeRequests(parts, organizationId, last));
  }
}

/** Returns whether there may be more to tell. */
function tellSomeRequests({ db, clock }: AlertParts, organizationId: OrganizationId, last: number): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    // Several processes tell one after the other. Whoever changes channels locks the events first and then this row as well.
    await lockStream(transaction, organizationId)
    const { ledger_up_to: after } = await transaction
      .selectFrom('alert_sources')
      .select('ledger_up_to')
      .where('organization_id', '=', organizationId)
      .executeTakeFirstOrThrow()
    const rows = await transaction
      .selectFrom('ledger')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('sequence', '>', after)
      .where('sequence', '<=', last)
      .orderBy('sequence')
      .limit(requestsAtOnce)
      .execute()
    const isMore = rows.length === requestsAtOnce
    const upTo = isMore ? (rows.at(-1)?.sequence ?? last) : Math.max(after, last)
    await appendEvents(transaction, clock.nowMs(), { organizationId, events: rows.map(toEvent) })
    await transaction
      .updateTable('alert_sources')
      .set({ ledger_up_to: upTo })
      .where('organization_id', '=', organizationId)
      .execute()
    return isMore
  })
}

function toEvent(row: Selectable<LedgerTable>): NewEvent {
  return {
    topic: 'request.finished',
    data: {
      requestId: row.request_id,
      kind: row.kind,
      endedAt: new Date(row.at).toISOString(),
      projectId: row.project_id,
      apiKeyId: row.api_key_id,
      model: row.model,
      endUser: row.end_user,
      tags: row.tags === null ? {} : (JSON.parse(row.tags) as Record<string, string>),
      outcome: row.outcome,
      ...countsOf(row),
      durationMs: row.duration_ms,
      firstTokenMs: row.first_token_ms,
    },
  }
}

/** The counts of a row, and its cost in micro-units, exact as a decimal number in a text. */
export function countsOf(row: TokenColumns & CostColumns) {
  const picos = fromCostColumns(row)
  return {
    tokens: Object.fromEntries(tokenColumns.map((column) => [toName(column), row[column]])),
    costMicros: picos === null ? null : toMicrosText(picos),
  }
}

function toName(column: string): string {
  return column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

const ofHours = 'usage.hour' as const
/** A request counts in the hour in which it ends, and its row is there, and added up, a little later. */
const settledAfterMs = 300_000

/**
 * Tells of the sums of each hour that is over, by model: once, and again with the next revision where more rows of the hour
 * have come since, as late as the database was away.
 */
export async function tellHours(parts: AlertParts): Promise<void> {
  const nowMs = parts.clock.nowMs()
  const endMs = floor(nowMs - settledAfterMs)
  for (const [organizationId, sinceMs] of await findAsking(parts, ofHours)) {
    const range = { organizationId, fromMs: floor(Math.max(sinceMs, nowMs - lookBackMs)), endMs }
    if ((await findUntold(parts.db, range)).length === 0) continue
    await parts.db.transaction().execute(async (transaction) => {
      // Several processes tell one after the other, so that each revision is told once.
      await lockStream(transaction, organizationId)
      const untold = await findUntold(transaction, range)
      const causes = untold.map(({ cause }) => ({ organization_id: organizationId, topic: ofHours, cause, at: nowMs }))
      if (causes.length > 0) await transaction.insertInto('alert_causes').values(causes).execute()
      await appendEvents(transaction, nowMs, { organizationId, events: untold.map(({ event }) => event) })
    })
  }
}

type HourRange = { readonly organizationId: OrganizationId; readonly fromMs: number; readonly endMs: number }
type UntoldHour = { readonly cause: string; readonly event: NewEvent }

/** The hours whose sums were not told, or were told before further rows came. Rows of the ledger are never taken back. */
async function findUntold(
  db: Pick<AlertParts['db'], 'selectFrom'>,
  { organizationId, fromMs, endMs }: HourRange,
): Promise<readonly UntoldHour[]> {
  const rows = await db
    .selectFrom('usage_hours')
    .select(['at', 'model'])
    .select(summedColumns.map((column) => sql<number>`cast(sum(${sql.ref(column)}) as bigint)`.as(column)))
    .where('organization_id', '=', organizationId)
    .where('at', '>=', fromMs)
    .where('at', '<', endMs)
    .groupBy(['at', 'model'])
    .orderBy('at')
    .orderBy('model')
    .execute()
  const told =
    rows.length === 0 ? new Map<string, readonly string[]>() : await readRevisions(db, organizationId, fromMs)
  return rows.flatMap((row) => {
    const { at, model, requests, finished, aborted, failed, reversed } = row
    const place = `${at}:${model}`
    const before = told.get(place) ?? []
    const cause = `${place}:${requests + reversed}`
    // What an earlier version has told has no count, and is not told again.
    if (before.includes(cause) || before.includes(place)) return []
    const hour = new Date(at).toISOString()
    const counts = { requests, finished, aborted, failed, reversed, ...countsOf(row) }
    return [{ cause, event: { topic: ofHours, data: { hour, model, revision: before.length + 1, ...counts } } }]
  })
}

/** What was told of each hour and model, each revision by the count of its rows. */
async function readRevisions(
  db: Pick<AlertParts['db'], 'selectFrom'>,
  organizationId: OrganizationId,
  fromMs: number,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await db
    .selectFrom('alert_causes')
    .select('cause')
    .where('organization_id', '=', organizationId)
    .where('topic', '=', ofHours)
    .where('at', '>=', fromMs)
    .execute()
  const byPlace = Map.groupBy(rows, ({ cause }) => cause.split(':', 2).join(':'))
  return new Map([...byPlace].map(([place, causes]) => [place, causes.map(({ cause }) => cause)]))
}

function floor(ms: number): number {
  return ms - (ms % hourMs)
}
