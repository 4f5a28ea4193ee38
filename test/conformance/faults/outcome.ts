import { recordFetch } from '../../harness/http/record-fetch.ts'
import type { Asking, Client } from '../clients/client.ts'
import { startFaultyService, type Faults, type FaultyService } from './faulty-service.ts'

/** Both ways in which a client is asked. */
export const ways = ['whole', 'streamed'] as const
export type Way = (typeof ways)[number]

/** What the user of a client has in the end. */
export type Outcome = {
  /** Null when there was an error. */
  readonly text: string | null
  /** As the library words it; null when there was an answer. */
  readonly error: string | null
  /** What a stream had shown until then. */
  readonly shown: string
  readonly requests: number
  /** What the service sent for each, null where it was cut off. */
  readonly answers: readonly (string | null)[]
  /** Between the first request and the second, 0 when there was one. */
  readonly waitedMs: number
}

export type Circumstances = Faults & {
  readonly asking?: Partial<Asking>
  /** How long the client may take; far longer than any should unless said otherwise. */
  readonly patienceMs?: number
  /** Runs beside the request, until it is over. */
  meanwhile?(service: FaultyService): void
}

/** Longer than any client should leave its user without an answer or an error in these tests. */
const usualPatienceMs = 30_000

/** Asks a service that has the faults, and tells how that went. */
export async function ask(client: Client, way: Way, circumstances: Circumstances): Promise<Outcome> {
  const service = await startFaultyService(circumstances)
  const { address, key, arrivalsMs } = service
  const beat = setInterval(() => circumstances.meanwhile?.(service), 20)
  const recorded = recordFetch()
  let shown = ''
  const asking = { address, key, fetch: recorded.fetch, ...circumstances.asking }
  try {
    const answer = client[way](asking, (piece) => (shown += piece))
    const { text, error } = await inTime(answer, circumstances.patienceMs ?? usualPatienceMs).then(
      (given) => ({ text: given, error: null }),
      (thrown: unknown) => ({ text: null, error: String(thrown) }),
    )
    const [first = 0, second = first] = arrivalsMs
    await recorded.checkStreams()
    const answers = await recorded.answers()
    return { text, error, shown, requests: arrivalsMs.length, answers, waitedMs: second - first }
  } finally {
    clearInterval(beat)
    service.app.server.closeAllConnections()
    await service.close()
  }
}

async function inTime<Value>(promise: Promise<Value>, patienceMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`hangs for ${patienceMs} ms`)), patienceMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
