// Weights are looked at before they are loaded, and loading comes to an end in every case.

import { runAlone } from '../../src/core/engine.ts'
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { copyFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { collect } from '../../src/core/collect.ts'
import { openLlama } from '../harness/engines/open-llama.ts'
import { placeholderPath } from '../harness/engines/placeholder-path.ts'
import { engineRequest } from '../harness/requests.ts'
import { until } from '../harness/start-service.ts'

const never = new AbortController().signal
const stalledChild = new URL('../harness/engines/stalled-child.ts', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'odyssey-loading-'))
after(() => rmSync(folder, { recursive: true }))

test('a header that would keep the engine loading for ever never reaches it', async () => {
  const path = join(folder, 'small.gguf')
  // It announces a million million entries and holds none of them.
  const header = Buffer.alloc(84)
  header.write('GGUF\u0003', 'latin1')
  header.writeBigUInt64LE(1_000_000_000_000n, 8)
  header.writeBigUInt64LE(1_000_000_000_000n, 16)
  writeFileSync(path, header)
  const pids = new Set<number | null>()
  const exits: string[] = []
  const engine = openLlama({ weightsPath: path }, { onExit: (reason) => exits.push(reason) })
  await until(() => (pids.add(engine.pid), engine.status().state === 'down'), 'The engine is not down.')
  match(engine.reason ?? '', /small\.gguf cannot be used\. Its header names too many entries/)
  equal([...pids].join(), '', 'no process was started for it')
  equal(exits.length, 1)
  await engine.close()
})

test('a file that is cut off after it was loaded is not loaded a second time', async () => {
  const path = join(folder, 'cut.gguf')
  copyFileSync(placeholderPath, path)
  let isReady = false
  const engine = openLlama({ weightsPath: path }, { onReady: () => (isReady = true) })
  await until(() => isReady, 'The engine is not ready.', 120_000)
  truncateSync(path, 1_000)
  process.kill(engine.pid ?? 0, 'SIGKILL')
  await until(() => engine.status().state === 'down', 'The engine is not down.')
  match(engine.reason ?? '', /ends within its header/)
  await engine.close()
})

test('loading that does not advance is given up, and the reason says so', async () => {
  const reasons: string[] = []
  const engine = openLlama(
    {},
    { entry: stalledChild, loadingStallMsMax: 1_500, onExit: (reason) => reasons.push(reason) },
  )
  await until(() => reasons.length > 0, 'The engine is still loading.', 60_000)
  match(reasons[0] ?? '', /loading did not advance for 2 s/)
  notEqual(engine.status().state, 'ready')
  await engine.close()
})

test('an engine that dies over its weights again and again is down, and is not started on and on', async () => {
  const reasons: string[] = []
  const engine = openLlama(
    {},
    { entry: stalledChild, environment: { LANG: 'dies' }, onExit: (reason) => reasons.push(reason) },
  )
  await until(() => engine.status().state === 'down', 'The engine is not down.', 120_000)
  ok(reasons.length <= 3, `${reasons.length} tries`)
  match(engine.reason ?? '', /The engine ended: exit code 3/)
  const failure = await collect(runAlone(engine, engineRequest(), never)).catch((error: unknown) => error)
  match(String(failure), /ApiError/)
  await engine.close()
})

test('an engine that dies over its weights on a card that nobody asked for by name goes on without', async () => {
  const launch = (gpu: 'auto' | 'cuda') => {
    const [lines, reasons]: string[][] = [[], []]
    const engine = openLlama(
      { gpu },
      {
        entry: stalledChild,
        environment: { LANG: 'dies-on-card' },
        hasNvidiaCard: () => true,
        onOutput: (line) => lines?.push(line),
        onExit: (reason) => reasons?.push(reason),
      },
    )
    return { engine, lines, reasons }
  }
  const [automatic, named] = [launch('auto'), launch('cuda')]
  await until(() => automatic.engine.loading.share === 0.5, 'The engine does not load without a card.', 60_000)
  deepEqual(automatic.reasons, ['exit code 3'])
  match(String(automatic.lines), /the processor computes instead/)
  // That a card cannot be used says nothing of where the processor has its weights.
  const place = process.platform === 'linux' ? 'copied' : 'mapped'
  await until(() => automatic.lines?.includes(`weights are ${place}`), 'The weights are elsewhere.', 10_000)
  await until(() => named.engine.status().state === 'down', 'The engine is not down.', 120_000)
  deepEqual(named.lines, [])
  await Promise.all([automatic.engine.close(), named.engine.close()])
})
