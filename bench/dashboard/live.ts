// node bin/odyssey.cjs --run bench/dashboard/live.ts [--seconds N]
//
// The page of requests, live, while fifty requests a second are settled: what it holds in memory, and what ten readers of
// changes cost the service. Two hours by default; ends with 1 where a goal is missed.

import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { openDatabase } from '../../src/db/open-database.ts'
import type { ApiKeyId, OrganizationId, ProjectId } from '../../src/core/ids.ts'
import { Failures, pause } from '../../test/campaigns/campaign.ts'
import { askApi } from '../../test/dashboard/harness/ask.ts'
import { buildOnce } from '../../test/dashboard/harness/build-once.ts'
import { openDashboard, organizationOf, setUp, type Opened } from '../../test/dashboard/harness/open-dashboard.ts'
import { writeRandomRequests } from '../../test/dashboard/harness/random-requests.ts'
import { openBrowser } from '../../test/harness/http/open-browser.ts'
import { startService, type Service } from '../../test/harness/start-service.ts'
import { useOf } from '../process-use.ts'
import { wholeNumber } from '../whole-number.ts'
import { openReaders } from './readers.ts'
import { writeSteadily } from './write-steadily.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string' } } })
const seconds = wholeNumber('seconds', values.seconds, 7_200)
const seed = 22
const requestsPerSecond = 50
const readerCount = 10
/** What section F of the dashboard's specification allows. */
const heapBytesMax = 60_000_000
const readersCoreShareMax = 0.01
/** A heap is never twice the same; what leaks grows by more than this within two hours. */
const growthBytesMax = 1_000_000
/** The page shows what was settled no longer ago than this. */
const lateMsMax = 5_000
const samples = 60

const failures = new Failures()
buildOnce()
const [browser, service] = await Promise.all([openBrowser(), startService()])
try {
  const opened = await openDashboard(browser, service)
  await setUp(opened, service)
  const stop = await beginWriting(opened)
  const costs = await measureReaders(opened)
  const heaps = await watchPage(opened)
  await stop()
  for (const fault of opened.faults) failures.add('the page failed', fault)
  report({ ...costs, ...judgeHeaps(heaps) })
} finally {
  await browser.close()
  await service.stop()
}

/** What the service takes of a core while rows are written, without readers of changes and with them. */
async function measureReaders(opened: Opened) {
  const windowMs = Math.max(5_000, Math.min(60_000, seconds * 250))
  const alone = await coreShare(service, windowMs)
  const readers = await openReaders(opened, service, readerCount)
  const withReaders = await coreShare(service, windowMs)
  if ((await readers.close()) < readerCount) failures.add('a reader heard nothing')
  if (withReaders - alone > readersCoreShareMax) failures.add('the readers cost more than a hundredth of a core')
  return { 'of a core, alone': percent(alone), [`of a core, with ${readerCount} readers`]: percent(withReaders) }
}

function judgeHeaps(heaps: readonly number[]) {
  const half = heaps.slice(Math.floor(heaps.length / 2))
  const growth = mean(half.slice(half.length / 2)) - mean(half.slice(0, half.length / 2))
  if (Math.max(...heaps) > heapBytesMax) failures.add('the page holds more than it may')
  if (growth > growthBytesMax) failures.add('the page goes on growing')
  return {
    'heap at most, MB': (Math.max(...heaps) / 1e6).toFixed(1),
    'growth from the third quarter to the last, kB': (growth / 1e3).toFixed(0),
  }
}

function report(figures: Readonly<Record<string, string>>): void {
  const { failures: found, failureCount } = failures.toResult(figures)
  for (const [name, figure] of Object.entries(figures)) console.log(`${name}: ${figure}`)
  for (const failure of found) console.log(`missed: ${failure}`)
  if (failureCount > 0) process.exitCode = 1
}

async function beginWriting(opened: Opened): Promise<() => Promise<void>> {
  const organizationId = organizationOf(opened) as OrganizationId
  const { body } = await askApi(opened.page, 'GET', `/api/v1/organizations/${organizationId}/api-keys?limit=200`)
  type Key = { readonly id: ApiKeyId; readonly projectId: ProjectId }
  const [key] = (body as { readonly data: readonly Key[] }).data
  if (key === undefined) throw new Error('There is no key.')
  const keys = [{ apiKeyId: key.id, projectId: key.projectId }]
  const db = await openDatabase({ home: service.home, databaseUrl: null })
  const nowMs = Date.now()
  // Some are voided up to an hour and more later, and nothing may lie ahead of the live ones.
  const times = [{ fromMs: nowMs - 10_000_000, toMs: nowMs - 5_000_000 }]
  const models = await writeRandomRequests(db, { count: 200, seed, organizationId, keys, times })
  const stopWriting = writeSteadily(db, models, requestsPerSecond)
  return async () => {
    await stopWriting()
    await db.destroy()
  }
}

/** What the service takes of a core for a while, as a share of it. */
async function coreShare({ pid }: Service, windowMs: number): Promise<number> {
  const [before, beganMs] = [useOf(pid).cpuMs, performance.now()]
  await pause(windowMs)
  return (useOf(pid).cpuMs - before) / (performance.now() - beganMs)
}

/** The heap of the live page, time after time, each after a collection. */
async function watchPage({ page, context, origin }: Opened): Promise<readonly number[]> {
  const [, organizationPath = ''] = /(\/o\/[^/]+)/.exec(page.url()) ?? []
  await page.goto(`${origin}${organizationPath}/requests?range=hour&live=on`)
  await page.locator('tr[data-row]').first().waitFor()
  const devtools = await context.newCDPSession(page)
  const heaps: number[] = []
  const everyMs = Math.max(1_000, (seconds * 1_000) / samples)
  const endMs = performance.now() + seconds * 1_000
  while (performance.now() < endMs) {
    await pause(everyMs)
    await devtools.send('HeapProfiler.collectGarbage')
    const { usedSize } = (await devtools.send('Runtime.getHeapUsage')) as { readonly usedSize: number }
    heaps.push(usedSize)
    const lateMs = Date.now() - (await newestShown(page))
    if (lateMs > lateMsMax) failures.add('the page shows old requests', `${lateMs} ms`)
    console.log(`${heaps.length}: ${(usedSize / 1e6).toFixed(1)} MB, the newest row is ${lateMs} ms old`)
  }
  return heaps
}

async function newestShown(page: Page): Promise<number> {
  return Date.parse((await page.locator('tr[data-row] time').first().getAttribute('datetime')) ?? '')
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`
}
