import type { Selectable } from 'kysely'
import type { AlertTopic } from '../core/alert-topic.ts'
import type { OrganizationId } from '../core/ids.ts'
import { installationChain } from '../db/change.ts'
import type { AlertChannelTable, AlertEventTable } from '../db/tables/alerts.ts'
import { messageOf } from '../lib/message-of.ts'
import type { Log } from '../telemetry/log.ts'
import type { AlertParts } from './append-event.ts'
import { openTarget, type ChannelTarget } from './channel-target.ts'
import { startOf, topicsOf } from './channel-topics.ts'
import { MailError, reasonOf, type Mailer } from './mail.ts'
import { writeMail } from './mail-text.ts'
import { isGivenUp, retryAtMs, startRounds, type Turn } from './leased-rounds.ts'
import { postMsMax, signWebhook, type Poster } from './webhook.ts'

/** How mail goes out, and what it tells of where channels are changed. */
export type MailDelivery = {
  readonly mailer: Mailer
  pageOf(organizationId: OrganizationId): string | null
}

export type DeliveryParts = AlertParts & {
  readonly log: Log
  readonly alertKey: Uint8Array
  readonly poster: Poster
  readonly mail: MailDelivery | null
  /** The pause after a first failure, which doubles with each further one; tests have little time. */
  readonly retryMsMin?: number
  /** How long a process may think that it alone delivers over a channel: longer than one message takes. */
  readonly leaseMs?: number
  readonly lookEveryMs?: number
}

export type Deliverer = {
  /** Looks for what is to be delivered, and waits until that was tried. */
  deliver(): Promise<void>
  /** Ends what is under way; it is delivered again by whoever comes next. */
  close(): Promise<void>
}

const retryMsMax = 3_600_000
/** After a crash so many are delivered a second time at most. */
const eventsAtOnce = 100
/** Longer than one message takes, so that no second process begins while the first still sends. */
const leaseMsDefault = 3 * postMsMax

type Channel = Selectable<AlertChannelTable>
type Event = Selectable<AlertEventTable>

/**
 * Delivers events over channels: each channel's in their order, one after the other, at least once.
 *
 * How far a channel has come stands in the database and is moved on only after a delivery. Of several processes one
 * has a channel at a time, by a lease that ends by itself when the process does.
 */
export function startDelivering(parts: DeliveryParts): Deliverer {
  const rounds = startRounds({
    ...parts,
    words: { look: 'it is not known which events are to be delivered', work: 'events could not be delivered' },
    describe: (channel) => ({ channel }),
    findDue: () => findDue(parts),
    work: (turn) => deliverOver(parts, turn),
  })
  return {
    deliver: () => rounds.look(),
    async close() {
      await rounds.close()
      parts.poster.close()
    },
  }
}

/** The channels with something to deliver, which nobody has at the moment. */
async function findDue({ db, clock }: AlertParts): Promise<readonly string[]> {
  const nowMs = clock.nowMs()
  const rows = await db
    .selectFrom('alert_channels')
    .innerJoin('alert_streams', 'alert_streams.organization_id', 'alert_channels.organization_id')
    .select('alert_channels.id')
    .whereRef('alert_channels.cursor', '<', 'alert_streams.sequence')
    .where('disabled_at', 'is', null)
    .where('next_attempt_at', '<=', nowMs)
    .where('lease_until', '<=', nowMs)
    .execute()
  return rows.map(({ id }) => id)
}

async function deliverOver(parts: DeliveryParts, turn: Turn): Promise<void> {
  let channel = await takeLease(parts, turn)
  try {
    while (channel !== null) {
      const end = await readEnd(parts, channel)
      const events = await readEvents(parts, channel)
      // Events beyond their age are deleted. A channel that waits for them would look for them each time.
      if (events.length === 0 && channel.cursor < end) await moveOn(parts, turn, { cursor: end })
      channel = events.length === 0 ? null : await deliverAll(parts, { ...turn, channel, events })
    }
  } finally {
    await moveOn(parts, turn, { lease_holder: null, lease_until: 0 })
  }
}

/** Takes or prolongs the lease of a channel. Null where another process has it, or it is not to be used any more. */
async function takeLease({ db, clock, leaseMs }: DeliveryParts, { id, holder }: Turn): Promise<Channel | null> {
  const nowMs = clock.nowMs()
  const row = await db
    .updateTable('alert_channels')
    .set({ lease_holder: holder, lease_until: nowMs + (leaseMs ?? leaseMsDefault) })
    .where('id', '=', id)
    .where('disabled_at', 'is', null)
    .where((own) => own.or([own('lease_until', '<=', nowMs), own('lease_holder', '=', holder)]))
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}

async function readEnd({ db }: AlertParts, { organization_id }: Channel): Promise<number> {
  const stream = await db
    .selectFrom('alert_streams')
    .select('sequence')
    .where('organization_id', '=', organization_id)
    .executeTakeFirst()
  return stream?.sequence ?? 0
}

function readEvents({ db }: AlertParts, { organization_id, cursor }: Channel): Promise<Event[]> {
  return db
    .selectFrom('alert_events')
    .selectAll()
    .where('organization_id', '=', organization_id)
    .where('sequence', '>', cursor)
    .orderBy('sequence')
    .limit(eventsAtOnce)
    .execute()
}

type Batch = Turn & { readonly channel: Channel; readonly events: readonly Event[] }

/** Returns the channel as it is when all were delivered; null where one was not, or another process has it. */
async function deliverAll(parts: DeliveryParts, { channel, events, ...turn }: Batch): Promise<Channel | null> {
  const { clock } = parts
  let cursor = channel.cursor
  let delivered = 0
  let takenMs = clock.monotonicMs()
  for (const event of events) {
    if (isFor(channel, event)) {
      const isDue = clock.monotonicMs() - takenMs > (parts.leaseMs ?? leaseMsDefault) / 3
      if (isDue && (await takeLease(parts, turn)) === null) return null
      if (isDue) takenMs = clock.monotonicMs()
      const failures = delivered > 0 ? 0 : channel.failures
      const failure = await deliverOne(parts, { channel, event, failures, signal: turn.signal })
      if (failure !== null) {
        await noteFailure(parts, { ...turn, channel, cursor, failures: failures + 1, failure })
        return null
      }
      delivered += 1
    }
    cursor = event.sequence
  }
  const good = { failures: 0, last_error: null, last_delivered_at: clock.nowMs() }
  await moveOn(parts, turn, { cursor, ...(delivered > 0 && good) })
  return takeLease(parts, turn)
}

function isFor(channel: Channel, { channel_id: only, topic, sequence, is_silenced: isSilenced }: Event): boolean {
  if (isSilenced !== 0) return false
  if (only !== null) return only === channel.id
  const wanted = topicsOf(channel).find((own) => own === topic)
  return wanted !== undefined && sequence > startOf(channel, wanted).sequence
}

type Failure = {
  readonly message: string
  readonly isFinal: boolean
  /** The event that is not tried again: what comes behind it goes on. */
  readonly givenUp?: Event
}
type Delivery = {
  readonly channel: Channel
  readonly event: Event
  /** In a row, up to this one. */
  readonly failures: number
  readonly signal: AbortSignal
}

/** Returns why it could not be delivered; null where it was. */
async function deliverOne(parts: DeliveryParts, delivery: Delivery): Promise<Failure | null> {
  const { channel, event } = delivery
  const data = JSON.parse(event.data) as Record<string, unknown>
  if (channel.kind === 'log') {
    parts.log.warn({ organization: event.organization_id, event: event.id, ...data }, `alert: ${event.topic}`)
    return null
  }
  try {
    const target = openTarget(parts.alertKey, channel)
    const own = { ...target, ...delivery, data }
    return await (channel.kind === 'email' ? mailOne(parts, own) : postOne(parts, own))
  } catch (error) {
    return { message: messageOf(error).slice(0, 300), isFinal: false }
  }
}

type Outgoing = Delivery & ChannelTarget & { readonly data: Record<string, unknown> }

async function postOne(
  parts: DeliveryParts,
  { address, secret, event, data, failures, signal }: Outgoing,
): Promise<Failure | null> {
  const timestamp = new Date(event.at).toISOString()
  const body = JSON.stringify({ id: event.id, type: event.topic, timestamp, sequence: event.sequence, data })
  const headers = signWebhook(secret, { id: event.id, body }, parts.clock.nowMs())
  const status = await parts.poster.post({ url: new URL(address), headers, body, signal })
  if (status >= 200 && status < 300) return null
  const message = `The receiver answered ${status}.`
  if (!isGivenUp(status, failures)) return { message, isFinal: status === 410 }
  return { message: `${message} It was given up: ${event.id}.`, isFinal: false, givenUp: event }
}

async function mailOne(
  parts: DeliveryParts,
  { address, channel, event, data, signal }: Outgoing,
): Promise<Failure | null> {
  if (parts.mail === null) return { message: 'The operator has set no mail relay (alerts.mail).', isFinal: false }
  const { mailer, pageOf } = parts.mail
  const { id, topic, at: atMs, organization_id: organizationId } = event
  const organization = { id: organizationId, name: await readNameOf(parts, organizationId) }
  const page = pageOf(organizationId)
  const message = writeMail({ id, topic, atMs, data, organization, channel: channel.name, page })
  const mail = { ...message, id: `${id}.${channel.id}`, to: address, atMs: parts.clock.nowMs() }
  try {
    await mailer.send(mail, signal)
    return null
  } catch (error) {
    if (!signal.aborted) parts.log.warn({ channel: channel.id, reason: reasonOf(error) }, 'mail could not be sent')
    return { message: messageOf(error), isFinal: error instanceof MailError && error.isFinal }
  }
}

async function readNameOf({ db }: AlertParts, organizationId: OrganizationId): Promise<string> {
  if (organizationId === installationChain) return 'the installation'
  const query = db.selectFrom('organizations').select('name').where('id', '=', organizationId)
  return (await query.executeTakeFirst())?.name ?? organizationId
}

type Failed = Turn & {
  readonly channel: Channel
  readonly cursor: number
  /** In a row, with this one. */
  readonly failures: number
  readonly failure: Failure
}

async function noteFailure(parts: DeliveryParts, failed: Failed): Promise<void> {
  const { channel, cursor, failures, failure, signal } = failed
  // What a stopping service breaks off is nobody's fault.
  if (signal.aborted) return moveOn(parts, failed, { cursor })
  const nowMs = parts.clock.nowMs()
  const next_attempt_at = retryAtMs(failures, nowMs, { minMs: parts.retryMsMin, maxMs: retryMsMax })
  const end = failure.isFinal ? { disabled_at: nowMs } : {}
  const { givenUp } = failure
  if (givenUp !== undefined) {
    parts.log.error({ channel: channel.id, event: givenUp.id }, 'a receiver does not take an event, which is given up')
  }
  await moveOn(parts, failed, {
    cursor: givenUp?.sequence ?? cursor,
    failures,
    next_attempt_at,
    last_error: failure.message,
    ...(givenUp !== undefined && { given_up: channel.given_up + 1, last_given_up: givenUp.id }),
    ...end,
  })
}

/** A process whose lease is over moves nothing: another one may have come further. */
async function moveOn(
  { db }: AlertParts,
  { id, holder }: Turn,
  changes: Partial<Omit<Channel, 'id' | 'organization_id' | 'kind' | 'created_at'>>,
): Promise<void> {
  await db.updateTable('alert_channels').set(changes).where('id', '=', id).where('lease_holder', '=', holder).execute()
}

/** Everybody who asks for events was told of them by then, or has not looked for a month. */
const keptMs = 30 * 86_400_000

/** What may be so for longer than a month, and is told once. */
const lastingTopics: readonly AlertTopic[] = ['certificate.ending', 'domain.record-missing']

/** Forgets events that are older than a month, and that they were told where nobody looks back so far. */
export async function deleteOldEvents({ db, clock }: AlertParts): Promise<void> {
  const fromMs = clock.nowMs() - keptMs
  await db.deleteFrom('alert_events').where('at', '<', fromMs).execute()
  await db.deleteFrom('alert_causes').where('at', '<', fromMs).where('topic', 'not in', lastingTopics).execute()
}
