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
