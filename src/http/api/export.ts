import { z } from 'zod'
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

/** Writes a table page by page, so that memory does not grow with it. */
export function writeExport(format: ExportFormat, { name, columns, pages }: ExportedTable): Export {
  const chunks = format === 'csv' ? writeCsv(columns, pages) : writeLines(pages)
  return { contentType: contentTypes[format], fileName: `${name}.${format}`, chunks }
}

async function* writeLines(pages: ExportedTable['pages']): AsyncGenerator<string> {
  for await (const rows of pages) yield rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

async function* writeCsv(columns: readonly string[], pages: ExportedTable['pages']): AsyncGenerator<string> {
  yield `${columns.join(',')}\r\n`
  for await (const rows of pages) {
    yield rows.map((row) => `${columns.map((column) => writeCell(row[column])).join(',')}\r\n`).join('')
  }
}

/** As RFC 4180 says, and so that no spreadsheet takes a text for a formula. */
function writeCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
