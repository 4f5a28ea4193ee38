import type { Insertable, Selectable, Transaction } from 'kysely'
import { checkName } from '../../accounts/check-name.ts'
import { readPage, type Page, type PageRequest } from '../../accounts/page.ts'
import type { SinkFormat, SinkKind } from '../../core/alert-topic.ts'
import { conflict, invalidRequest } from '../../core/error.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { notFound, requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import { lockChainEnd } from '../../db/audit-chain.ts'
import { change, installationChain, type ChangeParts } from '../../db/change.ts'
import type { AuditSinkTable } from '../../db/tables/alerts.ts'
import type { Tables } from '../../db/tables.ts'
import { randomId } from '../../lib/random-id.ts'
import { ownerOf } from '../channels.ts'
import { findBacklog, lagOf, type Lag } from './backlog.ts'
import { createWebhookSecret } from '../webhook.ts'
import { readTarget, sealTarget, type WantedTarget } from './sink-target.ts'

export type Sink = {
  readonly id: string
  readonly kind: SinkKind
  readonly format: SinkFormat
  readonly name: string
  readonly target: string
  readonly isConfigured: boolean
  readonly createdAtMs: number
  readonly disabledAtMs: number | null
  readonly failures: number
  readonly lastError: string | null
  readonly lastDeliveredAtMs: number | null
  readonly givenUp: number
  readonly lastGivenUp: string | null
}

/** With what it has yet to be given. */
export type SinkState = Sink & { readonly behind: Lag }

export type NewSink = WantedTarget & {
  readonly organizationId: OrganizationId
  readonly kind: SinkKind
  readonly format: SinkFormat
  readonly name: string
  /** Where it begins: with what is done from now on, or with the first row of the audit. */
  readonly from: 'now' | 'begin'
}

type SealParts = ChangeParts & { readonly alertKey: Uint8Array }
type SinkReference = { readonly organizationId: OrganizationId; readonly id: string }

/** Each is looked at once a second. */
const sinksMax = 20

/** Makes a sink of an organization's audit, or of everybody's for the installation. What signs for it is shown this once. */
export async function createSink(
  parts: SealParts,
  principal: Principal,
  wanted: NewSink,
): Promise<{ readonly id: string; readonly secret: string | null }> {
  requirePermission(principal, 'audit-sinks:update', ownerOf(wanted.organizationId))
  if (wanted.kind === 'file') throw invalidRequest(['kind'], 'value', 'A file is named in the config file alone.')
  const id = `sink_${randomId()}`
  const secret = wanted.kind === 'webhook' ? createWebhookSecret() : null
  await addSink(parts, principal, { ...wanted, secret, id, isConfigured: false })
  return { id, secret }
}

/** Adds a sink for whoever may, with its row in the audit. */
export async function addSink(
  parts: SealParts,
  principal: Principal,
  wanted: NewSink & { readonly id: string; readonly isConfigured: boolean },
): Promise<void> {
  const { organizationId, id, kind, format, isConfigured } = wanted
  const { target, shown } = readTarget(kind, wanted)
  const name = checkName(wanted.name)
  const action = { action: 'audit-sinks:create', organizationId, target: id }
  await change(parts, principal, action, async (transaction, note) => {
    await lockChainEnd(transaction, organizationId)
    if (!isConfigured) await requireRoom(transaction, organizationId)
    const row: Insertable<AuditSinkTable> = {
      id,
      organization_id: organizationId,
      kind,
      format,
      name,
      shown_target: shown,
      sealed: sealTarget(parts.alertKey, id, target),
      is_configured: Number(isConfigured),
      created_at: parts.clock.nowMs(),
      disabled_at: null,
      failures: 0,
      next_attempt_at: 0,
      last_error: null,
      last_delivered_at: null,
      lease_holder: null,
      lease_until: 0,
    }
    await transaction.insertInto('audit_sinks').values(row).execute()
    if (wanted.from === 'now') await skipToEnds(transaction, row)
    note(null, { kind, format, name, target: shown, from: wanted.from })
  })
}

/** What was done before a sink was there is not for it; the making of it is the first thing that it is told. */
async function skipToEnds(transaction: Transaction<Tables>, sink: Insertable<AuditSinkTable>): Promise<void> {
  const sizes = await transaction
    .selectFrom('audit_checkpoints')
    .select(({ fn }) => ['organization_id', fn.max('size').as('size')])
    .groupBy('organization_id')
    .execute()
  const sizeOf = new Map(sizes.map(({ organization_id, size }) => [organization_id, size]))
  let ends = transaction.selectFrom('audit_chains').select(['organization_id', 'sequence'])
  if (sink.organization_id !== installationChain) {
    ends = ends.where('organization_id', '=', sink.organization_id)
  }
  for (const { organization_id, sequence } of await ends.execute()) {
    const checkpoint_size = sizeOf.get(organization_id) ?? 0
    await transaction
      .insertInto('audit_sink_cursors')
      .values({ sink_id: sink.id, organization_id, sequence, checkpoint_size })
      .execute()
  }
}

async function requireRoom(transaction: Transaction<Tables>, organizationId: OrganizationId): Promise<void> {
  const rows = await transaction
    .selectFrom('audit_sinks')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('disabled_at', 'is', null)
    .execute()
  if (rows.length < sinksMax) return
  throw conflict(`${sinksMax} sinks are enabled, which is the most there may be.`)
}

export async function listSinks(
  { db }: Pick<ChangeParts, 'db'>,
  principal: Principal,
  request: PageRequest & { readonly organizationId: OrganizationId },
): Promise<Page<Sink>> {
  requirePermission(principal, 'audit-sinks:read', ownerOf(request.organizationId))
  const query = db.selectFrom('audit_sinks').selectAll().where('organization_id', '=', request.organizationId)
  return readPage(query, request, toSink)
}

export async function readSink(
  { db }: Pick<ChangeParts, 'db'>,
  principal: Principal,
  reference: SinkReference,
): Promise<SinkState> {
  requirePermission(principal, 'audit-sinks:read', ownerOf(reference.organizationId))
  const row = await findSink(db, reference)
  return { ...toSink(row), behind: lagOf(await findBacklog(db, row.id)) }
}

export type SinkChanges = { readonly name?: string; readonly isEnabled?: boolean }

/** One that is enabled again goes on with everything that was done meanwhile. */
export async function updateSink(
  parts: ChangeParts,
  principal: Principal,
  { organizationId, id, ...changes }: SinkReference & SinkChanges,
): Promise<void> {
  requirePermission(principal, 'audit-sinks:update', ownerOf(organizationId))
  const action = { action: 'audit-sinks:update', organizationId, target: id }
  await change(parts, principal, action, async (transaction, note) => {
    await lockChainEnd(transaction, organizationId)
    const before = await findChangeable(transaction, { organizationId, id })
    if (changes.isEnabled === true && before.disabled_at !== null) await requireRoom(transaction, organizationId)
    const after = {
      name: changes.name === undefined ? before.name : checkName(changes.name),
      disabled_at: disabledAt(before, changes, parts.clock.nowMs()),
    }
    await transaction
      .updateTable('audit_sinks')
      .set({ ...after, next_attempt_at: 0, failures: 0 })
      .where('id', '=', id)
      .execute()
    note({ name: before.name, disabled_at: before.disabled_at }, after)
  })
}

function disabledAt(
  { disabled_at: before }: Pick<AuditSinkTable, 'disabled_at'>,
  { isEnabled }: SinkChanges,
  nowMs: number,
): number | null {
  if (isEnabled === undefined) return before
  return isEnabled ? null : (before ?? nowMs)
}

export async function removeSink(parts: ChangeParts, principal: Principal, reference: SinkReference): Promise<void> {
  requirePermission(principal, 'audit-sinks:update', ownerOf(reference.organizationId))
  await dropSink(parts, principal, reference, findChangeable)
}

/** Removes a sink for whoever may, with its row in the audit. */
export async function dropSink(
  parts: ChangeParts,
  principal: Principal,
  { organizationId, id }: SinkReference,
  find: typeof findSink = findSink,
): Promise<void> {
  const action = { action: 'audit-sinks:remove', organizationId, target: id }
  await change(parts, principal, action, async (transaction, note) => {
    // First, as whoever changes it takes it: the installation's is otherwise taken last.
    await lockChainEnd(transaction, organizationId)
    const { kind, name, shown_target: target } = await find(transaction, { organizationId, id })
    // The sink before its cursors, as whoever pushes to it writes them.
    await transaction.deleteFrom('audit_sinks').where('id', '=', id).execute()
    await transaction.deleteFrom('audit_sink_cursors').where('sink_id', '=', id).execute()
    note({ kind, name, target }, null)
  })
}

/** Leaves a row in the audit, which a sink is given as any other, at once. What became of it is read from the sink. */
export async function testSink(
  parts: ChangeParts,
  principal: Principal,
  { organizationId, id }: SinkReference,
): Promise<void> {
  requirePermission(principal, 'audit-sinks:update', ownerOf(organizationId))
  const action = { action: 'audit-sinks:test', organizationId, target: id }
  await change(parts, principal, action, async (transaction) => {
    await lockChainEnd(transaction, organizationId)
    await findSink(transaction, { organizationId, id })
    await transaction.updateTable('audit_sinks').set({ next_attempt_at: 0 }).where('id', '=', id).execute()
  })
}

async function findSink(
  db: Pick<Transaction<Tables>, 'selectFrom'>,
  { organizationId, id }: SinkReference,
): Promise<Selectable<AuditSinkTable>> {
  const row = await db
    .selectFrom('audit_sinks')
    .selectAll()
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return row
}

/** What stands in the config file comes back with the next start, so it is changed there. */
async function findChangeable(
  db: Pick<Transaction<Tables>, 'selectFrom'>,
  reference: SinkReference,
): Promise<Selectable<AuditSinkTable>> {
  const row = await findSink(db, reference)
  if (row.is_configured === 0) return row
  throw conflict('This sink stands in the config file, audit.sinks, and is changed there.')
}

function toSink(row: Selectable<AuditSinkTable>): Sink {
  return {
    id: row.id,
    kind: row.kind,
    format: row.format,
    name: row.name,
    target: row.shown_target,
    isConfigured: row.is_configured !== 0,
    createdAtMs: row.created_at,
    disabledAtMs: row.disabled_at,
    failures: row.failures,
    lastError: row.last_error,
    lastDeliveredAtMs: row.last_delivered_at,
    givenUp: row.given_up,
    lastGivenUp: row.last_given_up,
  }
}
