import { fromCostColumns } from '../../billing/ledger/cost-columns.ts'
import { readLedger, type LedgerRow } from '../../billing/ledger/read-ledger.ts'
import { toMicrosText } from '../../core/money.ts'
import { requireId, withInstallation } from '../accounts/with-installation.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { csvLine } from '../../lib/csv.ts'
import { parsePeriod, periodOptions } from './period.ts'
import { writeOut } from './write-out.ts'

const options = {
  ...periodOptions,
  organization: { type: 'string' },
  csv: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

/** In the order in which they are written; a hash of what a client sent is nobody's business outside. */
const columns = [
  'sequence',
  'request_id',
  'kind',
  'at',
  'admitted_at',
  'organization_id',
  'project_id',
  'api_key_id',
  'quota_id',
  'model',
  'protocol',
  'is_stream',
  'outcome',
  'reason',
  'input_uncached',
  'input_cache_read',
  'input_cache_write',
  'input_cache_write_long',
  'output',
  'output_thinking',
  'price_id',
  'cost_micros',
  'first_event_ms',
  'first_token_ms',
  'duration_ms',
  'cache_source',
  'replica',
  'count_source',
  'routing',
  'client_request_id',
  'end_user',
  'tags',
] as const satisfies readonly (keyof LedgerRow)[]

/** `odyssey ledger export`: every row, one line each, however many there are. */
export async function ledgerCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, words: { export: 0 } })
  if (positionals[0] !== 'export' || values.csv === values.json)
    throw new UsageError('ledger takes export --csv or export --json.')
  const period = parsePeriod(values)
  const organizationId = values.organization === undefined ? null : requireId(values.organization, 'org')
  await withInstallation(async ({ db }) => {
    if (values.csv) await writeOut(csvLine(columns))
    const describe = values.csv ? toCsv : toJson
    for await (const page of readLedger(db, { ...period, organizationId })) await writeOut(page.map(describe).join(''))
  })
}

function toCsv(row: LedgerRow): string {
  return csvLine(columns.map((column) => exported(row, column)))
}

function toJson(row: LedgerRow): string {
  return `${JSON.stringify(Object.fromEntries(columns.map((column) => [column, exported(row, column)])))}\n`
}

function exported(row: LedgerRow, column: (typeof columns)[number]) {
  const isTime = column === 'at' || column === 'admitted_at'
  if (column === 'cost_micros') return costOf(row)
  const value = row[column]
  return isTime && typeof value === 'number' ? new Date(value).toISOString() : value
}

/** A decimal number of micro-units, as a text: a number of JSON has not all the digits. */
function costOf(row: LedgerRow): string | null {
  const picos = fromCostColumns(row)
  return picos === null ? null : toMicrosText(picos)
}
