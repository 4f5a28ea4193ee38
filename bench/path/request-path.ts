// What of the service a request enters: how many files of its source, and how many functions run for each event of its
// stream. V8 counts each call while a running service answers; what runs without a request is left out.
//
//     node bin/odyssey.cjs --run bench/path/request-path.ts            the figures
//     node bin/odyssey.cjs --run bench/path/request-path.ts --list     and their names

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { modelIds } from '../../src/core/model.ts'
import { placeholderPath } from '../../test/harness/engines/placeholder-path.ts'
import { Coverage, type Called } from './coverage.ts'

const { values } = parseArgs({ options: { list: { type: 'boolean', default: false } } })

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const source = new URL('../../src/', import.meta.url).href
/** Enough that what runs once for a request cannot be taken for what runs for each event. */
const answerTokens = 200

/** Whatever the service does every few seconds is done at least once in it. */
const idleMs = 16_000

const home = mkdtempSync(join(tmpdir(), 'odyssey-path-'))
writeFileSync(
  join(home, 'models.json'),
  JSON.stringify(Object.fromEntries(modelIds.map((id) => [id, { weights: placeholderPath }]))),
)
const child = spawn(process.execPath, ['--inspect=127.0.0.1:0', main, 'serve'], {
  env: { PATH: process.env['PATH'] ?? '', ODYSSEY_HOME: home, PORT: '0' },
  stdio: ['ignore', 'pipe', 'pipe'],
})
try {
  await measure()
} finally {
  child.kill('SIGKILL')
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
}
process.exit()

async function measure(): Promise<void> {
  const { inspector, address } = await started()
  const key = readFileSync(join(home, 'first-api-key'), 'utf8').trim()
  const ask = () => askOnce(address, key)
  // A function that is called for the first time is compiled, and some do something only then.
  for (let round = 0; round < 3; round += 1) await ask()
  const coverage = await Coverage.open(inspector, source)
  await coverage.take()
  await pause(idleMs)
  const idle = new Set((await coverage.take()).map(nameOf))
  const rounds: Called[][] = []
  let events = 0
  for (let round = 0; round < 5; round += 1) {
    events = await ask()
    rounds.push((await coverage.take()).filter((one) => !idle.has(nameOf(one))))
    await pause(1_000)
    await coverage.take()
  }
  // What some other work did at the same moment did not happen in each of them.
  const [first = [], ...others] = rounds
  const always = others.map((round) => new Set(round.map(nameOf)))
  const called = first.filter((one) => always.every((names) => names.has(nameOf(one))))
  const files = new Set(called.map(({ file }) => file))
  const perEvent = called.filter(({ calls }) => calls >= events)
  console.log(`files that a streamed request enters   ${files.size}`)
  console.log(
    `functions that run for each event      ${perEvent.length}, in ${new Set(perEvent.map(({ file }) => file)).size} files (${events} events)`,
  )
  if (!values.list) return
  console.log(`\n${[...files].toSorted().join('\n')}\n`)
  for (const { file, name, calls } of perEvent)
    console.log(`${(calls / events).toFixed(1).padStart(5)}  ${file}  ${name}`)
}

/** Returns how many events of text there were. */
async function askOnce(address: string, key: string): Promise<number> {
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model: 'clarke-1.0',
      stream: true,
      max_tokens: answerTokens,
      min_tokens: answerTokens,
      messages: [{ role: 'user', content: 'Hello.' }],
    }),
  })
  const frames = (await response.text()).split('\n\n').filter((frame) => frame.includes('"content":"'))
  if (!response.ok || frames.length < answerTokens / 4)
    throw new Error(`The answer has ${frames.length} frames of text.`)
  return frames.length
}

function nameOf({ file, name }: Called): string {
  return `${file} ${name}`
}

async function started(): Promise<{ inspector: string; address: string }> {
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  for (let waited = 0; waited < 120; waited += 1) {
    await pause(1_000)
    const inspector = /Debugger listening on (ws:\S+)/.exec(output)?.[1]
    const address = /listening at (http\S+)/.exec(output)?.[1]
    if (inspector !== undefined && address !== undefined && (await isReady(address))) return { inspector, address }
  }
  throw new Error(`The service did not start:\n${output}`)
}

async function isReady(address: string): Promise<boolean> {
  return fetch(`${address}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
