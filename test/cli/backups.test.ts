// What `odyssey backup` and `odyssey restore` say of a file that cannot be written or read: they name what the operator named.

import { deepEqual, equal } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { nodeArguments } from '../harness/as-launched.ts'
import { runCli, tryCli } from '../harness/run-cli.ts'

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'odyssey-backups-'))
const home = join(folder, 'data')
const places = join(folder, 'backups')

before(async () => {
  mkdirSync(places)
  await runCli({ home }, 'migrate')
})
after(() => rmSync(folder, { recursive: true }))

test('a backup into a folder that is not there blames the folder, and not the database', async () => {
  const { exitCode, stderr } = await tryCli({ home }, 'backup', join(places, 'nope', 'x.db'))
  deepEqual([exitCode, stderr], [1, `There is no folder ${join(places, 'nope')} for the backup.\n`])
})

test('a backup onto a disk that takes no more blames the backup, and not the database', async () => {
  const path = join(places, 'full.db')
  equal(statSync(join(home, 'odyssey.db')).size > 64 * 1_024, true)
  const stderr = await new Promise<string>((resolve) => {
    // A limit of a file's size is refused as a full disk is, whoever runs the test; 64 of them are 32 or 64 KiB.
    const limited = ['-c', 'ulimit -f 64; exec "$@"', 'sh', process.execPath, ...nodeArguments(), main, 'backup', path]
    const env = { PATH: process.env['PATH'] ?? '', ODYSSEY_HOME: home }
    execFile('sh', limited, { env }, (_, __, said) => resolve(said))
  })
  equal(/^The backup \S+full\.db cannot be written: [^\n]+\n$/.test(stderr), true, stderr)
  deepEqual(readdirSync(places), [])
})

test('what cannot be restored is told by the name that the operator gave', async () => {
  const [empty, foreign] = [join(places, 'empty.db'), join(places, 'foreign.db')]
  writeFileSync(empty, '')
  const database = new DatabaseSync(foreign)
  database.exec('CREATE TABLE other (id TEXT)')
  database.close()
  const faults = [
    [empty, `${empty} is no database of Odyssey's.\n`],
    [foreign, `${foreign} is no database of Odyssey's.\n`],
    [places, `${places} is not a file.\n`],
  ] as const
  for (const [path, said] of faults) {
    deepEqual(await tryCli({ home }, 'restore', path, '--replace'), { exitCode: 1, stdout: '', stderr: said })
  }
})
