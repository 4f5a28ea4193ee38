import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { madeGguf } from '../../../test/harness/engines/made-gguf.ts'
import {
  linkedHeaders,
  sendFile,
  sha256Of,
  startWeightsHub,
  type WeightsHub,
} from '../../../test/harness/engines/weights-hub.ts'
import { systemClock } from '../../lib/clock.ts'
import { createLog } from '../../telemetry/log.ts'
import type { Swap } from '../fleet/swap-weights.ts'
import { fitOf, recommendWeights } from './recommended.ts'
import { WeightsJobs, type Job } from './weights-jobs.ts'
import { deleteWeightsFile, findWeightsFile, listWeightsFiles } from './weights-folder.ts'

const root = mkdtempSync(join(tmpdir(), 'odyssey-jobs-'))
const content = madeGguf()
let hub: WeightsHub
/** While it is held back, a body stops halfway. */
let holdBack = false
before(async () => {
  hub = await startWeightsHub((request, response) => {
    if (request.method === 'GET' && holdBack) {
      response.writeHead(200, { 'content-length': content.length, etag: '"a"', ...linkedHeaders(content) })
      response.write(content.subarray(0, 64))
    } else sendFile(request, response, { content, etag: '"a"', headers: linkedHeaders(content) })
  })
})
after(async () => {
  await hub.close()
  rmSync(root, { recursive: true })
})

const source = 'owner/repo/file.gguf'
const wanted = { model: null, source, sha256: null }

function open(home: string, swaps: Swap[] = []): WeightsJobs {
  return new WeightsJobs({
    config: { home },
    hub: () => ({ address: hub.address, token: null }),
    clock: systemClock,
    log: createLog('silent'),
    retryPolicy: { idleMs: 5_000, triesMax: 2, pauseMs: () => 0 },
    swap(id, swap) {
      swaps.push(swap)
      const isRefused = swap.model === 'hal-1.0'
      const [state, message] = isRefused ? (['refused', 'Too large.'] as const) : (['done', '2 slots'] as const)
      return Promise.resolve({ id, model: swap.model, state, message })
    },
  })
}

const newHome = () => mkdtempSync(join(root, 'home-'))

async function until(jobs: WeightsJobs, id: string, holds: (job: Job) => boolean): Promise<Job> {
  for (;;) {
    const job = jobs.find(id)
    ok(job)
    if (holds(job)) return job
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const isOver = ({ phase }: Job) => phase === 'over'

suite('jobs of weights', () => {
  test('weights are fetched, listed with their hash, given to a model, and deleted', async () => {
    const home = newHome()
    const swaps: Swap[] = []
    const jobs = open(home, swaps)
    jobs.startFetch('one', { ...wanted, model: 'tycho-1.0' })
    const { state, message, bytesTotal, endedAtMs } = await until(jobs, 'one', isOver)
    deepEqual([state, message, bytesTotal, endedAtMs !== null], ['done', '2 slots', null, true])
    const path = join(home, 'weights/owner/repo/file.gguf')
    deepEqual(swaps, [{ model: 'tycho-1.0', chosen: { weights: path, source, sha256: sha256Of(content) } }])
    const [file] = listWeightsFiles(home)
    ok(file)
    deepEqual([file.name, file.bytes, file.sha256, file.isWhole], [source, content.length, sha256Of(content), true])
    deepEqual(findWeightsFile(home, file.id), file)
    deleteWeightsFile(home, file)
    deepEqual([existsSync(path), listWeightsFiles(home)], [false, []])
  })

  test('weights that the service cannot load leave the model what it had, and the job says why', async () => {
    const jobs = open(newHome())
    jobs.startUse('one', { model: 'hal-1.0', chosen: null, name: 'the starter weights' })
    const { state, message } = await until(jobs, 'one', isOver)
    deepEqual([state, message], ['failed', 'hal-1.0 keeps its weights. Too large.'])
  })

  test('a fetch that is stopped keeps what has arrived', async () => {
    const home = newHome()
    const jobs = open(home)
    holdBack = true
    jobs.startFetch('one', wanted)
    await until(jobs, 'one', ({ bytesDone }) => bytesDone === 64)
    equal(jobs.cancel('one'), true)
    const { state, message } = await until(jobs, 'one', isOver)
    holdBack = false
    equal(state, 'cancelled')
    match(message, /is kept/)
    ok(existsSync(join(home, 'weights/owner/repo/file.gguf.part')))
    deepEqual([jobs.cancel('one'), jobs.cancel('unknown'), listWeightsFiles(home)], [false, false, []])
  })

  test('a fetch that was under way when the service ended goes on at the next start', async () => {
    const home = newHome()
    holdBack = true
    const first = open(home)
    first.startFetch('one', wanted)
    await until(first, 'one', ({ bytesDone }) => bytesDone === 64)
    await first.close()
    holdBack = false
    const next = open(home)
    equal(next.find('one')?.state, 'under-way')
    await new Promise((resolve) => setImmediate(resolve))
    next.resume()
    equal((await until(next, 'one', isOver)).state, 'done')
    equal(listWeightsFiles(home).length, 1)
  })

  test('the key that an address holds is shown nowhere', () => {
    const jobs = open(newHome())
    equal(jobs.nameOf('https://files.example/file.gguf?signature=secret'), 'https://files.example/file.gguf')
  })
})

suite('weights on the disk', () => {
  test('are listed by their first part alone, with what is missing, and without what is not weights', () => {
    const home = newHome()
    const folder = join(home, 'weights/owner/repo')
    mkdirSync(join(folder, '.locks'), { recursive: true })
    for (const name of ['a-00001-of-00002.gguf', 'a-00002-of-00002.gguf', 'b-00001-of-00002.gguf', 'c.gguf.part']) {
      writeFileSync(join(folder, name), 'weights')
    }
    const files = listWeightsFiles(home).map(({ name, bytes, isWhole }) => [name, bytes, isWhole])
    deepEqual(files, [
      ['owner/repo/a-00001-of-00002.gguf', 14, true],
      ['owner/repo/b-00001-of-00002.gguf', 7, false],
    ])
  })
})

suite('recommended weights', () => {
  test('weights that fit beside what is loaded are recommended first, then those that fit alone', () => {
    const memory = { totalBytes: 16e9, availableBytes: 12e9 }
    equal(fitOf(2e9, 1e9, memory), 'beside')
    equal(fitOf(12e9, 1e9, memory), 'alone')
    equal(fitOf(15e9, 1e9, memory), 'no')
    const order = recommendWeights(1e9, memory).map(({ fit }) => fit)
    deepEqual(
      order,
      order.toSorted((one, other) => 'beside alone no'.indexOf(one) - 'beside alone no'.indexOf(other)),
    )
    equal(order[0], 'beside')
  })
})
