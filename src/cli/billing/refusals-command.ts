import { readRefusals, refusalBuckets, type RefusalRow } from '../../billing/refusals/read-refusals.ts'
import { dayMs } from '../../billing/usage/usage-columns.ts'
import { csvLine } from '../../lib/csv.ts'
import { systemClock } from '../../lib/clock.ts'
import { operator, requireId, withInstallation } from '../accounts/with-installation.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { parsePeriod, periodOptions } from './period.ts'
import { textTable } from './text-table.ts'
import { writeOut } from './write-out.ts'

const options = {
  ...periodOptions,
  by: { type: 'string', default: 'hour' },
  organization: { type: 'string' },
  csv: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

const rowsPerRead = 1_000

/** `odyssey refusals`: how many requests were turned away, whose and why. */
export async function refusalsCommand(args: string[]): Promise<void> {
  const { values } = parseArguments({ args, options })
  const bucket = (Object.keys(refusalBuckets) as (keyof typeof refusalBuckets)[]).find((name) => name === values.by)
  if (bucket === undefined) throw new UsageError(`refusals --by takes ${Object.keys(refusalBuckets).join(', ')}.`)
  if (values.csv && values.json) throw new UsageError('refusals takes --csv or --json.')
  const { fromMs = systemClock.nowMs() - dayMs, toMs = null } = parsePeriod(values)
  const organizationId = values.organization === undefined ? null : requireId(values.organization, 'org')
  await withInstallation(async ({ db }) => {
    const rows: RefusalRow[] = []
    for (let after: RefusalRow | null = null; ;) {
      const query = { organizationId, fromMs, toMs, bucket, limit: rowsPerRead, after }
      const page = await readRefusals(db, operator, query)
      rows.push(...page)
      after = page.at(-1) ?? null
      if (page.length < rowsPerRead) break
    }
    await writeOut(describe(rows, values))
  })
}

type Form = { readonly csv: boolean; readonly json: boolean }

function describe(rows: readonly RefusalRow[], { csv, json }: Form): string {
  const shown = rows.map(({ startMs, ...row }) => ({ start: new Date(startMs).toISOString(), ...row }))
  if (json) return `${JSON.stringify(shown)}\n`
  const head = ['start', 'organization', 'class', 'requests']
  const lines = shown.map((row) => [row.start.slice(0, 16), row.organizationId ?? '-', row.class, row.requests])
  if (csv) return [head, ...lines].map(csvLine).join('')
  return `${textTable([head, ...lines].map((cells) => cells.map(String)))}\n`
}
