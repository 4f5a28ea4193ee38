// Writes ledger rows without a pause until it is killed: `node writing-program.ts HOME FIRST [DATABASE_URL]`.
// The program writes the number of each durable row, which is also its output tokens, as a line of the file `told` in HOME.

import { openSync, writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { openLedgerWriter } from '../../src/billing/ledger/writer/open-ledger-writer.ts'
import { ledgerRow } from '../harness/databases/ledger-row.ts'

// Who is killed cannot do so at its end, and the next one shall start sooner.
flushCompileCache()
const [home = '', first = '0', databaseUrl = null] = process.argv.slice(2)
const writersAtOnce = 8

// Should the campaign be ended, nobody is left to kill this.
process.stdin.resume().once('end', () => process.exit())

const writer = await openLedgerWriter({ home, databaseUrl }, { failed: console.error, recovered() {} })
// A file takes every line, whatever becomes of this process; a pipe that is full does not.
const told = openSync(join(home, 'told'), 'w')
let next = Number(first)

async function writeOn(): Promise<never> {
  for (;;) {
    const number = next++
    await writer.write([ledgerRow(number)])
    writeSync(told, `${number}\n`)
    if (number === Number(first)) console.log('writing')
  }
}

await Promise.all(Array.from({ length: writersAtOnce }, writeOn))
