import type { Insertable, Selectable, Transaction } from 'kysely'
import { checkName } from '../accounts/check-name.ts'
import { readPage, type Page, type PageRequest } from '../accounts/page.ts'
import { usageTopics, type AlertTopic, type ChannelKind } from '../core/alert-topic.ts'
import { conflict, invalidRequest } from '../core/error.ts'
import type { OrganizationId } from '../core/ids.ts'
import { notFound, requirePermission } from '../core/permission.ts'
import type { Principal } from '../core/principal.ts'
import { lockChainEnd } from '../db/audit-chain.ts'
import { change, installationChain, type ChangeParts } from '../db/change.ts'
import type { AlertChannelTable } from '../db/tables/alerts.ts'
import type { Tables } from '../db/tables.ts'
import { randomId } from '../lib/random-id.ts'
import { seal } from '../lib/seal.ts'
import { appendEvents, lockStream } from './append-event.ts'
import { type ChannelTarget, type MailRules, readTarget } from './channel-target.ts'
import { beginSource, topicsOf, withTopics } from './channel-topics.ts'
import { createWebhookSecret } from './webhook.ts'

export type Channel = {
  readonly id: string
  readonly kind: ChannelKind
  readonly name: string
  readonly target: string
  readonly topics: readonly AlertTopic[]
  readonly createdAtMs: number
  readonly disabledAtMs: number | null
  readonly failures: number
  readonly lastError: string | null
  readonly lastDeliveredAtMs: number | null
  readonly givenUp: number
  readonly lastGivenUp: string | null
}

export type NewChannel = {
  readonly organizationId: OrganizationId
  readonly kind: ChannelKind
  readonly name: string
  /** Null where the kind has none. */
  readonly address: string | null
  readonly topics: readonly AlertTopic[]
}

type MakingParts = ChangeParts & {
  readonly alertKey: Uint8Array
  /** Null where no relay is set. */
  readonly mail: MailRules | null
}
type ChannelReference = { readonly organizationId: OrganizationId; readonly id: string }

/** An organization has no use for more, and each is looked at once a second. */
const channelsMax = 50
const mailTestsPerHourMax = 20

/** Permissions know the installation as no organization. */
export function ownerOf(organizationId: OrganizationId): { readonly organizationId: OrganizationId | null } {
  return { organizationId: organizationId === installationChain ? null : organizationId }
}

/** Makes a channel, which is told of what happens from now on. The secret signs what is sent and is shown this once. */
export async function createChannel(
  parts: MakingParts,
  principal: Principal,
  wanted: NewChannel,
): Promise<{ readonly id: string; readonly secret: string | null }> {
  const { organizationId, kind, topics } = wanted
  requirePermission(principal, 'alert-channels:update', ownerOf(organizationId))
  const { address, shown } = readTarget(wanted, parts.mail)
  requireFitting(kind, topics)
  const id = `chan_${randomId()}`
  const secret = createWebhookSecret()
  const name = checkName(wanted.name)
  const action = { action: 'alert-channels:create', organizationId, target: id }
  await change(parts, principal, action, async (transaction, note) => {
    const cursor = await lockStream(transaction, organizationId)
    await requireRoom(transaction, organizationId)
    const row: Insertable<AlertChannelTable> = {
      id,
      organization_id: organizationId,
      kind,
      name,
      shown_target: shown,
      sealed: seal(parts.alertKey, id, JSON.stringify({ address, secret } satisfies ChannelTarget)),
      topics: JSON.stringify([...new Set(topics)]),
      topic_starts: null,
      cursor,
      created_at: parts.clock.nowMs(),
      disabled_at: null,
      failures: 0,
      next_attempt_at: 0,
      last_error: null,
      last_delivered_at: null,
      lease_holder: null,
      lease_until: 0,
    }
    await beginSource(transaction, wanted)
    await transaction.insertInto('alert_channels').values(row).execute()
    note(null, { kind, name, target: shown, topics })
  })
  return { id, secret: kind === 'webhook' ? secret : null }
}

function requireFitting(kind: ChannelKind, topics: readonly AlertTopic[]): void {
  const unfit = kind === 'webhook' ? undefined : topics.find((topic) => usageTopics.includes(topic))
  if (unfit === undefined) return
  throw invalidRequest(['topics'], 'value', `${unfit} goes to webhooks alone: a service has many of them.`)
}

async function requireRoom(transaction: Transaction<Tables>, organizationId: OrganizationId): Promise<void> {
  const rows = await transaction
    .selectFrom('alert_channels')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('disabled_at', 'is', null)
    .execute()
  if (rows.length < channelsMax) return
  const message = `${channelsMax} channels are enabled, which is the most there may be.`
  throw conflict(message)
}

export async function listChannels(
  { db }: Pick<ChangeParts, 'db'>,
  principal: Principal,
  request: PageRequest & { readonly organizationId: OrganizationId },
): Promise<Page<Channel>> {
  requirePermission(principal, 'alert-channels:read', ownerOf(request.organizationId))
  const query = db.selectFrom('alert_channels').selectAll().where('organization_id', '=', request.organizationId)
  return readPage(query, request, toChannel)
}

export async function readChannel(
  { db }: Pick<ChangeParts, 'db'>,
  principal: Principal,
  reference: ChannelReference,
): Promise<Channel> {
  requirePermission(principal, 'alert-channels:read', ownerOf(reference.organizationId))
  return toChannel(await findChannel(db, reference))
}

export type ChannelChanges = {
  readonly name?: string
  readonly topics?: readonly AlertTopic[]
  readonly isEnabled?: boolean
}

/** Changes what a channel is told. One that is enabled again goes on with what it missed, as far as that is kept. */
export async function updateChannel(
  parts: ChangeParts,
  principal: Principal,
  { organizationId, id, ...changes }: ChannelReference & ChannelChanges,
): Promise<void> {
  requirePermission(principal, 'alert-channels:update', ownerOf(organizationId))
  const action = { action: 'alert-channels:update', organizationId, target: id }
  await change(parts, principal, action, async (transaction, note) => {
    // In the order in which whoever makes a channel takes them.
    const sequence = await lockStream(transaction, organizationId)
    await lockChainEnd(transaction, organizationId)
    const before = await findChannel(transaction, { organizationId, id })
    if (changes.topics !== undefined) requireFitting(before.kind, changes.topics)
    if (changes.isEnabled === true && before.disabled_at !== null) await requireRoom(transaction, organizationId)
    await beginSource(transaction, { organizationId, topics: changes.topics ?? [] })
    const nowMs = parts.clock.nowMs()
    const { topics, topic_starts } = withTopics(before, changes.topics ?? topicsOf(before), { sequence, atMs: nowMs })
    const after = {
      name: changes.name === undefined ? before.name : checkName(changes.name),
      topics,
      disabled_at: disabledAt(before, changes, nowMs),
    }
    await transaction
      .updateTable('alert_channels')
      .set({ ...after, topic_starts, next_attempt_at: 0, failures: 0 })
      .where('id', '=', id)
      .execute()
    note({ name: before.name, topics: before.topics, disabled_at: before.disabled_at }, after)
  })
}

function disabledAt(
  { disabled_at: before }: Pick<AlertChannelTable, 'disabled_at'>,
  { isEnabled }: ChannelChanges,
  nowMs: number,
): number | null {
  if (isEnabled === undefined) return before
  return isEnabled ? null : (before ?? nowMs)
}

export async function removeChannel(
  parts: ChangeParts,
  principal: Principal,
  { organizationId, id }: ChannelReference,
): Promise<void> {
  requirePermission(principal, 'alert-channels:update', ownerOf(organizationId))
  const action = { action: 'alert-channels:remove', organizationId, target: id }
  await change(parts, principal, action, async (transaction, note) => {
    // As whoever changes it takes them: the installation's end of the audit is otherwise taken after the channel.
    await lockStream(transaction, organizationId)
    await lockChainEnd(transaction, organizationId)
    const { kind, name, shown_target: target } = await findChannel(transaction, { organizationId, id })
    await transaction.deleteFrom('alert_channels').where('id', '=', id).execute()
    note({ kind, name, target }, null)
  })
}

/** Has a message sent over one channel, behind what waits for it. What became of it is read from the channel. */
export async function testChannel(
  parts: ChangeParts,
  principal: Principal,
  { organizationId, id }: ChannelReference,
): Promise<void> {
  requirePermission(principal, 'alert-channels:update', ownerOf(organizationId))
  const action = { action: 'alert-channels:test', organizationId, target: id }
  await change(parts, principal, action, async (transaction) => {
    const { name, kind } = await findChannel(transaction, { organizationId, id })
    if (kind === 'email') await requireQuiet(transaction, organizationId, parts.clock.nowMs())
    const event = { topic: 'channel.test', channelId: id, data: { channel: name } } as const
    await appendEvents(transaction, parts.clock.nowMs(), { organizationId, events: [event] })
    await transaction.updateTable('alert_channels').set({ next_attempt_at: 0 }).where('id', '=', id).execute()
  })
}

/** An address belongs to whom it belongs to, and is not to be filled by a button. */
async function requireQuiet(transaction: Transaction<Tables>, organizationId: OrganizationId, nowMs: number) {
  const { tests } = await transaction
    .selectFrom('alert_events')
    .select(({ fn }) => fn.countAll<number>().as('tests'))
    .where('organization_id', '=', organizationId)
    .where('topic', '=', 'channel.test')
    .where('at', '>', nowMs - 3_600_000)
    .executeTakeFirstOrThrow()
  if (Number(tests) < mailTestsPerHourMax) return
  throw conflict(`${mailTestsPerHourMax} tests within an hour are the most before one by e-mail.`)
}

async function findChannel(
  db: Pick<Transaction<Tables>, 'selectFrom'>,
  { organizationId, id }: ChannelReference,
): Promise<Selectable<AlertChannelTable>> {
  const row = await db
    .selectFrom('alert_channels')
    .selectAll()
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return row
}

function toChannel(row: Selectable<AlertChannelTable>): Channel {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    target: row.shown_target,
    topics: topicsOf(row),
    createdAtMs: row.created_at,
    disabledAtMs: row.disabled_at,
    failures: row.failures,
    lastError: row.last_error,
    lastDeliveredAtMs: row.last_delivered_at,
    givenUp: row.given_up,
    lastGivenUp: row.last_given_up,
  }
}
