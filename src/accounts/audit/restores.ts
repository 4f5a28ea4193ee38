import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { change, installationChain, type ChangeParts } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { AuditTable } from '../../db/tables/audit.ts'
import { randomId } from '../../lib/random-id.ts'
import { deletionAction, readDeletion } from './deletions.ts'

const action = 'installation:restore'
/** The deeds that say when the database was filled from a file. */
export const restoreActions = [action, deletionAction] as const
const operator = { kind: 'operator' } as const

export type Restored = {
  /** The name of the file that the database was filled from. */
  readonly file: string
  /** Null where the installation's secret is not there; anchors from before then go on to count. */
  readonly key: Uint8Array | null
}

/**
 * Records, signed, that the database was filled from a file. What was anchored before is no longer expected of it.
 *
 * Nobody stays signed in: a session that ended after the backup was made, of somebody who left perhaps, would begin again
 * with it, and a link for setting a password that was used since would work once more.
 */
export function recordRestore(parts: ChangeParts, { file, key }: Restored): Promise<void> {
  const target = `restore_${randomId()}`
  return change(parts, operator, { action, organizationId: installationChain, target }, async (transaction, note) => {
    const restoredAtMs = parts.clock.nowMs()
    const sessions = await transaction.deleteFrom('sessions').executeTakeFirst()
    await transaction.deleteFrom('passkey_challenges').execute()
    await transaction.deleteFrom('one_time_links').execute()
    const sessionsEnded = Number(sessions.numDeletedRows)
    const signature = key === null ? null : sign(target, restoredAtMs, key)
    note(null, { file, restoredAtMs, sessionsEnded, signature })
  })
}

const restoredSchema = z.object({ restoredAtMs: z.int(), signature: z.string() })

/** When the database was last filled from a file, in milliseconds; 0 where nobody with the install's secret did so. */
export async function lastRestoreMs(db: Database, key: Uint8Array): Promise<number> {
  const rows = await db
    .selectFrom('audit')
    .select(['action', 'target', 'after'])
    .where('organization_id', '=', installationChain)
    .where('action', 'in', restoreActions)
    .execute()
  const signed = rows.flatMap(readRestores).filter(({ target, restoredAtMs, signature }) => {
    return isSame(signature, sign(target, restoredAtMs, key))
  })
  return Math.max(0, ...signed.map(({ restoredAtMs }) => restoredAtMs))
}

/** What a row says of the database having been filled: its own, or that of deleted rows which it goes on to tell. */
export function readRestores(row: Pick<AuditTable, 'action' | 'target' | 'after'>) {
  const { target, after } = row
  if (row.action !== action) return readDeletion(row)?.restores ?? []
  const { data } = restoredSchema.safeParse(JSON.parse(after ?? 'null'))
  return data === undefined ? [] : [{ target, ...data }]
}

function sign(target: string, restoredAtMs: number, key: Uint8Array): string {
  const content = JSON.stringify(['odyssey-audit-restore-1', target, restoredAtMs])
  return createHmac('sha256', key).update(content).digest('hex')
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}
