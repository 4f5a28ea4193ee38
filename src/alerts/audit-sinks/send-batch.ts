// The ways by which a batch of the audit goes to a receiver: HTTPS, syslog over TLS, and a file.

import { open } from 'node:fs/promises'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import type { SinkFormat, SinkKind } from '../../core/alert-topic.ts'
import { createGuardedLookup } from '../../lib/network/public-address.ts'
import type { Reachable } from '../private-addresses.ts'
import { postMsMax, signWebhook, type Poster, type TlsSettings } from '../webhook.ts'
import type { Batch, Item } from './backlog.ts'
import { checkpointToOcsf, toOcsf, type Product } from './ocsf.ts'
import type { SinkTarget } from './sink-target.ts'

export type SendParts = {
  readonly poster: Poster
  readonly isReachable: Reachable
  readonly product: Product
}

export type Sending = {
  readonly sinkId: string
  readonly kind: SinkKind
  readonly format: SinkFormat
  readonly target: SinkTarget
  readonly batch: Batch
  readonly nowMs: number
  readonly signal: AbortSignal
}

/** Throws where the receiver has not taken everything; `isFinal` is set where it will never take anything again. */
export async function sendBatch(parts: SendParts, sending: Sending): Promise<void> {
  const { batch, format, kind, target } = sending
  const events = batch.items.map((item) => JSON.stringify(describe(item, format, parts.product)))
  if (kind === 'file') return appendLines(target.address, events)
  if (kind === 'webhook') return post(parts.poster, sending, `[${events.join(',\n')}]`)
  const messages = batch.items.map((item, index) => {
    const isRow = item.kind === 'row'
    const action = isRow ? item.entry.action : 'audit:checkpoint'
    const atMs = Date.parse(isRow ? item.entry.at : item.checkpoint.at)
    const isWarning = action.endsWith(':refuse')
    return formatSyslog({ atMs, kind: action, isWarning, host: parts.product.host, text: events[index] ?? '' })
  })
  const { hostname, port } = new URL(target.address)
  const receiver = { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port), tls: tlsOf(target) }
  await sendSyslog({ receiver, messages, isReachable: parts.isReachable, signal: sending.signal })
}

function describe(item: Item, format: SinkFormat, product: Product): unknown {
  if (item.kind === 'row') return format === 'ocsf' ? toOcsf(item.entry, product) : item.entry
  return format === 'ocsf' ? checkpointToOcsf(item.checkpoint, product) : { checkpoint: item.checkpoint }
}

function tlsOf({ ca, certificate, privateKey }: SinkTarget): TlsSettings {
  return {
    ...(ca !== null && { ca }),
    ...(certificate !== null && privateKey !== null && { cert: certificate, key: privateKey }),
  }
}

/** Statuses that say something of a batch and nothing of the next one: malformed, too large, or not to be worked on. */
const batchStatuses: ReadonlySet<number> = new Set([400, 413, 422])

/** What a receiver answered. */
export class SinkRefusal extends Error {
  override readonly name = 'SinkRefusal'
  readonly status: number
  readonly isFinal: boolean
  readonly isOfBatch: boolean

  constructor(status: number) {
    super(`The receiver answered ${status}.`)
    this.status = status
    this.isFinal = status === 410
    this.isOfBatch = batchStatuses.has(status)
  }
}

async function post(poster: Poster, { sinkId, target, batch, nowMs, signal }: Sending, body: string): Promise<void> {
  const [first, last] = [batch.items.at(0), batch.items.at(-1)].map((item) => (item === undefined ? '' : placeOf(item)))
  const id = `${sinkId}.${batch.organizationId}.${first}-${last}`
  const headers = target.secret === null ? { 'webhook-id': id } : signWebhook(target.secret, { id, body }, nowMs)
  const own = target.header === null ? {} : { [target.header.name.toLowerCase()]: target.header.value }
  const status = await poster.post({
    url: new URL(target.address),
    headers: { ...own, ...headers },
    body,
    tls: tlsOf(target),
    signal,
  })
  if (status < 200 || status > 299) throw new SinkRefusal(status)
}

/** Where an item stands in its organization's audit; with a `c` that of a checkpoint. */
export function placeOf(item: Item): string {
  return item.kind === 'row' ? String(item.entry.sequence) : `c${item.checkpoint.size}`
}

/** Whole lines behind whole lines: half of one, of a process that was killed, gets an end first. On the disk before it counts. */
async function appendLines(path: string, lines: readonly string[]): Promise<void> {
  const file = await open(path, 'a+', 0o600)
  try {
    const { size } = await file.stat()
    const end = Buffer.alloc(1, '\n')
    if (size > 0) await file.read(end, 0, 1, size - 1)
    const isTorn = end.toString('latin1') !== '\n'
    await file.writeFile(`${isTorn ? '\n' : ''}${lines.join('\n')}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
}

// Syslog (RFC 5424) over TLS (RFC 5425).

export type SyslogMessage = {
  readonly atMs: number
  /** What kind of message it is: an action of the audit. */
  readonly kind: string
  readonly isWarning: boolean
  readonly host: string
  /** JSON, of which everything beyond ASCII is escaped: so the message is the same in every encoding. */
  readonly text: string
}

/** The facility of audits, and the severities of something normal and of something to look at. */
const auditFacility = 13
const notice = 5
const warning = 4

/** A message of RFC 5424, behind the count of its bytes as RFC 5425 frames it. */
export function formatSyslog({ atMs, kind, isWarning, host, text }: SyslogMessage): string {
  const priority = auditFacility * 8 + (isWarning ? warning : notice)
  const head = [`<${priority}>1`, new Date(atMs).toISOString(), word(host, 255), 'odyssey', '-', word(kind, 32), '-']
  const message = `${head.join(' ')} ${escapeToAscii(text)}`
  return `${message.length} ${message}`
}

/** Visible ASCII, and never nothing. */
function word(text: string, lengthMax: number): string {
  return text.replaceAll(/[^!-~]/g, '').slice(0, lengthMax) || '-'
}

function escapeToAscii(json: string): string {
  return json.replaceAll(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export type SyslogReceiver = { readonly host: string; readonly port: number; readonly tls: TlsSettings }

export type SyslogSending = {
  readonly receiver: SyslogReceiver
  /** Framed. */
  readonly messages: readonly string[]
  readonly isReachable: Reachable
  readonly signal: AbortSignal
}

/**
 * Sends messages over a connection of their own, and resolves once the receiver has read all of them.
 *
 * Syslog has no acknowledgements. TLS has an orderly end, though: a receiver that is told that nothing more comes has to
 * answer with a close_notify of its own, which it can do only behind everything before. A connection that ends in
 * another way, or before it was told, counts as one on which nothing arrived.
 */
export async function sendSyslog({ receiver, messages, isReachable, signal }: SyslogSending): Promise<void> {
  // One that is over already tells no listener.
  signal.throwIfAborted()
  const limit = AbortSignal.any([signal, AbortSignal.timeout(postMsMax)])
  const raw = connectReachable(receiver, isReachable)
  const stop = () => raw.destroy(new Error(signal.aborted ? 'The service stops.' : 'The receiver did not end in time.'))
  limit.addEventListener('abort', stop, { once: true })
  try {
    await sendOver(raw, receiver, messages.join(''))
  } finally {
    limit.removeEventListener('abort', stop)
    raw.destroy()
  }
}

/** What the receiver began before it had read everything crosses the messages, and is here within this time. */
const settleMsMin = 200

function sendOver(raw: Socket, { host, tls }: SyslogReceiver, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const records = new WatchedSocket(raw)
    records.on('error', reject)
    const servername = isIP(host) === 0 ? { servername: host } : {}
    const startedMs = performance.now()
    let isTold = false
    const secure = connectTls({ ...tls, ...servername, host, socket: records, minVersion: 'TLSv1.2' })
    secure.on('error', reject)
    secure.once('secureConnect', () => {
      secure.write(text)
      // The handshake took longer than the way there and back.
      const settleMs = Math.max(settleMsMin, performance.now() - startedMs)
      setTimeout(() => {
        isTold = true
        secure.end()
      }, settleMs)
    })
    secure.resume().once('end', () => {
      if (isTold && records.endsWithAlert) resolve()
      else reject(new Error('The receiver closed the connection before it had read everything.'))
    })
    secure.once('close', () => reject(new Error('The receiver closed the connection.')))
  })
}

function connectReachable({ host, port }: SyslogReceiver, isReachable: Reachable): Socket {
  if (isIP(host) !== 0 && !isReachable(host)) throw new Error(`${host} is a private address.`)
  const refusal = (name: string) => `${name} is at a private address.`
  return connectTcp({ host, port, lookup: createGuardedLookup({ isAllowed: isReachable, refusal }) })
}

const headerBytes = 5
const alertRecord = 21
const encryptedRecord = 23
/** An alert of TLS 1.3: two bytes, its type and a tag of 16. No other record of a receiver that says nothing is as short. */
const encryptedAlertBytes = 19

/**
 * A connection over which TLS is spoken. It notes whether the last record that came was an alert; one that tells of a fault
 * fails what is spoken over it by itself.
 */
class WatchedSocket extends Duplex {
  endsWithAlert = false
  readonly #raw: Socket
  #header = Buffer.alloc(0)
  /** Bytes of the record's content that are still to come. */
  #left = 0

  constructor(raw: Socket) {
    super()
    this.#raw = raw
    raw.on('data', (chunk: Buffer) => {
      this.#watch(chunk)
      if (!this.push(chunk)) raw.pause()
    })
    raw.once('end', () => this.push(null))
    raw.once('error', (error) => this.destroy(error))
    raw.once('close', () => {
      if (!raw.readableEnded) this.destroy()
    })
  }

  override _read(): void {
    this.#raw.resume()
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#raw.write(chunk, done)
  }

  override _final(done: () => void): void {
    this.#raw.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#raw.destroy()
    done(error)
  }

  #watch(chunk: Buffer): void {
    for (let rest = chunk; rest.length > 0;) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, rest.length)
        this.#left -= taken
        rest = rest.subarray(taken)
        continue
      }
      const needed = headerBytes - this.#header.length
      this.#header = Buffer.concat([this.#header, rest.subarray(0, needed)])
      rest = rest.subarray(needed)
      if (this.#header.length === headerBytes) this.#beginRecord()
    }
  }

  #beginRecord(): void {
    const kind = this.#header[0]
    this.#left = this.#header.readUInt16BE(3)
    this.#header = Buffer.alloc(0)
    this.endsWithAlert = kind === alertRecord || (kind === encryptedRecord && this.#left === encryptedAlertBytes)
  }
}
