import type { Column, RowResult } from './rounds.ts'

/**
 * A Markdown table. A ratio is the median of the rounds' own ratios: what slowed one round
 * down slowed both sides of it.
 */
export function toTable(results: readonly RowResult[]): string {
  const names = results[0]?.columns.map(({ contestant }) => contestant) ?? []
  const others = names.slice(1)
  const heads = ['', 'Unit', 'Better', ...names, ...others.flatMap((other) => [`${names[0]} / ${other}`, 'Range'])]
  const lines = results.map(({ row, columns }) => {
    const [first, ...rest] = columns
    const ratios = rest.flatMap((column) => (row.better === null ? ['', ''] : ratioCells(first!, column)))
    return [row.name, row.unit, row.better ?? '', ...columns.map(({ values }) => show(values)), ...ratios]
  })
  const rules = heads.map((_, index) => (index < 3 ? '-' : '-:'))
  return [heads, rules, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function show(values: Column['values']): string {
  const middle = median(values.filter((value) => value !== null))
  if (middle === null) return '–'
  return middle.toLocaleString('en', { maximumFractionDigits: middle < 100 ? 1 : 0 })
}

function ratioCells(first: Column, other: Column): [ratio: string, range: string] {
  const ratios = first.values.flatMap((value, round) => {
    const against = other.values[round] ?? null
    return value === null || against === null ? [] : [value / against]
  })
  const middle = median(ratios)
  if (middle === null) return ['–', '']
  return [`**${middle.toFixed(2)}**`, [Math.min(...ratios), Math.max(...ratios)].map((one) => one.toFixed(2)).join('–')]
}

export function median(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((one, other) => one - other)
  const middle = sorted.length / 2
  const [lower, upper] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return lower === undefined || upper === undefined ? null : (lower + upper) / 2
}
