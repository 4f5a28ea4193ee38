import { readUsage, type UsageRow } from '../../billing/usage/query-usage.ts'
import type { UsageQuery } from '../../billing/usage/select-usage.ts'
import { dayMs } from '../../billing/usage/usage-columns.ts'
import { systemClock } from '../../lib/clock.ts'
import { operator, requireId, withInstallation } from '../accounts/with-installation.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { csvLine, type Cell } from '../../lib/csv.ts'
import { formatExact, formatRounded } from './money-text.ts'
import { parsePeriod, periodOptions } from './period.ts'
import { textTable } from './text-table.ts'
import { writeOut } from './write-out.ts'
import { readRefusals, refusalBuckets, type RefusalRow } from '../../billing/refusals/read-refusals.ts'

const optionsOf = (by: string) =>
  ({
    ...periodOptions,
    by: { type: 'string', default: by },
    organization: { type: 'string' },
    csv: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  }) as const

const groupings: Readonly<Record<string, Pick<UsageQuery, 'bucket' | 'groupBy'>>> = {
  key: { bucket: 'whole', groupBy: 'key' },
  project: { bucket: 'whole', groupBy: 'project' },
  model: { bucket: 'whole', groupBy: 'model' },
  user: { bucket: 'whole', groupBy: 'attribution' },
  tag: { bucket: 'whole', groupBy: 'attribution' },
  day: { bucket: 'day', groupBy: null },
  hour: { bucket: 'hour', groupBy: null },
}

const daysUnlessTold = 30
const rowsPerRead = 1_000

/** `odyssey usage`: what an organization has used and what it cost. */
export async function usageCommand(args: string[]): Promise<void> {
  const { values } = parseArguments({ args, options: { ...optionsOf('day'), tag: { type: 'string' } } })
  const grouping = Object.hasOwn(groupings, values.by) ? groupings[values.by] : undefined
  if (grouping === undefined) throw new UsageError(`usage --by takes ${Object.keys(groupings).join(', ')}.`)
  if (values.csv && values.json) throw new UsageError('usage takes --csv or --json.')
  const nowMs = systemClock.nowMs()
  const { fromMs = nowMs - (nowMs % dayMs) - (daysUnlessTold - 1) * dayMs, toMs = null } = parsePeriod(values)
  const named = values.organization === undefined ? null : requireId(values.organization, 'org')
  await withInstallation(async ({ db, home }, config) => {
    const scope = { organizationId: named ?? home.organizationId, fromMs, toMs, ...attributedTo(values) }
    const query = { ...grouping, ...scope, limit: rowsPerRead }
    const rows: UsageRow[] = []
    let cursor: string | null = null
    do {
      const page = await readUsage(db, operator, { ...query, cursor })
      rows.push(...page.rows)
      cursor = page.nextCursor
    } while (cursor !== null)
    await writeOut(describe(rows, { ...values, currency: config.billing.currency }))
  })
}

/** Of whom usage is summed up: end users, or the values of one tag. */
function attributedTo({
  by,
  tag,
}: {
  readonly by: string
  readonly tag?: string | undefined
}): Pick<UsageQuery, 'attributed'> {
  if ((by === 'tag') !== (tag !== undefined))
    throw new UsageError('usage --by tag needs --tag KEY, and nothing else does.')
  if (by === 'user') return { attributed: { dimension: 'user' } }
  return tag === undefined ? {} : { attributed: { dimension: `tag:${tag}` } }
}

type Form = { readonly csv: boolean; readonly json: boolean; readonly by: string; readonly currency: string }

function describe(rows: readonly UsageRow[], { csv, json, by, currency }: Form): string {
  if (json) return `${JSON.stringify(rows.map((row) => toJson(row, currency)))}\n`
  const head = [
    by,
    'requests',
    'input',
    'cache_read',
    'cache_write',
    'output',
    'voided',
    'not_priced',
    `cost_${currency}`,
  ]
  if (csv)
    return [head, ...rows.map((row) => toCells(row, by, ({ costPicos }) => formatExact(costPicos)))]
      .map(csvLine)
      .join('')
  const lines = rows.map((row) => toCells(row, by, showCost))
  return `${textTable([head, ...lines].map((cells) => cells.map(String)))}\n`
}

function toCells(row: UsageRow, by: string, showsCost: (row: UsageRow) => string): Cell[] {
  const { inputUncached, inputCacheRead, inputCacheWrite, output } = row.usage
  const name =
    row.group === ''
      ? '(none)'
      : (row.group ?? new Date(row.startMs ?? 0).toISOString().slice(0, by === 'day' ? 10 : 16))
  const tokens = [inputUncached, inputCacheRead, inputCacheWrite, output]
  return [name, row.requests, ...tokens, row.reversed, row.unpriced, showsCost(row)]
}

/** What had no price at all did not cost nothing: nobody knows what it cost. */
function showCost({ requests, unpriced, costPicos }: UsageRow): string {
  return requests > 0 && unpriced === requests ? '-' : formatRounded(costPicos)
}

function toJson({ startMs, costPicos, unpriced, ...row }: UsageRow, currency: string) {
  const start = startMs === null ? null : new Date(startMs).toISOString()
  return { start, ...row, notPriced: unpriced, cost: formatExact(costPicos), currency }
}

/** `odyssey refusals`: how many requests were turned away, whose and why. */
export async function refusalsCommand(args: string[]): Promise<void> {
  const { values } = parseArguments({ args, options: optionsOf('hour') })
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
    await writeOut(describeRefusals(rows, values))
  })
}

type RefusalForm = { readonly csv: boolean; readonly json: boolean }

function describeRefusals(rows: readonly RefusalRow[], { csv, json }: RefusalForm): string {
  const shown = rows.map(({ startMs, ...row }) => ({ start: new Date(startMs).toISOString(), ...row }))
  if (json) return `${JSON.stringify(shown)}\n`
  const head = ['start', 'organization', 'class', 'requests']
  const lines = shown.map((row) => [row.start.slice(0, 16), row.organizationId ?? '-', row.class, row.requests])
  if (csv) return [head, ...lines].map(csvLine).join('')
  return `${textTable([head, ...lines].map((cells) => cells.map(String)))}\n`
}
