import { ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { budgetFields, limitFields, type Fields } from '../../src/core/limit-fields.ts'

const page = readFileSync(new URL('../../docs/operations/limits.md', import.meta.url), 'utf8')

function tableOf(command: string, fields: Fields): string {
  const rows = Object.entries(fields).map(([name, { option, about, absent, ...field }]) => {
    const standard = typeof absent === 'number' ? ` ${absent} unless given.` : ''
    const isMoney = 'unit' in field && field.unit === 'micros'
    const units = isMoney ? ` \`--${option}\` takes whole units: 50.00 for 50000000.` : ''
    return `| \`${name}\` | \`--${option}\` | ${about}${units}${standard} |`
  })
  return [`| Value | Option of \`${command}\` | Meaning |`, '| - | - | - |', ...rows].join('\n')
}

for (const [command, fields] of [
  ['limits set', limitFields],
  ['budgets set', budgetFields],
] as const) {
  test(`the page on limits lists every field of \`${command}\` as it is declared`, () => {
    const table = tableOf(command, fields)
    ok(page.includes(table), `docs/operations/limits.md needs this table:\n${table}`)
  })
}
