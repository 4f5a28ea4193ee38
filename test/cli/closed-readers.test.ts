// What a command does when nobody reads on, as after `head -3`.

import { deepEqual, equal, match } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, suite, test } from 'node:test'
import { pause, systemClock } from '../../src/lib/clock.ts'
import { compileCache, nodeArguments, productProgram } from '../harness/as-launched.ts'
import { runCli } from '../harness/run-cli.ts'

let home: string

before(async () => {
  home = mkdtempSync(join(tmpdir(), 'odyssey-reader-'))
  await runCli({ home }, 'migrate')
})
after(() => rmSync(home, { recursive: true }))

/** Starts a command, and lets go of its output before there is any. */
function startUnread(...args: string[]) {
  const env = { PATH: process.env['PATH'] ?? '', ...compileCache, ODYSSEY_HOME: home, PORT: '0' }
  const child = spawn(process.execPath, [...nodeArguments(), productProgram, ...args], { env })
  child.stdout.destroy()
  return { child, said: text(child.stderr), ended: once(child, 'exit') }
}

suite('a command that nobody reads ends as if by SIGPIPE, and says nothing', { timeout: 120_000 }, () => {
  for (const words of [['doctor'], ['keys', 'list'], ['usage'], ['ledger', 'export', '--csv'], ['--help']]) {
    test(`odyssey ${words.join(' ')}`, async () => {
      const { said, ended } = startUnread(...words)
      deepEqual([await said, await ended], ['', [141, null]])
    })
  }
})

test('the service goes on without whoever has read what it says at its start', { timeout: 120_000 }, async () => {
  const { child, said, ended } = startUnread('serve')
  for (;;) {
    const health = spawn(process.execPath, [...nodeArguments(), productProgram, 'health'], {
      env: { PATH: process.env['PATH'] ?? '', ...compileCache, ODYSSEY_HOME: home },
    })
    const [code] = (await once(health, 'exit')) as [number]
    if (code === 0 || child.exitCode !== null) break
    await pause(systemClock, 100)
  }
  equal(child.exitCode, null)
  child.kill('SIGTERM')
  deepEqual(await ended, [0, null])
  match(await said, /"msg":"stopped"/)
})
