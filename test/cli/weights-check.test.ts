// What is wrong with weights is found before they are loaded, at every start.

import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  closeSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { createWeightsCheck } from '../../src/models/weights/check-weights.ts'
import { builtInPath } from '../../src/models/weights/model-weights.ts'
import { readDigests, stampOf, writeDigest } from '../../src/models/weights/weights-digests.ts'
import { loadConfig } from '../../src/config/load.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { placeholderPath } from '../harness/engines/placeholder-path.ts'
import { runCli, startCli } from '../harness/run-cli.ts'
import { until } from '../harness/start-service.ts'
import { sha256Of } from '../harness/engines/weights-hub.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-weights-check-'))
after(() => rmSync(folder, { recursive: true }))

const never = new AbortController().signal

function makeHome(): { readonly home: string; readonly path: string } {
  const home = mkdtempSync(join(folder, 'home-'))
  mkdirSync(join(home, 'weights'))
  const path = join(home, 'weights/file.gguf')
  copyFileSync(placeholderPath, path)
  return { home, path }
}

/** 100 KB of tensors, of a file that stays as long as it was. */
function damage(path: string): void {
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(100_000, 0xa5), 0, 100_000, statSync(path).size - 150_000)
  closeSync(file)
}

function checkOf(home: string, path: string, engine: Record<string, unknown> = {}) {
  writeFileSync(join(home, 'odyssey.json'), JSON.stringify({ engine }))
  const config = loadConfig({ ODYSSEY_HOME: home }, home)
  return createWeightsCheck({ config, path, log: () => createLog('silent') })
}

describe('weights that were fetched', () => {
  test('are refused when their content is no longer what was fetched, whatever their date says', async () => {
    const { home, path } = makeHome()
    const before = statSync(path)
    writeDigest(home, path, { sha256: sha256Of(readFileSync(path)), origin: 'fetched', stamp: stampOf(path) })
    await checkOf(home, path)(never)
    damage(path)
    utimesSync(path, before.atime, before.mtime)
    const check = checkOf(home, path)
    await rejects(check(never), /damaged or another file.*as it was fetched/)
    // A second look does not hash it again, and comes to the same.
    await rejects(check(never), /damaged or another file/)
  })

  test('are known by their choice where nothing else is written down', async () => {
    const { home, path } = makeHome()
    const chosen = { weights: path, source: 'owner/repo/file.gguf', sha256: '0'.repeat(64) }
    writeFileSync(join(home, 'models.json'), JSON.stringify({ 'hal-1.0': chosen }))
    await rejects(checkOf(home, path)(never), /as it was fetched/)
  })
})

test('weights in whose place others were fetched are refused to the model that has chosen them', async () => {
  const { home, path } = makeHome()
  const chosen = { weights: path, source: 'http://files.example/file.gguf', sha256: sha256Of(readFileSync(path)) }
  writeFileSync(join(home, 'models.json'), JSON.stringify({ 'hal-1.0': chosen }))
  damage(path)
  writeDigest(home, path, { sha256: sha256Of(readFileSync(path)), origin: 'fetched', stamp: stampOf(path) })
  await rejects(checkOf(home, path)(never), /damaged or another file.*as it was fetched/)
})

describe('weights that the operator brought', () => {
  test('are hashed once, and may be replaced', async () => {
    const { home, path } = makeHome()
    await checkOf(home, path)(never)
    const first = readDigests(home)[path]
    equal(first?.sha256, sha256Of(readFileSync(placeholderPath)))
    damage(path)
    utimesSync(path, new Date(), new Date(Date.now() - 60_000))
    await checkOf(home, path)(never)
    equal(readDigests(home)[path]?.sha256, sha256Of(readFileSync(path)))
  })

  test('are refused when their content has changed and their date has not', async () => {
    const { home, path } = makeHome()
    utimesSync(path, 1_000_000, 1_000_000)
    await checkOf(home, path)(never)
    damage(path)
    utimesSync(path, 1_000_000, 1_000_000)
    await rejects(checkOf(home, path)(never), /its date has not/)
  })
})

test('a digest that is known is not computed again unless that is wanted', async () => {
  const { home, path } = makeHome()
  // What the disk gives back may change without a trace on the file; here the record of it is changed instead.
  writeDigest(home, path, { sha256: '1'.repeat(64), origin: 'operator', stamp: stampOf(path) })
  await checkOf(home, path)(never)
  await rejects(checkOf(home, path, { weightsCheck: 'always' })(never), /its date has not/)
})

test('a damaged record of digests costs no more than hashing', async () => {
  const { home, path } = makeHome()
  writeFileSync(join(home, 'weights-digests.json'), '{"')
  await checkOf(home, path)(never)
  equal(readDigests(home)[path]?.origin, 'operator')
})

test('the weights that come with Odyssey are what their manifest says', async () => {
  const { home } = makeHome()
  await checkOf(home, builtInPath)(never)
  equal(readDigests(home)[builtInPath]?.origin, 'fetched')
})

type Listed = { readonly id: string; readonly state: string; readonly reason: string | null }

test('a service starts with damaged weights, says which model is down and why, and serves the others', async (t) => {
  const { home, path } = makeHome()
  const sha256 = sha256Of(readFileSync(path))
  damage(path)
  const chosen = { weights: path, source: 'owner/repo/file.gguf', sha256 }
  const good = { weights: placeholderPath }
  writeFileSync(join(home, 'models.json'), JSON.stringify({ 'hal-1.0': chosen, 'clarke-1.0': good, 'tycho-1.0': good }))
  const { child, ended } = startCli({ home, environment: { PORT: '0' } }, 'serve')
  t.after(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const list = async () => {
    const { models } = JSON.parse(await runCli({ home }, 'models', '--json')) as { models: Listed[] }
    return models
  }
  const isSettled = (models: readonly Listed[]) => models.every(({ state }) => state === 'ready' || state === 'down')
  const models = await until(
    async () => {
      const listed = await list()
      return isSettled(listed) ? listed : null
    },
    'The models are not settled.',
    180_000,
  )
  deepEqual(Object.fromEntries(models.map(({ id, state }) => [id, state])), {
    'clarke-1.0': 'ready',
    'hal-1.0': 'down',
    'tycho-1.0': 'ready',
  })
  match(models.find(({ id }) => id === 'hal-1.0')?.reason ?? '', /damaged or another file/)
  match(await runCli({ home }, 'models'), /hal-1\.0 +down.*\n.*file\.gguf.*\n +.*is damaged or another file/)
})
