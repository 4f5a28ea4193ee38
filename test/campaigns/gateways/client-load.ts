import { equal } from 'node:assert/strict'
import { checkAnswer } from '../answers.ts'
import { increment, type Failures } from '../campaign.ts'
import { plainRequest, withStream } from '../plain-requests.ts'
import { createRandom } from '../random.ts'
import { authorize, exchange } from '../raw-http.ts'

const clients = 8
/** As long as the official SDKs wait: what breaks off sooner was not given up by a client. */
const patienceMs = 600_000

export type ClientLoad = {
  /** The ids of all requests that were answered whole so far. */
  readonly answered: readonly string[]
  /** How often each status came so far. */
  readonly statuses: ReadonlyMap<unknown, number>
  /** Waits for what is under way. */
  end(): Promise<void>
}

type Target = { readonly address: string; readonly key: string }
type LoadOptions = {
  readonly seed: number
  readonly failures: Failures
  /** Says when a failure was, beside whose it was. */
  readonly phase?: () => string
}

/** Clients that ask one thing after the other, half of it as streams. Whatever is not answered whole is a failure. */
export function startClientLoad({ address, key }: Target, options: LoadOptions): ClientLoad {
  const { seed, failures, phase = () => '' } = options
  const statuses = new Map<unknown, number>()
  const answered: string[] = []
  let isOver = false
  const ask = async (client: number) => {
    const random = createRandom(seed, client)
    while (!isOver) {
      const wanted = { promptWordsMax: 50, outputTokensMax: 60, isRepeatable: false }
      const { path, body, shape } = withStream(plainRequest(random, wanted), random.chance(0.5))
      const asked = { path, headers: authorize(key), body: JSON.stringify(body) }
      const response = await exchange(address, asked, patienceMs)
      increment(statuses, response.status)
      const isWhole = failures.check(`${phase()} client ${client}, ${shape}`.trim(), () => {
        equal(response.status, 200, response.text.slice(0, 200))
        checkAnswer(response, path, shape)
      })
      if (isWhole) answered.push(response.headers.get('x-request-id') ?? '')
    }
  }
  const asking = Array.from({ length: clients }, (_, client) => ask(client))
  return {
    answered,
    statuses,
    async end() {
      isOver = true
      await Promise.all(asking)
    },
  }
}
