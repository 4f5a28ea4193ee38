import { z } from 'zod'
import { time } from '../../schemas.ts'

const warnings = ['disk', 'sums', 'backup', 'public-url'] as const

/** What a service says of itself to who runs it. */
export type System = {
  readonly version: string
  readonly startedAtMs: number
  readonly database: 'file' | 'server'
  readonly migrations: { readonly latest: string | null; readonly waiting: number }
  readonly disk: { readonly freeBytes: number; readonly totalBytes: number } | null
  readonly ledger: { readonly rows: number; readonly notYetSummed: number }
  readonly reconciliation: { readonly atMs: number; readonly isEqual: boolean } | null
  readonly lastBackupAtMs: number | null
  readonly settings: readonly z.input<typeof setting>[]
  readonly warnings: readonly (typeof warnings)[number][]
}

const setting = z
  .strictObject({
    name: z.string().describe('Its place in the config file, or the variable of the environment.'),
    value: z.string().describe('As JSON. Of secrets only whether they are set.'),
    from: z.enum(['file', 'environment', 'command', 'default']),
  })
  .meta({ id: 'Setting' })

export const systemAnswer = z
  .strictObject({
    version: z.string(),
    startedAt: time,
    database: z.enum(['file', 'server']).describe('In the data folder, or a server of its own.'),
    migrations: z.strictObject({ latest: z.string().nullable(), waiting: z.int() }),
    disk: z
      .strictObject({ freeBytes: z.int(), totalBytes: z.int() })
      .nullable()
      .describe('Of the data folder; null where the file system does not say.'),
    ledger: z.strictObject({ rows: z.int(), notYetSummed: z.int().describe('Rows that sums do not contain yet.') }),
    reconciliation: z.strictObject({ at: time, isEqual: z.boolean() }).nullable(),
    lastBackupAt: time.nullable().describe('As `odyssey backup` on this machine has noted it.'),
    settings: z.array(setting).describe('In force until the next start; the config file is read then.'),
    warnings: z.array(z.enum(warnings)),
  })
  .meta({ id: 'System' })
