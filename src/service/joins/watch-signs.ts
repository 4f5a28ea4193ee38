import { readdirSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { raise, type AlertParts } from '../../alerts/append-event.ts'
import { notingFaults } from '../../telemetry/note-faults.ts'
import type { Config } from '../../config/schema.ts'
import { installationChain } from '../../db/change.ts'
import { every, systemClock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Metrics, Signs } from '../../telemetry/metrics.ts'
import { readCertificateEnd } from '../doctor/examine-network.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** So many days before its end a certificate is told of, the most urgent first; one that is over is told of as well. */
const certificateDays = [0, 3, 14] as const
/** So many looks in a row at which more waited than at the one before are no coincidence. */
const growthsMin = 3
/** A certificate is renewed weeks before its end, and looking at it is a connection. */
const certificateEveryMs = hourMs

export type SignParts = AlertParts & {
  readonly config: Pick<Config, 'home' | 'server'>
  readonly log: Log
  readonly metrics: Pick<Metrics, 'signsSeen'>
}

/**
 * Looks once a minute at what surrounds the service, for the metrics and for alerts.
 *
 * The numbers are there while the database is away, which is when rows of the ledger wait in the data folder. That they
 * do is told as soon as it can be told: until then it stands in the log.
 */
export function watchSigns(parts: SignParts): () => Promise<void> {
  const run = notingFaults(parts.log, 'the signs of the installation could not be read', createLook(parts))
  const first = run()
  const stop = every(systemClock, minuteMs, run)
  return async () => {
    await Promise.all([first, stop()])
  }
}

/** Each call is a look. */
export function createLook(parts: SignParts): () => Promise<void> {
  const { config, clock, metrics } = parts
  const { publicUrl } = config.server
  const spool = createSpoolWatch(parts)
  let certificate: { readonly endsAtMs: number | null; readonly untilMs: number } = { endsAtMs: null, untilMs: 0 }
  return async () => {
    if (publicUrl?.startsWith('https:') === true && clock.monotonicMs() >= certificate.untilMs) {
      certificate = { endsAtMs: await findEnd(parts, publicUrl), untilMs: clock.monotonicMs() + certificateEveryMs }
    }
    const spoolBytes = sizeOfSpool(config.home)
    const { blocks, bfree, bavail, bsize } = await statfs(config.home)
    const disk = { diskBytes: (blocks - bfree + bavail) * bsize, diskBytesLeft: bavail * bsize }
    const signs: Signs = { ...disk, spoolBytes, certificateEndsAtMs: certificate.endsAtMs }
    metrics.signsSeen({ ...signs, isAuditBroken: null })
    spool.see(spoolBytes)
    metrics.signsSeen({ ...signs, isAuditBroken: await wasAuditBroken(parts) })
    if (publicUrl !== null) await tellCertificate(parts, { publicUrl, endsAtMs: certificate.endsAtMs })
    await spool.tell()
  }
}

async function findEnd({ log }: SignParts, publicUrl: string): Promise<number | null> {
  const { hostname, port } = new URL(publicUrl)
  try {
    return await readCertificateEnd({ host: hostname, port: Number(port || 443), isTrusted: false })
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'the certificate of server.publicUrl could not be looked at')
    return null
  }
}

/** The rows of the ledger that wait in the data folder for PostgreSQL. */
export function sizeOfSpool(home: string): number {
  try {
    const folder = join(home, 'spool')
    const names = readdirSync(folder).filter((name) => name.endsWith('.rows'))
    return names.reduce((sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0)
  } catch {
    // There is no such folder where the ledger is in SQLite.
    return 0
  }
}

/** Whether that was told within a day: it is told again each day for as long as it is so. */
async function wasAuditBroken({ db, clock }: AlertParts): Promise<boolean> {
  const told = await db
    .selectFrom('alert_causes')
    .select('at')
    .where('topic', '=', 'audit.broken')
    .where('at', '>=', clock.nowMs() - dayMs - hourMs)
    .limit(1)
    .executeTakeFirst()
  return told !== undefined
}

type Certificate = { readonly publicUrl: string; readonly endsAtMs: number | null }

/** Tells that the certificate ends soon, once for each of these times. */
export async function tellCertificate(parts: AlertParts, { publicUrl, endsAtMs }: Certificate): Promise<void> {
  if (endsAtMs === null) return
  const days = certificateDays.find((count) => endsAtMs <= parts.clock.nowMs() + count * dayMs)
  if (days === undefined) return
  await raise(parts, {
    organizationId: installationChain,
    topic: 'certificate.ending',
    cause: `${publicUrl}:${endsAtMs}:${days}`,
    windowMs: null,
    data: { publicUrl, endsAt: new Date(endsAtMs).toISOString(), withinDays: days },
  })
}

function createSpoolWatch(parts: SignParts) {
  let last = 0
  let growths = 0
  let untold: { readonly bytes: number; readonly at: string } | null = null
  return {
    see(bytes: number): void {
      growths = bytes > last ? growths + 1 : 0
      last = bytes
      if (growths < growthsMin) return
      if (growths === growthsMin) parts.log.error({ bytes }, 'ever more rows of the ledger wait for the database')
      untold = { bytes, at: new Date(parts.clock.nowMs()).toISOString() }
    },
    async tell(): Promise<void> {
      if (untold === null) return
      const topic = 'spool.growing'
      await raise(parts, { organizationId: installationChain, topic, cause: 'spool', windowMs: hourMs, data: untold })
      untold = null
    },
  }
}
