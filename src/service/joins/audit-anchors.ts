import { join } from 'node:path'
import { writeAnchors, type AnchorFile } from '../../accounts/audit/anchors.ts'
import { deleteOldAuditRows, type Deletion } from '../../accounts/audit/delete-old-rows.ts'
import { checkpointFileIn } from '../../accounts/transparency/checkpoint-file.ts'
import { signCheckpoints, type Refusal, type Signing } from '../../accounts/transparency/sign-checkpoints.ts'
import { askWitnesses, type Witness } from '../../accounts/transparency/witnesses.ts'
import { openSigningKeys } from '../../accounts/transparency/signing-keys.ts'
import { raise } from '../../alerts/append-event.ts'
import type { Config } from '../../config/schema.ts'
import type { Secrets } from '../../config/load-secret.ts'
import { parseCosigner } from '../../lib/signed-note.ts'
import { nowAndEvery, type Clock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { installationChain } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Whoever holds an older checkpoint can wait so long for the next one. */
const signEveryMs = 600_000

type Parts = { readonly db: Database; readonly clock: Clock }

type SigningConfig = Pick<Config, 'home' | 'audit' | 'server'>

/** What signs the audit of the installation in a data folder. */
export async function openSigning({ home, audit, server }: SigningConfig, parts: Parts): Promise<Signing> {
  const host = server.publicUrl === null ? 'odyssey' : new URL(server.publicUrl).hostname
  const keys = await openSigningKeys({ home, signer: audit.signer }, parts)
  return { keys, name: audit.logName ?? host, file: checkpointFileIn(home) }
}

/** Whom the config file names to cosign. */
export function witnessesOf({ audit }: Pick<Config, 'audit'>): readonly Witness[] {
  return audit.witnesses.flatMap(({ url, key }) => {
    const cosigner = parseCosigner(key)
    return cosigner === null ? [] : [{ ...cosigner, url }]
  })
}

export function anchorFileIn(home: string, secrets: Secrets): AnchorFile {
  return { path: join(home, 'audit-anchors.jsonl'), key: secrets.auditAnchorKey }
}

/** Writes down every hour where the audit's chains end, outside the database. Returns the way to stop. */
export function keepAnchors(parts: Parts, file: AnchorFile, log: Log) {
  const write = () =>
    writeAnchors(parts, file).catch((error: unknown) => log.error({ error }, 'the audit could not be anchored'))
  return nowAndEvery(parts.clock, hourMs, write)
}

/** Whoever runs the service has to know of it as much as whose audit it is. */
async function tellBroken(parts: Parts, { organizationId, ...data }: Refusal & Readonly<Record<string, unknown>>) {
  for (const told of new Set([organizationId, installationChain])) {
    const cause = { organizationId: told, topic: 'audit.broken', cause: organizationId, windowMs: dayMs } as const
    await raise(parts, { ...cause, data: { organizationId, ...data } })
  }
}

/** Has witnesses cosign what was signed. One that has seen another audit than this one is an alarm. */
async function askForCosignatures(parts: Parts, config: SigningConfig, log: Log): Promise<void> {
  const asked = { witnesses: witnessesOf(config), file: checkpointFileIn(config.home) }
  for (const { organizationId, witness, message, contradiction } of await askWitnesses(parts, asked)) {
    log.error({ organizationId, witness, message, ...contradiction }, 'a checkpoint of the audit was not cosigned')
    if (contradiction !== null) await tellBroken(parts, { organizationId, message, witness, ...contradiction })
  }
}

/** Signs every ten minutes for what was added to the audit, and has it cosigned. Returns the way to stop. */
export function keepSigning(parts: Parts, config: SigningConfig, log: Log) {
  const tell = async (refusal: Refusal) => {
    log.error(refusal, 'the audit is not signed')
    await tellBroken(parts, { ...refusal })
  }
  const sign = async () => {
    try {
      const refusals = await signCheckpoints(parts, await openSigning(config, parts))
      for (const refusal of refusals) await tell(refusal)
      await askForCosignatures(parts, config, log)
    } catch (error) {
      log.error({ error }, 'the audit could not be signed')
    }
  }
  return nowAndEvery(parts.clock, signEveryMs, sign)
}

/** A sink that is away for good holds the deletion of old rows up for good, which nobody sees by itself. */
async function tellHeld(parts: Parts, { organizationId, held }: Deletion): Promise<void> {
  if (held === null) return
  for (const told of new Set([organizationId, installationChain])) {
    const cause = {
      organizationId: told,
      topic: 'audit.deletion-held',
      cause: organizationId,
      windowMs: dayMs,
    } as const
    await raise(parts, { ...cause, data: { organizationId, ...held } })
  }
}

/** Deletes once a day what of the audit is older than so many days. Returns the way to stop. */
export function keepDeleting(parts: Parts, { home, audit: { daysMax } }: SigningConfig, log: Log) {
  if (daysMax === null) return () => Promise.resolve()
  const work = async () => {
    try {
      const retention = { daysMax, file: checkpointFileIn(home) }
      for (const done of await deleteOldAuditRows(parts, { kind: 'operator' }, retention)) {
        const { organizationId, rows, refusal, held } = done
        if (rows > 0) log.info({ organizationId, rows }, 'old rows of the audit were deleted')
        if (held !== null) log.warn({ organizationId, ...held }, 'old rows of the audit are kept for sinks')
        await tellHeld(parts, done)
        if (refusal === null) continue
        log.error({ organizationId, message: refusal }, 'old rows of the audit are not deleted')
        await tellBroken(parts, { organizationId, message: refusal })
      }
    } catch (error) {
      log.error({ error }, 'old rows of the audit could not be deleted')
    }
  }
  return nowAndEvery(parts.clock, dayMs, work)
}
