import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { compileCache, productProgram } from '../../harness/as-launched.ts'
import { tokenColumns } from '../../../src/billing/ledger/token-columns.ts'
import type { DatabaseLocation } from '../../../src/db/database-location.ts'

export const exportedColumns = ['cost_picos', ...tokenColumns] as const
export type ExportedSums = { readonly lines: number } & Readonly<Record<(typeof exportedColumns)[number], bigint>>

/** Adds up what the export command prints, by its text alone. */
export async function sumExport(location: DatabaseLocation, form: 'csv' | 'json'): Promise<ExportedSums> {
  const sums = Object.fromEntries(exportedColumns.map((column) => [column, 0n])) as Record<string, bigint>
  let lines = 0
  let names: readonly string[] = []
  for await (const line of printed(location, ['ledger', 'export', `--${form}`])) {
    if (form === 'csv' && names.length === 0) {
      names = line.split(',')
      continue
    }
    lines += 1
    const cells = form === 'csv' ? readCells(names, line) : readFields(line)
    sums['cost_picos'] = (sums['cost_picos'] ?? 0n) + readPicos(String(cells['cost_micros'] ?? '0'))
    for (const column of tokenColumns) sums[column] = (sums[column] ?? 0n) + BigInt(cells[column] ?? 0)
  }
  return { lines, ...sums } as ExportedSums
}

async function* printed({ home, databaseUrl }: DatabaseLocation, args: readonly string[]): AsyncGenerator<string> {
  const env = { PATH: process.env['PATH'] ?? '', ...compileCache, ODYSSEY_HOME: home, DATABASE_URL: databaseUrl ?? '' }
  const child = spawn(process.execPath, [productProgram, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  yield* createInterface({ input: child.stdout })
  const [code] = await ended
  if (code !== 0) throw new Error(`odyssey ${args.join(' ')} ended with ${code}.`)
}

/** No text in these rows has a comma or a quote. An empty cell is none. */
function readCells(names: readonly string[], line: string): Readonly<Record<string, string>> {
  const cells = line.split(',')
  if (cells.length !== names.length) throw new Error(`This line has ${cells.length} cells: ${line}`)
  return Object.fromEntries(names.map((name, index) => [name, cells[index] === '' ? '0' : (cells[index] ?? '0')]))
}

function readFields(line: string): Readonly<Record<string, string | number>> {
  return JSON.parse(line) as Readonly<Record<string, string | number>>
}

/** Reads a decimal number of micro-units digit by digit. */
function readPicos(text: string): bigint {
  const [whole = '', rest = ''] = text.split('.')
  return BigInt(whole + rest.padEnd(6, '0'))
}
