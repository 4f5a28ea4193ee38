import { z } from 'zod'
import { csvLine, type Cell } from '../../lib/csv.ts'
import type { Export } from './route.ts'

export const exportFormat = z.enum(['csv', 'jsonl'])
export type ExportFormat = z.output<typeof exportFormat>

const contentTypes = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl; charset=utf-8' } as const

type Row = Readonly<Record<string, unknown>>

export type ExportedTable = {
  readonly name: string
  readonly columns: readonly string[]
  readonly pages: AsyncIterable<readonly Row[]>
}

/** File systems take names of 255 bytes; the browser may add a number, and the ending comes behind. */
const nameLengthMax = 200

type Asked = string | number | readonly string[] | null | undefined

/** A file's name says what was asked for: `ledger_org_1_model-hal-1.0`. What no file system takes becomes a dash. */
export function exportName(subject: string, asked: Readonly<Record<string, Asked>>): string {
  const said = Object.entries(asked).flatMap(([field, value]) => {
    const text = typeof value === 'object' ? (value?.join('+') ?? '') : String(value ?? '')
    return text === '' ? [] : [`_${field}-${text.replaceAll(/[^\w.+]+/g, '-')}`]
  })
  return (subject + said.join('')).slice(0, nameLengthMax)
}

/** Writes a table page by page, so that memory does not grow with it. */
export function writeExport(format: ExportFormat, { name, columns, pages }: ExportedTable): Export {
  const chunks = format === 'csv' ? writeCsv(columns, pages) : writeLines(pages)
  return { contentType: contentTypes[format], fileName: `${name}.${format}`, chunks }
}

async function* writeLines(pages: ExportedTable['pages']): AsyncGenerator<string> {
  for await (const rows of pages) yield rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

async function* writeCsv(columns: readonly string[], pages: ExportedTable['pages']): AsyncGenerator<string> {
  yield csvLine(columns)
  for await (const rows of pages) {
    yield rows.map((row) => csvLine(columns.map((column) => toCell(row[column])))).join('')
  }
}

function toCell(value: unknown): Cell {
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return JSON.stringify(value)
}

/** What is made already, as an export has it. */
export async function* onePiece(text: string): AsyncGenerator<string> {
  yield text
}
