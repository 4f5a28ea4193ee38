import { equal, notEqual, ok } from 'node:assert/strict'
import { ChildProcess, fork } from 'node:child_process'
import { test } from 'node:test'
import { getLlama } from 'node-llama-cpp'
import { openLibrary, withoutTrial } from './open-library.ts'

/** How many processes are started while `work` goes on. */
async function countStarts(work: () => Promise<unknown>): Promise<number> {
  const { prototype } = ChildProcess as unknown as { readonly prototype: { spawn: (...given: unknown[]) => unknown } }
  const { spawn } = prototype
  let started = 0
  prototype.spawn = function (...given) {
    started += 1
    return spawn.apply(this, given)
  }
  await work().finally(() => (prototype.spawn = spawn))
  return started
}

const open = () => getLlama({ gpu: false, build: 'never', skipDownload: true, progressLogs: false })

test(
  'the library opens a build without a process in which it tries it out',
  { skip: process.platform !== 'linux' },
  async () => {
    equal(await countStarts(open), 1)
    equal(await countStarts(() => withoutTrial(open)), 0)
  },
)

test('the one build that computes on the processor alone is opened without a trial', async () => {
  equal(await countStarts(() => openLibrary({ gpu: 'off' })), 0)
})

test('what else is started while the library is opened is started', async () => {
  const started = await withoutTrial(() => {
    // Read anew: whoever imports it by name has what stands there now.
    const { fork: forkNow } = process.getBuiltinModule('node:child_process')
    return Promise.resolve(forkNow(import.meta.filename, [], { execArgv: ['--check'], stdio: 'ignore' }))
  })
  ok(started instanceof ChildProcess && started.pid !== undefined)
  started.kill('SIGKILL')
})

test('processes are as they were once the last of several openings is over', async () => {
  const before = fork
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const openings = [withoutTrial(() => first.promise), withoutTrial(() => second.promise)]
  first.resolve()
  await openings[0]
  notEqual(fork, before, 'the second one is not tried out either')
  second.resolve()
  await openings[1]
  equal(fork, before)
})

test('processes are as they were where the library could not be opened', async () => {
  const before = fork
  await withoutTrial(() => Promise.reject(new Error('no build'))).catch(() => {})
  equal(fork, before)
})
