import { equal, match } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'

const script = join(import.meta.dirname, '../../../scripts/campaign.ts')

test('a campaign that lacks a program says in one line which', async (t) => {
  const empty = mkdtempSync(join(tmpdir(), 'odyssey-path-'))
  t.after(() => rmSync(empty, { recursive: true }))
  const { code, said } = await run(['rolling', '--seed', '1'], empty)
  equal(code, 1)
  match(said, /^The campaign rolling starts haproxy, which is not on this machine\.\n$/)
})

function run(words: readonly string[], path: string): Promise<{ readonly code: unknown; readonly said: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...process.execArgv, script, ...words], { env: { PATH: path } }, (error, _, said) =>
      resolve({ code: error?.code ?? 0, said }),
    )
  })
}
