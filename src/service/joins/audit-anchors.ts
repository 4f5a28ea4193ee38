import { join } from 'node:path'
import { writeAnchors, type AnchorFile } from '../../accounts/audit/anchors.ts'
import type { Secrets } from '../../config/load-secret.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Database } from '../../db/database.ts'

const hourMs = 3_600_000

export function anchorFileIn(home: string, secrets: Secrets): AnchorFile {
  return { path: join(home, 'audit-anchors.jsonl'), key: secrets.auditAnchorKey }
}

/** Writes down every hour where the audit's chains end, outside the database. Returns the way to stop. */
export function keepAnchors(
  parts: { readonly db: Database; readonly clock: Clock },
  file: AnchorFile,
  log: Log,
): () => void {
  let cancel = () => {}
  const write = () => {
    cancel = parts.clock.after(hourMs, write)
    writeAnchors(parts, file).catch((error: unknown) => log.error({ error }, 'the audit could not be anchored'))
  }
  write()
  return () => cancel()
}
