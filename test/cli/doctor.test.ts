// What `odyssey doctor` says of an installation: sound ones, and ones that are wrong in one way each.

import { deepEqual, equal, match } from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Finding } from '../../src/service/doctor/finding.ts'
import { tryCli, type CliTarget } from '../harness/run-cli.ts'
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
