import { join } from 'node:path'
import { writeAnchors, type AnchorFile } from '../../accounts/audit/anchors.ts'
import { checkpointFileIn } from '../../accounts/transparency/checkpoint-file.ts'
import { signCheckpoints, type Refusal, type Signing } from '../../accounts/transparency/sign-checkpoints.ts'
import { openSigningKeys } from '../../accounts/transparency/signing-keys.ts'
import { raise } from '../../alerts/append-event.ts'
import type { Config } from '../../config/schema.ts'
import type { Secrets } from '../../config/load-secret.ts'
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
  return { keys: await openSigningKeys(home, parts), name: audit.logName ?? host, file: checkpointFileIn(home) }
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

/** Signs every ten minutes for what was added to the audit. Returns the way to stop. */
export function keepSigning(parts: Parts, config: SigningConfig, log: Log) {
  const tell = async ({ organizationId, message }: Refusal) => {
    log.error({ organizationId, message }, 'the audit is not signed')
    // Whoever runs the service has to know of it as much as whose audit it is.
    for (const told of new Set([organizationId, installationChain])) {
      const data = { organizationId, message }
      const cause = {
        organizationId: told,
        topic: 'audit.broken',
        cause: organizationId,
        windowMs: dayMs,
        data,
      } as const
      await raise(parts, cause)
    }
  }
  const sign = async () => {
    try {
      const refusals = await signCheckpoints(parts, await openSigning(config, parts))
      for (const refusal of refusals) await tell(refusal)
    } catch (error) {
      log.error({ error }, 'the audit could not be signed')
    }
  }
  return nowAndEvery(parts.clock, signEveryMs, sign)
}
