// What the product writes is for its own user alone, whatever the data folder's mode.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { chmodSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { listOpenFiles } from '../../src/service/joins/home-files.ts'
import { runCli, tryCli } from '../harness/run-cli.ts'
import { startService, type Service } from '../harness/start-service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

/** Files in the data folder that somebody else may read or write; the config file is its writer's business. */
function openFiles(): string[] {
  const files = readdirSync(service.home, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.name !== 'odyssey.json',
  )
  ok(files.length > 3)
  return files.map(({ parentPath, name }) => join(parentPath, name)).filter((path) => statSync(path).mode & 0o077)
}

test('no file of a running service’s data folder may be read by others', () => {
  deepEqual(openFiles(), [])
})

test('files that an earlier version left readable are not from the next command on', async () => {
  chmodSync(service.home, 0o755)
  for (const name of ['odyssey.db', 'odyssey.db-wal', 'serve.lock']) chmodSync(join(service.home, name), 0o644)
  await runCli(service, 'keys', 'list')
  deepEqual(openFiles(), [])
})

test('files of others in the data folder, and the config file whatever its name, keep the mode that they have', async () => {
  const [foreign, config] = [join(service.home, 'notes.txt'), join(service.home, 'settings.json')]
  writeFileSync(foreign, '')
  writeFileSync(config, '{}')
  for (const path of [foreign, config]) chmodSync(path, 0o644)
  await runCli({ ...service, environment: { ODYSSEY_CONFIG: config } }, 'keys', 'list')
  deepEqual(openFiles().toSorted(), [foreign, config])
  for (const path of [foreign, config]) rmSync(path)
})

test('all files of a running service’s data folder are among those that are kept to their owner', () => {
  const all = readdirSync(service.home, { withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = all.map(({ name }) => join(service.home, name)).filter((path) => !path.endsWith('/odyssey.json'))
  const modes = new Map(paths.map((path) => [path, statSync(path).mode]))
  for (const path of paths) chmodSync(path, 0o644)
  deepEqual(
    listOpenFiles(service.home)
      .map(({ path }) => path)
      .toSorted(),
    paths.toSorted(),
  )
  for (const [path, mode] of modes) chmodSync(path, mode)
})

test('a command that is given or finds invalid values does not print JSON', async () => {
  const rates = ['--input', '1', '--cache-read', '2', '--cache-write', '1', '--cache-write-long', '1', '--output', '1']
  const price = await tryCli(service, 'prices', 'set', 'clarke-1.0', ...rates)
  deepEqual([price.exitCode, price.stderr], [1, 'cacheRead: Input from the cache cannot cost more than other input.\n'])
  writeFileSync(join(service.home, 'models.json'), '{"clarke-1.0": {"weights": 5}, "other": {}}')
  const models = await tryCli(service, 'models')
  equal(models.exitCode, 1)
  match(models.stderr, /models\.json is damaged/)
  equal(/[{}[\]]/.test(models.stderr), false, models.stderr)
})
