import { deepEqual, equal } from 'node:assert/strict'
import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ledgerRow } from '../../../../test/harness/databases/ledger-row.ts'
import { openWriteAheadFiles } from './write-ahead-files.ts'

test('no file that is kept for its damaged lines takes the place of another one, whatever is started between', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-write-ahead-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (let start = 1; start <= 3; start += 1) {
    const files = openWriteAheadFiles(folder, 1_000_000)
    await files.append([ledgerRow(start)])
    const [name = ''] = readdirSync(folder).filter((one) => one.endsWith('.rows'))
    appendFileSync(join(folder, name), 'no line of a ledger\n')
    const oldest = await files.oldest()
    equal(oldest?.damagedCount, 1)
    await files.remove(oldest)
    await files.close()
    deepEqual(readdirSync(folder).length, start)
  }
})
