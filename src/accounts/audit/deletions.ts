import { z } from 'zod'
import type { AuditTable } from '../../db/tables/audit.ts'

/** The deed that the audit tells before its oldest rows are deleted. */
export const deletionAction = 'audit:expire'

const deletionSchema = z.object({
  /** The last row that is deleted; all before it are, or were. */
  through: z.int().min(1),
  /** What was said in a deleted row that the database was filled from a backup, with the signature of whoever did so. */
  restores: z
    .array(z.object({ target: z.string(), restoredAtMs: z.int(), signature: z.string() }))
    .default([])
    .catch([]),
})

/** What a row says was deleted; null for any other row. */
export function readDeletion({ action, after }: Pick<AuditTable, 'action' | 'after'>) {
  if (action !== deletionAction || after === null) return null
  return deletionSchema.safeParse(JSON.parse(after)).data ?? null
}
