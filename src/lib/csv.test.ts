import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { csvLine, readCsv } from './csv.ts'

test('what is written as CSV is read as it was', () => {
  // A text that begins like a formula gets an apostrophe, and a row of one empty cell is an empty line.
  const cell = fc.string().filter((text) => !/^[\s\0]*[=+\-@|%]|^[\t\r\n]/.test(text))
  const rows = fc.array(fc.array(cell, { minLength: 1 }), { minLength: 1 })
  fc.assert(fc.property(rows, (written) => deepEqual(readCsv(written.map(csvLine).join('')), written)))
})

test('CSV of other programs is read too: other ends of lines, none at the end, and empty cells', () => {
  deepEqual(readCsv('a,b\n"1, 2",\n,"say ""x"""\n'), [
    ['a', 'b'],
    ['1, 2', ''],
    ['', 'say "x"'],
  ])
  deepEqual(readCsv('a\rb'), [['a'], ['b']])
  deepEqual(readCsv('a,'), [['a', '']])
  deepEqual(readCsv(''), [])
})

test('CSV that is cut off within quotation marks, or has one in the middle of a cell, is refused', () => {
  for (const text of ['a,"b\nc', 'a"b,c', '"a"b,c']) throws(() => readCsv(text), /cannot be read from line/, text)
})
