// Clients that ask one small thing after the other, in a thread of their own: what attackers do beside
// them takes nothing of their own time.

import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { pause } from '../campaign.ts'
import { createRandom } from '../random.ts'
import { authorize, exchange } from '../raw-http.ts'

export type Steady = {
  readonly address: string
  readonly key: string
  readonly clients: number
  /** On average between two requests of one client; each is between half of it and half more. */
  readonly pauseMs: number
  readonly seed: number
  /** They end after so many requests; null goes on until they are told to stop. */
  readonly requests: number | null
}

export type Steadied = { readonly tookMs: readonly number[]; readonly faults: readonly string[] }

/** Starts the clients. Returns the way to have them stop, and what they met with. */
export function startSteadyClients(steady: Steady): { stop(): void; readonly ended: Promise<Steadied> } {
  const worker = new Worker(new URL(import.meta.url), { workerData: steady })
  const ended = new Promise<Steadied>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  return { stop: () => worker.postMessage('stop'), ended }
}

async function askSteadily({ address, key, clients, pauseMs, seed, requests }: Steady): Promise<Steadied> {
  const tookMs: number[] = []
  const faults: string[] = []
  let isStopped = false
  parentPort?.once('message', () => (isStopped = true))
  const ask = async (_: unknown, client: number) => {
    // With pauses of one length all clients ask at once or none do, for minutes: answers side by side take longer.
    const random = createRandom(seed, client)
    while (!isStopped && (requests === null || tookMs.length < requests)) {
      const content = `Say a word, number ${tookMs.length}.`
      const body = JSON.stringify({ model: 'clarke-1.0', max_tokens: 16, messages: [{ role: 'user', content }] })
      const startedMs = performance.now()
      const response = await exchange(address, { path: '/v1/messages', headers: authorize(key), body })
      tookMs.push(performance.now() - startedMs)
      if (response.status !== 200 || !response.isComplete)
        faults.push(`${response.status}: ${response.text.slice(0, 200)}`)
      await pause(pauseMs * (0.5 + random.next()))
    }
  }
  await Promise.all(Array.from({ length: clients }, ask))
  return { tookMs, faults }
}

if (!isMainThread) {
  parentPort?.postMessage(await askSteadily(workerData as Steady))
  parentPort?.close()
}
