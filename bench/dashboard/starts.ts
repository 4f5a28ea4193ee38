// node bin/odyssey.cjs --run bench/dashboard/starts.ts [--rounds N]
//
// What the dashboard adds to a start, from `npm start`'s own command to a service that answers: without the dashboard, with one
// that is built, and with one that has to be built, as the first start does. The three are measured in turn.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { modelIds } from '../../src/core/model.ts'
import { buildOnce } from '../../test/dashboard/harness/build-once.ts'
import { placeholderPath } from '../../test/harness/engines/placeholder-path.ts'
import { until } from '../../test/harness/start-service.ts'
import { wholeNumber } from '../whole-number.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string' } } })
const rounds = wholeNumber('rounds', values.rounds, 5)
const root = join(import.meta.dirname, '../..')
const dist = join(root, 'web/dist')
const waitMsMax = 120_000

type Kind = 'without' | 'built' | 'to be built'
const kinds: readonly Kind[] = ['without', 'built', 'to be built']
type Start = { readonly readyMs: number; readonly pageMs: number | null }

buildOnce()
const starts = new Map<Kind, Start[]>(kinds.map((kind) => [kind, []]))
for (let round = 0; round < rounds; round += 1) {
  for (const kind of kinds) {
    const start = await measure(kind)
    starts.get(kind)?.push(start)
    console.log(
      `${kind}: ready after ${start.readyMs.toFixed(0)} ms, the page after ${start.pageMs?.toFixed(0) ?? '–'} ms`,
    )
  }
}
for (const [kind, all] of starts) {
  const pages = all.flatMap(({ pageMs }) => pageMs ?? [])
  const page = pages.length === 0 ? '' : `, the page after ${middle(pages).toFixed(0)} ms`
  console.log(
    `${kind}, median of ${all.length}: ready after ${middle(all.map(({ readyMs }) => readyMs)).toFixed(0)} ms${page}`,
  )
}

async function measure(kind: Kind): Promise<Start> {
  const home = mkdtempSync(join(tmpdir(), 'odyssey-starts-'))
  const placeholders = modelIds.map((id) => [id, { weights: placeholderPath }])
  writeFileSync(join(home, 'models.json'), JSON.stringify(Object.fromEntries(placeholders)))
  if (kind === 'to be built') rmSync(dist, { recursive: true, force: true })
  const environment = { ODYSSEY_HOME: home, PORT: '0', ...(kind === 'without' && { ODYSSEY_DASHBOARD: 'off' }) }
  const startedMs = performance.now()
  const child = spawn(process.execPath, [join(root, 'bin/odyssey.cjs'), 'serve'], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  try {
    const [, address = ''] = await until(() => /listening at (\S+)/.exec(printed), 'It did not start.', waitMsMax)
    await until(() => isReady(address), 'It did not become ready.', waitMsMax)
    const readyMs = performance.now() - startedMs
    if (kind === 'without') return { readyMs, pageMs: null }
    await until(() => hasPage(address), 'The page did not come.', waitMsMax)
    return { readyMs, pageMs: performance.now() - startedMs }
  } finally {
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await gone
    rmSync(home, { recursive: true, force: true })
  }
}

async function isReady(address: string): Promise<boolean> {
  return fetch(`${address}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )
}

/** Whether it is the dashboard itself, and not the page that says that it is being prepared. */
async function hasPage(address: string): Promise<boolean> {
  const answer = await fetch(`${address}/login`, { headers: { accept: 'text/html' } })
  return (await answer.text()).includes('id="root"')
}

function middle(all: readonly number[]): number {
  return all.toSorted((one, other) => one - other)[Math.floor(all.length / 2)] ?? Number.NaN
}
