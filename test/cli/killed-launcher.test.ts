import { equal, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { modelIds } from '../../src/core/model.ts'
import { placeholderPath } from '../harness/engines/placeholder-path.ts'
import { until } from '../harness/start-service.ts'

const launcher = fileURLToPath(new URL('../../bin/odyssey.cjs', import.meta.url))

/** As npm starts it: the launcher stays and stands in for the service. */
function start(home: string, port: string) {
  const env = { ...process.env, npm_lifecycle_event: 'start', ODYSSEY_HOME: home, PORT: port }
  const child = spawn(process.execPath, [launcher, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  return { child, output: () => output }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const statusOf = (home: string) =>
  JSON.parse(readFileSync(join(home, 'service.json'), 'utf8')) as { readonly pid: number; readonly address: string }

test('a service whose launcher was killed ends with it, and the next start takes its port and its data folder', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'odyssey-launcher-'))
  t.after(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  const all = Object.fromEntries(modelIds.map((id) => [id, { weights: placeholderPath }]))
  writeFileSync(join(home, 'models.json'), JSON.stringify(all))
  const first = start(home, '0')
  await until(() => first.output().includes('listening at'), 'The service did not start.', 120_000)
  const { pid, address } = statusOf(home)
  ok(isAlive(pid))
  first.child.kill('SIGKILL')
  await until(() => !isAlive(pid), 'The service goes on without its launcher.', 30_000)
  const second = start(home, new URL(address).port)
  await until(() => second.output().includes('listening at'), 'The service did not start again.', 120_000)
  equal(statusOf(home).address, address)
  const ended = new Promise((resolve) => second.child.once('exit', resolve))
  second.child.kill('SIGTERM')
  equal(await ended, 0)
})
