export type Cell = string | number | bigint | boolean | null

/**
 * One line of a CSV file (RFC 4180).
 *
 * Clients choose some of the texts, and a spreadsheet would run one that begins
 * like a formula: such a text gets an apostrophe in front. A number below zero is none.
 */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  const isFormula = /^[\s\0]*[=+\-@|%]|^[\t\r\n]/.test(cell) && !/^-\d+(\.\d+)?$/.test(cell)
  const safe = isFormula ? `'${cell}` : cell
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/**
 * The rows of a CSV file (RFC 4180), the first one included. A cell may hold commas, quotation marks and ends of lines.
 *
 * Throws for a text that ends within quotation marks: some of it is missing.
 */
export function readCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|\r|$)/y
  while (cell.lastIndex < text.length) {
    const found = cell.exec(text)
    if (found === null) throw new Error(`The CSV cannot be read from line ${rows.length + 1} on.`)
    const [, quoted, plain = '', end] = found
    row.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === ',' && cell.lastIndex < text.length) continue
    // A comma at the very end has an empty cell behind it.
    if (end === ',') row.push('')
    rows.push(row)
    row = []
  }
  return rows
}
