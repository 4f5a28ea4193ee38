// Other weights for a service that runs: through its own commands, and under load.

import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { useWeights } from '../../src/cli/models/use-weights.ts'
import type { LoadedWeights } from '../../src/http/api/engine-schemas.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { ModelId } from '../../src/core/model.ts'
import { ask, bodyFor, formats, longMessages, paths, type Format } from '../harness/http/ask.ts'
import { madeGguf } from '../harness/engines/made-gguf.ts'
import { placeholderPath } from '../harness/engines/placeholder-path.ts'
import { checkStream, openFormatStream } from '../harness/http/open-stream.ts'
import { runCli, startCli, tryCli } from '../harness/run-cli.ts'
import { runningServiceOf } from '../harness/running-service-of.ts'
import { startService, until, type Service } from '../harness/start-service.ts'
import { linkedHeaders, sendFile, startWeightsHub } from '../harness/engines/weights-hub.ts'

type Row = { readonly weights: string; readonly choice: string; readonly source: string | null }

/** What the operator's list says of a model. */
async function rowOf(service: Service, model: string): Promise<Row> {
  const { models } = JSON.parse(await runCli(service, 'models', '--json')) as { models: (Row & { id: string })[] }
  const { weights, choice, source } = models.find(({ id }) => id === model)!
  return { weights, choice, source }
}

/** What the service itself says that it has loaded. */
async function loadedFor({ home }: Service): Promise<Record<string, LoadedWeights>> {
  const weights = await runningServiceOf(home).readWeights()
  return Object.fromEntries(weights.map((loaded) => [loaded.model, loaded]))
}

const pidOf = async (service: Service, model: string) => (await loadedFor(service))[model]?.enginePid ?? 0

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('a service whose weights are swapped', () => {
  let service: Service
  let copies: string[]
  before(async () => {
    service = await startService({ weights: 'built-in', config: { engine: { windowTokensMax: 4_096 } } })
    copies = ['one.gguf', 'two.gguf'].map((name) => join(service.home, name))
    for (const copy of copies) copyFileSync(placeholderPath, copy)
  })
  after(() => service.stop())

  /** As `odyssey models use`, without starting a process for it. Null goes back to the built-in weights. */
  const use = (model: ModelId, path: string | null) => {
    const config = loadConfig({ ODYSSEY_HOME: service.home }, service.home)
    return useWeights(config, model, path === null ? null : { weights: path, source: null, sha256: null })
  }

  test('fails no request under load, in either format, streamed or not, during five swaps', async () => {
    let isOver = false
    let answers = 0
    const failures: string[] = []
    const askAlways = async (format: Format, isStream: boolean) => {
      while (!isOver) {
        const fields = { max_tokens: 30, stream: isStream }
        const { status, text } = await ask(service, paths[format], { body: bodyFor(format, fields) })
        answers += 1
        if (status !== 200) failures.push(`${status} ${text}`)
        else if (isStream) checkStream(format, text)
        else ok((JSON.parse(text) as { usage: unknown }).usage)
      }
    }
    const countAlways = async () => {
      while (!isOver) {
        const body = { model: 'clarke-1.0', messages: longMessages(20) }
        const { status, text } = await ask(service, '/v1/messages/count_tokens', { body })
        if (status !== 200) failures.push(`${status} ${text}`)
      }
    }
    const load = formats.flatMap((format) => [askAlways(format, true), askAlways(format, false)])
    const all = Promise.all([...load, countAlways()])
    const pids = new Set<number>()
    for (let swap = 0; swap < 5; swap++) {
      await use('clarke-1.0', copies[swap % 2] ?? '')
      const atSwap = answers
      pids.add(await pidOf(service, 'clarke-1.0'))
      await until(() => answers > atSwap + 4, 'Nothing is answered.')
    }
    isOver = true
    await all
    deepEqual(failures, [])
    ok(answers > 50)
    ok(pids.size >= 2)
    const ledger = service.ledger()
    equal(ledger.length, answers)
    ok(ledger.every(({ outcome }) => outcome === 'finished'))
  })

  test('lets a stream that the old weights have begun go on to its end', async () => {
    await use('clarke-1.0', copies[0] ?? '')
    const oldPid = await pidOf(service, 'clarke-1.0')
    const body = bodyFor('chat', { max_tokens: 1_500, messages: longMessages(1_500) })
    const stream = await openFormatStream(service, 'chat', body)
    await use('clarke-1.0', copies[1] ?? '')
    notEqual(await pidOf(service, 'clarke-1.0'), oldPid)
    const { text, isWhole } = await stream.ended
    ok(isWhole)
    checkStream('chat', text)
    await until(() => !isAlive(oldPid), 'The old engine does not end.')
  })

  test('shares the engine of a file that another model has, and keeps it while one has it', async () => {
    await use('clarke-1.0', copies[0] ?? '')
    await use('hal-1.0', copies[0] ?? '')
    const shared = await pidOf(service, 'hal-1.0')
    equal(await pidOf(service, 'clarke-1.0'), shared)
    notEqual(await pidOf(service, 'tycho-1.0'), shared)
    await use('clarke-1.0', null)
    equal(await pidOf(service, 'clarke-1.0'), await pidOf(service, 'tycho-1.0'))
    equal(await pidOf(service, 'hal-1.0'), shared)
    equal((await rowOf(service, 'clarke-1.0')).choice, 'built-in')
  })

  test('notices that a file has new content under its old name', async () => {
    const path = copies[0] ?? ''
    await use('tycho-1.0', path)
    const before = await pidOf(service, 'tycho-1.0')
    rmSync(path)
    copyFileSync(placeholderPath, path)
    await use('tycho-1.0', path)
    notEqual(await pidOf(service, 'tycho-1.0'), before)
  })

  test('refuses weights that are no weights, and goes on with the old ones', async () => {
    const broken = join(service.home, 'broken.gguf')
    const before = await loadedFor(service)
    for (const [content, reason] of [
      [Buffer.from('GGUF'), /ends within its header/],
      [readFileSync(placeholderPath).subarray(0, 900_000), /cut off/],
      // This one is as it should be until an engine tries to run it.
      [madeGguf(), /clarke-1\.0 keeps its weights\. The engine cannot load the weights/],
    ] as const) {
      writeFileSync(broken, content)
      const { exitCode, stderr } = await tryCli(service, 'models', 'use', 'clarke-1.0', broken)
      equal(exitCode, 1)
      match(stderr, reason)
      const { status } = await ask(service, paths.chat, { body: bodyFor('chat', { max_tokens: 5 }) })
      equal(status, 200)
    }
    deepEqual(await loadedFor(service), before)
  })

  test('takes what is pulled from a hub, and nothing that is damaged on the way', async () => {
    const weights: Buffer = readFileSync(placeholderPath)
    const damaged = Buffer.from(weights)
    damaged[700_000] = (damaged[700_000] ?? 0) ^ 1
    let content: Buffer = damaged
    const hub = await startWeightsHub((request, response) =>
      sendFile(request, response, { content, headers: linkedHeaders(weights) }),
    )
    const command = ['models', 'pull', 'clarke-1.0', 'owner/repo/file.gguf', '--hub', hub.address]
    const before = await loadedFor(service)
    const refused = await tryCli(service, ...command)
    equal(refused.exitCode, 1)
    match(refused.stderr, /is damaged or another file/)
    equal(existsSync(join(service.home, 'weights/owner/repo/file.gguf')), false)
    deepEqual(await loadedFor(service), before)
    equal((await ask(service, paths.messages, { body: bodyFor('messages') })).status, 200)

    content = weights
    match(await runCli(service, ...command), /clarke-1\.0 runs .*file\.gguf: 8 slots, window 4,096 tokens/)
    deepEqual(await rowOf(service, 'clarke-1.0'), {
      weights: join(service.home, 'weights/owner/repo/file.gguf'),
      choice: 'command',
      source: 'owner/repo/file.gguf',
    })
    await hub.close()
    const offline = await tryCli(service, ...command)
    equal(offline.exitCode, 1)
    match(offline.stderr, /cannot be reached .* odyssey models use clarke-1\.0 FILE\n$/)
  })

  test('tells clients nothing of it but another fingerprint', async () => {
    const fingerprintOf = async () => {
      const { text } = await ask(service, paths.chat, { body: bodyFor('chat', { max_tokens: 1 }) })
      ok(!text.includes('.gguf') && !text.includes('owner'))
      return (JSON.parse(text) as { system_fingerprint: string }).system_fingerprint
    }
    const before = await fingerprintOf()
    equal(await fingerprintOf(), before)
    await use('clarke-1.0', copies[1] ?? '')
    notEqual(await fingerprintOf(), before)
  })

  test('starts with what was chosen last, also while it was stopped', async () => {
    await use('clarke-1.0', copies[0] ?? '')
    equal(await service.stop(), 0)
    match(await runCli(service, 'models', 'use', 'hal-1.0', copies[1] ?? ''), /when the service starts/)
    service = await service.restart()
    const loaded = await loadedFor(service)
    deepEqual([loaded['clarke-1.0']?.path, loaded['hal-1.0']?.path], copies)
  })
})

test('Ctrl-C leaves what has arrived for the next time', async () => {
  const weights: Buffer = readFileSync(placeholderPath)
  const hub = await startWeightsHub((request, response) => {
    const isFirst = request.method === 'GET' && request.headers.range === undefined
    if (!isFirst) return sendFile(request, response, { content: weights, etag: '"one"' })
    response.writeHead(200, { 'content-length': weights.length, etag: '"one"' })
    return response.write(weights.subarray(0, 1_000_000))
  })
  const home = mkdtempSync(join(tmpdir(), 'odyssey-stop-'))
  const part = join(home, 'weights/o/r/a.gguf.part')
  const command = ['models', 'pull', 'hal-1.0', 'o/r/a.gguf', '--hub', hub.address, '--no-use']
  const { child, ended } = startCli({ home }, ...command)
  await until(() => existsSync(part) && statSync(part).size === 1_000_000, 'Nothing arrives.')
  child.kill('SIGINT')
  const { exitCode, stderr } = await ended
  equal(exitCode, 130)
  match(stderr, /^Stopped\. What has arrived is kept/m)
  match(await runCli({ home }, ...command), /^Fetched: .*a\.gguf/)
  equal(hub.gets().at(-1)?.range, 'bytes=1000000-')
  await hub.close()
  rmSync(home, { recursive: true })
})

test('weights that the config file names are not overruled', async () => {
  const service = await startService({
    weights: 'built-in',
    config: { models: { 'hal-1.0': { weights: placeholderPath } } },
  })
  const { exitCode, stderr } = await tryCli(service, 'models', 'use', 'hal-1.0', '--built-in')
  equal(exitCode, 1)
  match(stderr, /odyssey\.json names weights for hal-1\.0/)
  equal(await service.stop(), 0)
})
