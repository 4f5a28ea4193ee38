// What `odyssey doctor` says of an installation: sound ones, and ones that are wrong in one way each.

import { deepEqual, equal, match } from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { spawnSync } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import type { Finding } from '../../src/service/doctor/finding.ts'
import { placeholderPath } from '../harness/engines/placeholder-path.ts'
import { nodeArguments, productProgram } from '../harness/as-launched.ts'
import { runCli, tryCli, type CliTarget } from '../harness/run-cli.ts'
import { startService, type Service } from '../harness/start-service.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.stop())

async function findings(target: CliTarget): Promise<{ readonly exitCode: number; of(about: string): Finding }> {
  const { exitCode, stdout, stderr } = await tryCli(target, 'doctor', '--json')
  equal(stderr, '')
  const { findings: all } = JSON.parse(stdout) as { findings: Finding[] }
  return {
    exitCode,
    of(about) {
      const found = all.find((finding) => finding.about === about)
      if (found === undefined) throw new Error(`Nothing is said of ${about}: ${stdout}`)
      return found
    },
  }
}

/** A data folder of its own, with a config file. */
function makeFolder(config: object, run: (target: CliTarget) => Promise<void>): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'odyssey-doctor-'))
  writeFileSync(join(home, 'odyssey.json'), JSON.stringify(config))
  return run({ home }).finally(() => rmSync(home, { recursive: true }))
}

test('a service that runs is examined beside it, and nothing of it is a fault', async () => {
  const { exitCode, of } = await findings(service)
  equal(exitCode, 0)
  for (const about of ['settings', 'data folder', 'database', 'secret', 'ledger', 'memory', 'port'])
    equal(of(about).level, 'fine', about)
  match(of('port').says, new RegExp(`listens on ${service.address}`))
  deepEqual([of('backup').level, of('backup').todo], ['warning', 'Run "odyssey backup FILE" each day.'])
})

test('people read a line for each thing, and under it what to do', async () => {
  const { stdout } = await tryCli(service, 'doctor')
  match(stdout, /^ok {5}database: SQLite answers, and its schema is up to date\.$/m)
  match(stdout, /^look {3}backup: .*\n {7}→ Run "odyssey backup FILE" each day\.$/m)
})

test('a folder that is still empty is no fault, and is not made into an installation', () =>
  makeFolder({ port: 0 }, async (target) => {
    const { exitCode, of } = await findings(target)
    deepEqual([exitCode, of('database').says], [0, 'There is none yet; the first "odyssey serve" makes it.'])
    deepEqual((await findings(target)).of('database'), of('database'))
  }))

test('a config file that is not there is not named as if it were', () =>
  makeFolder({ port: 0 }, async ({ home }) => {
    const target = { home, environment: { PORT: '0' } }
    const path = join(home, 'odyssey.json')
    equal((await findings(target)).of('settings').says, `The settings can be used; the config file is ${path}.`)
    rmSync(path)
    const { says } = (await findings(target)).of('settings')
    equal(says, `The settings can be used; there is no config file, which would be ${path}.`)
  }))

test('settings that cannot be used are told field by field, and end with 1', () =>
  makeFolder({ port: 'many', engine: { slots: 0 } }, async (target) => {
    const { exitCode, stdout } = await tryCli(target, 'doctor')
    equal(exitCode, 1)
    match(stdout, /FAULT {2}settings: .*port: must be a whole number from 0 to 65535/)
    match(stdout, /FAULT {2}settings: .*engine\.slots/)
  }))

test('a port that another program has is a fault', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  await makeFolder({ port }, async (target) => {
    const { exitCode, of } = await findings(target)
    deepEqual([exitCode, of('port').says], [1, `Port ${port} on 127.0.0.1 is taken.`])
  })
  other.close()
})

test('weights that are damaged or missing are named with their models', () =>
  makeFolder(
    { port: 0, models: { 'hal-1.0': { weights: 'bad.gguf' }, 'tycho-1.0': { weights: 'none.gguf' } } },
    async (target) => {
      writeFileSync(join(target.home, 'bad.gguf'), 'no weights at all')
      const { stdout, exitCode } = await tryCli(target, 'doctor')
      equal(exitCode, 1)
      match(stdout, /FAULT {2}weights: hal-1\.0: .*bad\.gguf/)
      match(stdout, /FAULT {2}weights: tycho-1\.0: .*none\.gguf/)
      match(stdout, /look {3}weights: clarke-1\.0: the starter weights/)
    },
  ))

/** The superuser may do everything: what a user may not is tried as one who owns nothing else. */
const isSuperuser = process.geteuid?.() === 0
const user = isSuperuser ? 65_534 : undefined
const canBeUser = spawnSync(process.execPath, [productProgram, '--version'], user === undefined ? {} : { uid: user })
const asUser = { skip: canBeUser.status === 0 ? false : 'no other user can start the program here' }

/** Files are given away by the superuser alone. */
const ofAnother = { skip: isSuperuser ? asUser.skip : 'only the superuser can give files away' }

/** An installation that belongs to that user, and its database's path. */
function makeInstallation(run: (target: CliTarget, path: string) => Promise<void>): Promise<void> {
  return makeFolder({ port: 0 }, async ({ home }) => {
    const target = { home, user, environment: { PORT: '0' } }
    if (user !== undefined) for (const path of [home, join(home, 'odyssey.json')]) chownSync(path, user, user)
    await runCli(target, 'migrate')
    await runCli(target, 'keys', 'create', '--name', 'any')
    await run(target, join(home, 'odyssey.db'))
  })
}

test('a database that cannot be written is a fault, and the service does not start with it but names it', asUser, () =>
  makeInstallation(async (target, path) => {
    equal((await findings(target)).exitCode, 0)
    chmodSync(path, 0o400)
    const { exitCode, of } = await findings(target)
    deepEqual(
      [exitCode, of('database').level, of('database').todo],
      [1, 'fault', `Let its own user use it: chmod u+rw ${path}`],
    )
    match(of('database').says, /odyssey\.db cannot be written: EACCES/)
    const { exitCode: ended, stderr } = await tryCli(target, 'serve')
    equal(ended, 1)
    match(
      stderr,
      /^\S+odyssey\.db cannot be written: EACCES.*\. Let its own user use it: chmod u\+rw \S+odyssey\.db\n$/m,
    )
  }),
)

test('what SQLite keeps beside the database has to be written too', asUser, () =>
  makeInstallation(async (target, path) => {
    // Whoever has it open keeps the two files beside it there.
    const open = new DatabaseSync(path)
    open.prepare('SELECT count(*) FROM sqlite_master').get()
    chmodSync(`${path}-shm`, 0o400)
    const { exitCode, of } = await findings(target)
    const { exitCode: ended, stderr } = await tryCli(target, 'serve')
    open.close()
    deepEqual([exitCode, of('database').todo], [1, `Let its own user use it: chmod u+rw ${path}-shm`])
    equal(ended, 1)
    match(stderr, /odyssey\.db-shm cannot be written: EACCES/)
  }),
)

test('a user whose files they are not is told whose they are, and to restore nothing', ofAnother, () =>
  makeInstallation(async ({ home }) => {
    // The folder lets others in, as one that was made by hand may; its files do not.
    chmodSync(home, 0o755)
    chmodSync(join(home, 'odyssey.json'), 0o644)
    const { exitCode, stdout } = await tryCli({ home, user: 12_345, environment: { PORT: '0' } }, 'doctor')
    equal(exitCode, 1)
    const owner = 'Run this as the user (?:nobody|65534), to whom \\S+ belongs\\.\\n'
    match(stdout, new RegExp(`FAULT {2}data folder: .*EACCES.*\\n +→ ${owner}`))
    match(stdout, new RegExp(`FAULT {2}database: .*odyssey\\.db cannot be written: EACCES.*\\n +→ ${owner}`))
    match(stdout, new RegExp(`FAULT {2}secret: .*secret\\.key cannot be read: EACCES.*\\n +→ ${owner}`))
    equal(/restore|Put it back/.test(stdout), false)
  }),
)

test('a file that somebody else has come to own is to be given back', ofAnother, () =>
  makeInstallation(async (target, path) => {
    chownSync(path, 0, 0)
    chownSync(join(target.home, 'secret.key'), 0, 0)
    const { of } = await findings(target)
    match(of('database').todo ?? '', /^Give it back to that folder's user: chown (nobody|65534) \S+odyssey\.db$/)
    match(of('secret').todo ?? '', /^Give it back to that folder's user: chown (nobody|65534) \S+secret\.key$/)
  }),
)

test('a database of a newer version is no damaged one', () =>
  makeFolder({ port: 0 }, async (target) => {
    await runCli(target, 'migrate')
    const db = new DatabaseSync(join(target.home, 'odyssey.db'))
    db.exec("INSERT INTO kysely_migration VALUES ('999-later', '2030-01-01T00:00:00.000Z')")
    db.close()
    const { of } = await findings(target)
    match(of('database').says, /newer version of Odyssey/)
    match(of('database').todo ?? '', /not known to be damaged\.$/)
  }))

const hasTerminal = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0

test(
  'on a terminal the hashing of weights says how far it is, and nothing where the words for people go elsewhere',
  { skip: hasTerminal ? false : 'there is no program here that makes a terminal' },
  () =>
    makeFolder({ port: 0 }, ({ home }) => {
      const command = [process.execPath, ...nodeArguments(), productProgram, 'doctor'].join(' ')
      const env = { PATH: process.env['PATH'] ?? '', ODYSSEY_HOME: home }
      const printedBy = (line: string) => spawnSync('script', ['-qec', line, '/dev/null'], { env }).stdout.toString()
      const printed = printedBy(command)
      match(printed, /\rChecking starter\.gguf .* 0 %/)
      match(printed, /\rChecking starter\.gguf .* 100 % [^\n]*\n/)
      match(printed, /look {3}weights: /)
      const silent = printedBy(`${command} 2>${join(home, 'said')}`)
      equal(silent.includes('Checking'), false)
      match(silent, /look {3}weights: /)
      equal(readFileSync(join(home, 'said'), 'utf8'), '')
      return Promise.resolve()
    }),
)

test('a model that a pool answers for has no weights here, and is not said to have the starter weights', () =>
  makeFolder(
    {
      port: 0,
      pools: { far: { tokenizer: 'far.gguf', replicas: [{ url: 'http://127.0.0.1:1', kind: 'vllm' }] } },
      models: { 'clarke-1.0': { pool: 'far' } },
    },
    async (target) => {
      const { stdout } = await tryCli(target, 'doctor')
      match(stdout, /weights: clarke-1\.0: none here, the pool far answers\./)
      match(stdout, /look {3}weights: hal-1\.0, tycho-1\.0: the starter weights/)
    },
  ))

test('a database that is damaged is a fault, and is left as it is', () =>
  makeFolder({ port: 0 }, async (target) => {
    writeFileSync(join(target.home, 'odyssey.db'), 'This is no database.'.repeat(500))
    const { exitCode, of } = await findings(target)
    deepEqual([exitCode, of('database').level], [1, 'fault'])
    match(of('database').todo ?? '', /odyssey restore FILE --replace/)
  }))

test('a server of a database that does not answer is a fault without its password', () =>
  makeFolder({ port: 0 }, async (target) => {
    const environment = { DATABASE_URL: 'postgresql://odyssey:hunter2@127.0.0.1:1/odyssey' }
    const { stdout, exitCode } = await tryCli({ ...target, environment }, 'doctor')
    equal(exitCode, 1)
    match(stdout, /FAULT {2}database: /)
    equal(stdout.includes('hunter2'), false)
  }))

test('a folder that others may enter is worth a look', () =>
  makeFolder({ port: 0 }, async (target) => {
    chmodSync(target.home, 0o755)
    deepEqual((await findings(target)).of('data folder').level, 'warning')
    match((await findings(target)).of('data folder').todo ?? '', /^Its files do not/)
    writeFileSync(join(target.home, 'secret.key'), `${'0'.repeat(64)}\n`, { mode: 0o644 })
    match((await findings(target)).of('data folder').says, /lets other users in\. So do its files secret\.key\.$/)
  }))

test('an address for browsers that nobody answers at is worth a look', () =>
  makeFolder({ port: 0, server: { publicUrl: 'https://127.0.0.1:1' } }, async (target) => {
    const { of } = await findings(target)
    deepEqual([of('certificate').level, of('certificate').says.includes('ECONNREFUSED')], ['warning', true])
  }))

test('other machines that are let in without an address for browsers are worth a look', () =>
  makeFolder({ port: 0, host: '0.0.0.0' }, async (target) => {
    deepEqual((await findings(target)).of('public address').level, 'warning')
  }))

test('a data folder of PostgreSQL without DATABASE_URL is a fault, as the service refuses it', () =>
  makeFolder({ port: 0 }, async (target) => {
    writeFileSync(join(target.home, 'database'), 'postgresql\n')
    const { exitCode, of } = await findings(target)
    deepEqual([exitCode, of('database').level], [1, 'fault'])
    match(of('database').says, /belongs to a PostgreSQL database: set DATABASE_URL/)
  }))

test('weights whose content is not what was fetched are a fault, and nothing is written down of them', () =>
  makeFolder({ port: 0 }, async (target) => {
    const weights = join(target.home, 'file.gguf')
    copyFileSync(placeholderPath, weights)
    const chosen = { weights, source: 'owner/repo/file.gguf', sha256: '0'.repeat(64) }
    writeFileSync(join(target.home, 'models.json'), JSON.stringify({ 'hal-1.0': chosen }))
    const before = readdirSync(target.home)
    const { exitCode, stdout } = await tryCli(target, 'doctor')
    equal(exitCode, 1)
    match(stdout, /FAULT {2}weights: hal-1\.0: .*damaged or another file.*as it was fetched/)
    deepEqual(readdirSync(target.home), before)
  }))

test('a port for the metrics that another program has is a fault', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  await makeFolder({ port: 0, metrics: { port } }, async (target) => {
    const { exitCode, of } = await findings(target)
    deepEqual([exitCode, of('metrics').says], [1, `Port ${port} on 127.0.0.1 is taken.`])
    equal(of('metrics').todo, 'Set metrics.port to another one.')
  })
  other.close()
})

test('a folder for prompts that cannot be used is a fault, and one that can be made is not made', () =>
  makeFolder({ port: 0, engine: { cacheFolder: 'odyssey.json' } }, async (target) => {
    const bad = await findings(target)
    deepEqual([bad.exitCode, bad.of('prompt folder').level], [1, 'fault'])
    writeFileSync(join(target.home, 'odyssey.json'), '{"port": 0, "engine": {"cacheFolder": "prompts"}}')
    const good = await findings(target)
    deepEqual([good.exitCode, good.of('prompt folder').level], [0, 'fine'])
    deepEqual(readdirSync(target.home), ['odyssey.json'])
  }))

test('a data folder that cannot be made is a fault', () =>
  makeFolder({ port: 0 }, async ({ home }) => {
    const { exitCode, of } = await findings({ home: join(home, 'odyssey.json', 'data'), environment: { PORT: '0' } })
    deepEqual([exitCode, of('data folder').level], [1, 'fault'])
  }))

test('the file of a killed service, whose process number another program has, is not taken for a service that runs', () =>
  makeFolder({ port: 0 }, async (target) => {
    const operator = { address: 'http://127.0.0.1:1', key: 'key' }
    const file = { pid: process.pid, address: 'http://127.0.0.1:1', operator }
    writeFileSync(join(target.home, 'service.json'), JSON.stringify(file))
    const { exitCode, of } = await findings(target)
    deepEqual([exitCode, of('port').says], [0, 'Port 0 on 127.0.0.1 is free.'])
  }))

test('a service that runs and does not answer is a fault', async (t) => {
  process.kill(service.pid, 'SIGSTOP')
  t.after(() => process.kill(service.pid, 'SIGCONT'))
  const { exitCode, of } = await findings(service)
  deepEqual([exitCode, of('port').level], [1, 'fault'])
  match(of('port').says, /runs and does not answer/)
})

test('a secret that is missing, or damaged, is told as such, and that no backup of the database holds it', () =>
  makeFolder({ port: 0 }, async (target) => {
    await runCli(target, 'migrate')
    await runCli(target, 'keys', 'create', '--name', 'any')
    const path = join(target.home, 'secret.key')
    const secret = readFileSync(path)
    const help = 'Put it back from where you keep the secret; a backup of the database does not hold it.'
    writeFileSync(path, 'nothing')
    const damaged = await findings(target)
    deepEqual([damaged.exitCode, damaged.of('database').level, damaged.of('secret').todo], [1, 'fine', help])
    match(damaged.of('secret').says, /secret\.key is damaged/)
    rmSync(path)
    const missing = await findings(target)
    deepEqual([missing.exitCode, missing.of('database').level, missing.of('secret').todo], [1, 'fine', help])
    writeFileSync(path, secret)
    equal((await findings(target)).of('secret').level, 'fine')
  }))
