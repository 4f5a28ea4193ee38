// What `odyssey backup` and `odyssey restore` say of a file that cannot be written or read: they name what the operator named.

import { deepEqual, equal } from 'node:assert/strict'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { nodeArguments, productProgram } from '../harness/as-launched.ts'
import { runCli, tryCli } from '../harness/run-cli.ts'
import { until } from '../harness/start-service.ts'

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
    const limited = [
      '-c',
      'ulimit -f 64; exec "$@"',
      'sh',
      process.execPath,
      ...nodeArguments(),
      productProgram,
      'backup',
      path,
    ]
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

test('what a backup that was killed left behind is gone with the next one, and nothing else of the folder', async () => {
  const place = join(folder, 'kept')
  mkdirSync(place)
  // So much takes a while to be copied.
  const database = new DatabaseSync(join(home, 'odyssey.db'))
  database.exec('CREATE TABLE ballast (bytes BLOB); INSERT INTO ballast VALUES (zeroblob(200000000))')
  database.close()
  const others = ['notes.unfinished', 'disk.img.unfinished-1', 'x.db-wal']
  for (const name of others) writeFileSync(join(place, name), 'of somebody else')

  const killed = await stopMidway(place, 'killed.db')
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  const left = readdirSync(place).filter((name) => !others.includes(name))
  equal(
    left.some((name) => name.startsWith('killed.db.unfinished-')) && !left.includes('killed.db'),
    true,
    String(left),
  )

  const going = await stopMidway(place, 'going.db')
  await runCli({ home }, 'backup', join(place, 'next.db'))
  const names = readdirSync(place)
  deepEqual(
    names.filter((name) => name.startsWith('killed.db')),
    [],
  )
  equal(
    names.some((name) => name.startsWith('going.db.unfinished-')),
    true,
    'One that is still being written stays.',
  )
  const ended = once(going, 'exit')
  going.kill('SIGCONT')
  equal((await ended)[0], 0)
  deepEqual(readdirSync(place).toSorted(), [...others, 'going.db', 'next.db'].toSorted())
})

/** Begins a backup, and stops its process while the file is being written. */
async function stopMidway(place: string, name: string): Promise<ChildProcess> {
  const env = { PATH: process.env['PATH'] ?? '', ODYSSEY_HOME: home }
  const path = join(place, name)
  const child = spawn(process.execPath, [...nodeArguments(), productProgram, 'backup', path], { env, stdio: 'ignore' })
  const isOwn = (other: string) => other.startsWith(`${name}.unfinished-`)
  const sizeOf = (other: string) => statSync(join(place, other), { throwIfNoEntry: false })?.size ?? 0
  // The file grows when all that comes before has been done.
  await until(() => readdirSync(place).some((other) => isOwn(other) && sizeOf(other) > 1_000_000), 'None was begun.')
  child.kill('SIGSTOP')
  equal(existsSync(path), false, 'It was stopped before it was whole.')
  return child
}
