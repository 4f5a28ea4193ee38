// Strangers and one key hold connections open: six that say nothing for each whose body comes a byte at a time. All slow
// bodies are cut, whoever is new is served all the while, and the memory comes back.

import { connect, type Socket } from 'node:net'
import { startService, type Service } from '../../harness/start-service.ts'
import {
  describeCounts,
  Failures,
  increment,
  pause,
  quantile,
  type CampaignOptions,
  type CampaignResult,
} from '../campaign.ts'
import { residentMiB, settledMemory } from '../processes.ts'
import { createRandom } from '../random.ts'
import { authorize, exchange, RawConnection, toBytes } from '../raw-http.ts'
import { errorLines } from '../service-log.ts'

/** All slow bodies are gone by then. */
const cutWithinMs = 120_000
const byteEveryMs = 3_000
const idlePerSlow = 6
/** Below the most that one address may hold by default. */
const perAddress = 500
const memoryGrowthMax = 1.3

type Cut = { readonly ending: string; readonly afterMs: number }

export async function runConnections({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  const service = await startService()
  const memoryBefore = residentMiB(service.pid)
  const idle = await openIdle(service, count * idlePerSlow)
  log(`${idle.length} connections say nothing, ${count} bodies come a byte every ${byteEveryMs} ms`)

  const slow = { isOver: false }
  const served = serveNewcomers(service, slow, failures)
  const cuts = await Promise.all(
    Array.from({ length: count }, (_, number) => drip(service, createRandom(seed, number).chance(0.5))),
  )
  slow.isOver = true
  const newcomers = await served
  const endings = new Map<string, number>()
  for (const { ending, afterMs } of cuts) {
    increment(endings, ending)
    if (ending === 'open' || afterMs > cutWithinMs)
      failures.add(`A slow body was open after ${Math.round(afterMs)} ms.`)
  }
  const stillOpen = idle.filter((socket) => !socket.destroyed).length
  for (const socket of idle) socket.destroy()
  const memoryAfter = await settledMemory(service.pid, (memoryBefore ?? 0) * memoryGrowthMax)
  if (memoryBefore !== null && (memoryAfter ?? 0) > memoryBefore * memoryGrowthMax)
    failures.add(`The service holds ${memoryAfter} MiB after ${memoryBefore}.`)
  const exitCode = await service.stop()
  if (exitCode !== 0) failures.add(`The service ended with ${exitCode}.`)
  for (const line of errorLines(service)) failures.add(`The service logged: ${line}`)
  return failures.toResult({
    'how slow bodies ended': describeCounts(endings),
    'the last one after (ms)': Math.round(Math.max(0, ...cuts.map(({ afterMs }) => afterMs))),
    'silent connections, and of them open at the end': `${idle.length} ${stillOpen}`,
    'new clients served': newcomers.length,
    'their P50 and P95 (ms)': `${quantile(newcomers, 0.5).toFixed(0)} ${quantile(newcomers, 0.95).toFixed(0)}`,
    'memory before and after (MiB)': `${memoryBefore} ${memoryAfter}`,
  })
}

/** Connections from as many addresses of this machine as it takes. */
async function openIdle({ address }: Service, count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(address)
  const open = (number: number) =>
    new Promise<Socket>((resolve) => {
      const localAddress = `127.0.1.${1 + Math.floor(number / perAddress)}`
      const socket = connect({ host: hostname, port: Number(port), localAddress })
      socket.on('error', () => {})
      socket.once('connect', () => resolve(socket))
      socket.once('close', () => resolve(socket))
      // What is not read keeps a socket from noticing that the service has ended it.
      socket.resume()
    })
  return Promise.all(Array.from({ length: count }, (_, number) => open(number)))
}

/** Sends a body a byte at a time until it is cut, or the time is long over. */
async function drip({ address, key }: Service, hasKey: boolean): Promise<Cut> {
  const connection = new RawConnection(address)
  const startedMs = performance.now()
  const afterMs = () => performance.now() - startedMs
  const headers = [...authorize(hasKey ? key : 'sk-ody-nobody'), ['content-length', '10000']] as const
  await connection.send(toBytes({ path: '/v1/messages', headers, body: '' }))
  while (!connection.isClosed && connection.response.status === null && afterMs() < cutWithinMs * 1.5) {
    await connection.until(({ isComplete }) => isComplete, byteEveryMs)
    await connection.send(Buffer.from(' '))
  }
  const { status } = connection.response
  const ending = status === null ? (connection.isClosed ? 'closed' : 'open') : String(status)
  connection.leave('fin')
  return { ending, afterMs: afterMs() }
}

/** Clients with a connection of their own each, one after the other, while the slow ones are there. Returns their times. */
async function serveNewcomers(
  { address, key }: Service,
  slow: { readonly isOver: boolean },
  failures: Failures,
): Promise<readonly number[]> {
  const tookMs: number[] = []
  const body = JSON.stringify({ model: 'clarke-1.0', max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] })
  while (!slow.isOver) {
    const startedMs = performance.now()
    const { status, text } = await exchange(address, { path: '/v1/messages', headers: authorize(key), body })
    tookMs.push(performance.now() - startedMs)
    if (status !== 200) failures.add(`A new client was answered ${status}: ${text.slice(0, 200)}`)
    await pause(200)
  }
  return tookMs
}
