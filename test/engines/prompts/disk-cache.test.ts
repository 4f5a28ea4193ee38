import { runAlone } from '../../../src/core/engine.ts'
import { deepEqual, equal, ok } from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, afterEach, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type CacheReport, type EngineRequest, type Usage, modelSampling } from '../../../src/core/generation.ts'
import type { LlamaEngine } from '../../../src/engines/llama/llama-engine.ts'
import { openLlama } from '../../harness/engines/open-llama.ts'
import { placeholderPath } from '../../harness/engines/placeholder-path.ts'
import { engineRequest } from '../../harness/requests.ts'
import { until } from '../../harness/start-service.ts'

const starterPath = fileURLToPath(new URL('../../../weights/starter.gguf', import.meta.url))
const never = new AbortController().signal
const key = new Uint8Array(32).fill(7)

for (const [name, weightsPath] of [
  ['a model that sees everything', placeholderPath],
  ['a model with windows', starterPath],
] as const) {
  suite(`${name}: prompts on the disk`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'odyssey-cache-'))
    const engines: LlamaEngine[] = []
    after(() => rmSync(folder, { recursive: true, force: true }))
    beforeEach(() => rmSync(folder, { recursive: true, force: true }))
    afterEach(async () => void (await Promise.all(engines.splice(0).map((engine) => engine.close()))))

    function open(changes: { readonly key?: Uint8Array; readonly bytesMax?: number } = {}): LlamaEngine {
      const cacheOnDisk = { folder, bytesMax: 1e9, key, ...changes }
      // Steps by size are the same on a busy machine, and so are the last bits of what they compute.
      const engine = openLlama({ weightsPath, slots: 2, windowTokensMax: 4_096, cacheOnDisk, stepsBySize: true })
      engines.push(engine)
      return engine
    }

    test('make the next process warm, for their own organization alone', async () => {
      const before = open()
      const cold = await ask(before, question)
      equal(cold.usage.inputCacheRead, 0)
      await before.close()
      ok(files(folder).length > 0)
      const next = open()
      equal((await ask(next, question, 'org_b')).usage.inputCacheRead, 0)
      const warm = await ask(next, question)
      equal(warm.cache?.source, 'disk')
      ok(warm.usage.inputCacheRead >= 0.95 * promptOf(warm.usage), JSON.stringify(warm.usage))
      equal(promptOf(warm.usage), promptOf(cold.usage))
      equal(warm.text, cold.text)
    })

    test('stay as useful through one restart after another', async () => {
      const { usage } = await askAndClose(open())
      const reused: number[] = []
      for (let restart = 1; restart <= 3; restart += 1) {
        reused.push((await askAndClose(open())).usage.inputCacheRead)
      }
      ok((reused[0] ?? 0) >= 0.95 * promptOf(usage), `${reused.join(', ')} of ${promptOf(usage)}`)
      equal(new Set(reused).size, 1, reused.join(', '))
    })

    test('a pinned beginning is warm for other questions, through one restart after another', async () => {
      const before = open()
      const cold = await ask(before, marked('What did she count?'))
      equal(cold.usage.inputCacheRead, 0)
      ok(cold.usage.inputCacheWrite > 300, JSON.stringify(cold.usage))
      const goingOn = marked('What did she count?', cold.text, 'And then?')
      await ask(before, goingOn)
      await before.close()
      for (const other of ['Where does she live?', 'Who is the keeper?', 'Is it night?']) {
        const next = open()
        const warm = await ask(next, marked(other))
        equal(warm.cache?.source, 'disk')
        ok(warm.usage.inputCacheRead >= cold.usage.inputCacheWrite, `${other} ${JSON.stringify(warm.usage)}`)
        // What was told from the beginning of the file on is told as from one that was computed here.
        equal((await ask(next, marked(other))).text, warm.text)
        await next.close()
      }
      const last = open()
      const { usage } = await ask(last, goingOn)
      ok(usage.inputCacheRead > cold.usage.inputCacheWrite, JSON.stringify([usage, cold.usage]))
    })

    test('are written when the engine rests, so that a killed process has lost little', async () => {
      const engine = open()
      await ask(engine, question)
      await until(() => files(folder).some((file) => file.endsWith('.state')), 'Nothing was written.')
      const { pid } = engine
      ok(pid !== null)
      process.kill(pid, 'SIGKILL')
      const isBack = () => engine.status().state === 'ready' && engine.pid !== pid
      await until(isBack, 'The engine did not come back.')
      equal((await ask(engine, question)).cache?.source, 'disk')
    })

    test('hold no text that could be read, and are nothing without their key', async () => {
      await askAndClose(open())
      for (const file of files(folder)) ok(!readFileSync(file).includes('lighthouse'))
      const other = open({ key: new Uint8Array(32).fill(8) })
      equal((await ask(other, question)).usage.inputCacheRead, 0)
    })

    test('damaged files of the cache are removed and do no harm', async () => {
      const cold = await askAndClose(open())
      for (const file of files(folder)) {
        const bytes = readFileSync(file)
        bytes.writeUInt8(bytes.readUInt8(bytes.length - 40) ^ 1, bytes.length - 40)
        writeFileSync(file, bytes)
      }
      const again = await ask(open(), question)
      deepEqual([again.usage.inputCacheRead, again.text], [0, cold.text])
    })

    test('take no more room than they are given', async () => {
      const engine = open({ bytesMax: 1 })
      await askAndClose(engine)
      equal(
        files(folder).reduce((sum, file) => sum + statSync(file).size, 0),
        0,
      )
    })
  })
}

const question = `${'The lighthouse keeper counts the ships that pass in the night. '.repeat(40)} Hello!`

function files(folder: string): string[] {
  const names =
    statSync(folder, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(folder, { recursive: true })
  return names.map((name) => join(folder, String(name))).filter((path) => statSync(path).isFile())
}

async function askAndClose(engine: LlamaEngine) {
  const answer = await ask(engine, question)
  await engine.close()
  return answer
}

/** A system text that is pinned, and a conversation behind it. */
function marked(...turns: readonly string[]): EngineRequest['messages'] {
  const text = 'The lighthouse keeper counts the ships that pass in the night. '.repeat(40)
  const turn = (said: string, index: number) =>
    ({ role: index % 2 === 0 ? 'user' : 'assistant', content: [{ kind: 'text', text: said }] }) as const
  return [
    { role: 'system', content: [{ kind: 'text', text, cacheBreakpoint: { lifetime: '5m' } }] },
    ...turns.map(turn),
  ] as EngineRequest['messages']
}

async function ask(engine: LlamaEngine, asked: string | EngineRequest['messages'], organizationId = 'org_a') {
  const plain = (text: string) => [{ role: 'user', content: [{ kind: 'text', text }] }] as const
  const request: EngineRequest = engineRequest({
    messages: typeof asked === 'string' ? plain(asked) : asked,
    sampling: { ...modelSampling, temperature: 0 },
    outputTokensMax: 40,
    owner: { organizationId, apiKeyId: 'key_test' },
  })
  let cache: CacheReport | undefined
  let said = ''
  for await (const event of runAlone(engine, request, never)) {
    if (event.type === 'start') ({ cache } = event)
    if (event.type === 'delta') said += event.text
    if (event.type === 'finish') return { usage: event.usage, cache, text: said }
  }
  throw new Error('The answer did not end.')
}

function promptOf({ inputUncached, inputCacheRead, inputCacheWrite }: Usage): number {
  return inputUncached + inputCacheRead + inputCacheWrite
}
