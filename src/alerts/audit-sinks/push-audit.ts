import type { Selectable } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import type { AuditSinkTable } from '../../db/tables/alerts.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { AlertParts } from '../append-event.ts'
import { isGivenUp, retryAtMs, startRounds, tooLargeStatus, type Turn } from '../leased-rounds.ts'
import { postMsMax } from '../webhook.ts'
import { findBacklog, firstOf, lagOf, readBatch, type Backlog, type Batch } from './backlog.ts'
import { placeOf, sendBatch, SinkRefusal, type SendParts } from './send-batch.ts'
import { openTarget } from './sink-target.ts'

export type PushParts = AlertParts &
  SendParts & {
    readonly log: Log
    readonly alertKey: Uint8Array
    readonly metrics?: Pick<Metrics, 'sinksSeen' | 'auditPushed'>
    /** The pause after a first failure, which doubles with each further one; tests have little time. */
    readonly retryMsMin?: number
    /** How long a process may think that it alone pushes to a sink: longer than one batch takes. */
    readonly leaseMs?: number
    readonly lookEveryMs?: number
  }

export type AuditPusher = {
  /** Looks for what is to be pushed, and waits until that was tried. */
  push(): Promise<void>
  /** Ends what is under way; it is pushed again by whoever comes next. */
  close(): Promise<void>
}

const retryMsMax = 300_000
/** Longer than one batch takes, so that no second process begins while the first still sends. */
const leaseMsDefault = 3 * postMsMax

type SinkRow = Selectable<AuditSinkTable>
type SinkChanges = Partial<Omit<SinkRow, 'id' | 'organization_id' | 'kind' | 'is_configured' | 'created_at'>>

/**
 * Pushes the audit to its sinks: each organization's rows in their order, at least once.
 *
 * How far a sink has come stands in the database and is moved on only after its receiver has taken a batch. Of several
 * processes one has a sink at a time, by a lease that ends by itself when the process does.
 */
export function startPushingAudit(parts: PushParts): AuditPusher {
  const rounds = startRounds({
    ...parts,
    words: { look: 'it is not known what of the audit is to be pushed', work: 'the audit could not be pushed' },
    describe: (sink) => ({ sink }),
    findDue: () => findDue(parts),
    work: (turn) => pushTo(parts, turn),
  })
  return { push: () => rounds.look(), close: () => rounds.close() }
}

/** The sinks that have something to be given, which nobody pushes to at the moment. Tells the metrics how far each is behind. */
async function findDue({ db, clock, metrics }: PushParts): Promise<readonly string[]> {
  const sinks = await db
    .selectFrom('audit_sinks')
    .select(['id', 'name', 'is_configured', 'failures', 'next_attempt_at', 'lease_until'])
    .where('disabled_at', 'is', null)
    .execute()
  if (sinks.length === 0) {
    metrics?.sinksSeen([])
    return []
  }
  const backlogs = Map.groupBy(await findBacklog(db), ({ sinkId }) => sinkId)
  const nowMs = clock.nowMs()
  metrics?.sinksSeen(
    sinks.map(({ id, name, is_configured, failures }) => {
      const { rows, oldestAtMs } = lagOf(backlogs.get(id) ?? [])
      const lagMs = oldestAtMs === null ? 0 : Math.max(0, nowMs - oldestAtMs)
      return { name: is_configured === 1 ? name : null, rows, lagMs, isFailing: failures > 0 }
    }),
  )
  return sinks
    .filter(({ id, next_attempt_at, lease_until }) => {
      return backlogs.has(id) && next_attempt_at <= nowMs && lease_until <= nowMs
    })
    .map(({ id }) => id)
}

/** What is known of a sink in one turn. */
type Course = {
  readonly turn: Turn
  /** In a row, before this turn. */
  readonly failures: number
  /** The organizations whose next batch is refused for what it is, with the answer: they are passed over for the rest of the turn. */
  readonly refused: Map<OrganizationId, unknown>
  /** How much of an organization's audit the receiver takes at once, where it did not take as much as it may be given. */
  readonly itemsMax: Map<OrganizationId, number>
}

async function pushTo(parts: PushParts, turn: Turn): Promise<void> {
  try {
    const sink = await takeLease(parts, turn)
    if (sink === null) return
    const course: Course = { turn, failures: sink.failures, refused: new Map(), itemsMax: new Map() }
    while (await pushRound(parts, course));
    const [error] = course.refused.values()
    if (error !== undefined) await noteFailure(parts, { turn, sink, error })
  } finally {
    await moveOn(parts, turn, { lease_holder: null, lease_until: 0 })
  }
}

/** Pushes a batch of each organization: who does much does not make the others wait. Returns whether there may be more. */
async function pushRound(parts: PushParts, course: Course): Promise<boolean> {
  const found = await findBacklog(parts.db, course.turn.id)
  const backlogs = found.filter(({ organizationId }) => !course.refused.has(organizationId))
  for (const backlog of backlogs) if (!(await pushNext(parts, course, backlog))) return false
  return backlogs.length > 0
}

/** Pushes what comes next of one organization. Returns whether there is any use in going on. */
async function pushNext(parts: PushParts, course: Course, backlog: Backlog): Promise<boolean> {
  const { turn, itemsMax } = course
  const { organizationId } = backlog
  if (turn.signal.aborted) return false
  const sink = await takeLease(parts, turn)
  if (sink === null) return false
  const most = itemsMax.get(organizationId) ?? Infinity
  const batch = firstOf(await readBatch(parts.db, backlog), backlog, most)
  try {
    if (batch.items.length > 0) {
      const target = openTarget(parts.alertKey, sink)
      const { kind, format } = sink
      const { id: sinkId, signal } = turn
      await sendBatch(parts, { sinkId, kind, format, target, batch, nowMs: parts.clock.nowMs(), signal })
    }
  } catch (error) {
    if (error instanceof SinkRefusal && error.isOfBatch) return noteRefusal(parts, course, { sink, batch, error })
    await noteFailure(parts, { turn, sink, error })
    return false
  }
  // What was too large may have been one row among many.
  if (most < Infinity) itemsMax.set(organizationId, 2 * most)
  parts.metrics?.auditPushed(sink.kind, batch.items.length)
  return noteArrival(parts, turn, batch)
}

type RefusedBatch = { readonly sink: SinkRow; readonly batch: Batch; readonly error: SinkRefusal }

/**
 * A batch that is too large is sent in halves; a single item that is too large by itself, again and again, is given up. Returns
 * whether there is any use in going on.
 */
async function noteRefusal(
  parts: PushParts,
  { turn, failures, refused, itemsMax }: Course,
  { sink, batch, error }: RefusedBatch,
): Promise<boolean> {
  const { organizationId, items } = batch
  if (error.status === tooLargeStatus && items.length > 1) {
    itemsMax.set(organizationId, Math.floor(items.length / 2))
    return true
  }
  const [item] = items
  if (item === undefined || items.length > 1 || !isGivenUp(error.status, failures)) {
    refused.set(organizationId, error)
    return true
  }
  const givenUp = `${organizationId} ${placeOf(item)}`
  parts.log.error({ sink: turn.id, givenUp }, 'a receiver does not take a part of the audit, which is given up')
  refused.set(organizationId, new Error(`${error.message} It was given up: ${givenUp}.`, { cause: error }))
  // The failures stay, so that what comes next waits as well: a receiver that takes nothing is not run through.
  return passOver(parts, turn, { batch, changes: { given_up: sink.given_up + 1, last_given_up: givenUp } })
}

/** Takes or prolongs the lease of a sink. Null where another process has it, or it is not to be used any more. */
async function takeLease({ db, clock, leaseMs }: PushParts, { id, holder }: Turn): Promise<SinkRow | null> {
  const nowMs = clock.nowMs()
  const row = await db
    .updateTable('audit_sinks')
    .set({ lease_holder: holder, lease_until: nowMs + (leaseMs ?? leaseMsDefault) })
    .where('id', '=', id)
    .where('disabled_at', 'is', null)
    .where((own) => own.or([own('lease_until', '<=', nowMs), own('lease_holder', '=', holder)]))
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}

function noteArrival(parts: PushParts, turn: Turn, batch: Batch): Promise<boolean> {
  const arrived = { failures: 0, last_error: null, last_delivered_at: parts.clock.nowMs() }
  return passOver(parts, turn, { batch, changes: arrived })
}

type Passing = { readonly batch: Batch; readonly changes: SinkChanges }

/** A process whose lease is over moves nothing: another one may have come further. Returns whether it was not. */
function passOver({ db }: PushParts, { id, holder }: Turn, { batch, changes }: Passing): Promise<boolean> {
  const { organizationId: organization_id, sequence, checkpointSize: checkpoint_size } = batch
  return db.transaction().execute(async (transaction) => {
    const held = await transaction
      .updateTable('audit_sinks')
      .set(changes)
      .where('id', '=', id)
      .where('lease_holder', '=', holder)
      .returning('id')
      .executeTakeFirst()
    if (held === undefined) return false
    await transaction
      .insertInto('audit_sink_cursors')
      .values({ sink_id: id, organization_id, sequence, checkpoint_size })
      .onConflict((conflict) =>
        conflict.columns(['sink_id', 'organization_id']).doUpdateSet({ sequence, checkpoint_size }),
      )
      .execute()
    return true
  })
}

type Failure = { readonly turn: Turn; readonly sink: SinkRow; readonly error: unknown }

async function noteFailure(parts: PushParts, { turn, sink, error }: Failure): Promise<void> {
  // What a stopping service breaks off is nobody's fault.
  if (turn.signal.aborted) return
  if (sink.failures === 0) {
    parts.log.warn({ sink: sink.id, name: sink.name, error }, 'the audit does not arrive at a sink')
  }
  const failures = sink.failures + 1
  const nowMs = parts.clock.nowMs()
  const next_attempt_at = retryAtMs(failures, nowMs, { minMs: parts.retryMsMin, maxMs: retryMsMax })
  const isFinal = error instanceof SinkRefusal && error.isFinal
  const end = isFinal && sink.is_configured === 0 ? { disabled_at: nowMs } : {}
  await moveOn(parts, turn, { failures, next_attempt_at, last_error: messageOf(error).slice(0, 300), ...end })
}

async function moveOn({ db }: AlertParts, { id, holder }: Turn, changes: SinkChanges): Promise<void> {
  await db.updateTable('audit_sinks').set(changes).where('id', '=', id).where('lease_holder', '=', holder).execute()
}
