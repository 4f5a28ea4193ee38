import { until, type Service } from '../../harness/start-service.ts'
import { pause } from '../campaign.ts'
import { models, randomText } from '../plain-requests.ts'
import { createRandom, type Random } from '../random.ts'
import { authorize, exchange } from '../raw-http.ts'
import type { RawResponse } from '../response-reader.ts'

export type Body = Readonly<Record<string, unknown>>

export type Demand = {
  readonly services: readonly Service[]
  readonly key: string
  readonly clientsEach: number
  readonly seed: number
  body(random: Random): Body
}

export type Served = {
  /** When each request was sent that was answered in full, by its id. */
  readonly sentAtMs: ReadonlyMap<string, number>
  /** What else was answered than this and that nothing is left. */
  readonly others: readonly string[]
  /** From the first request to the last that was allowed to begin. */
  readonly elapsedMs: number
}

/** Whoever is refused asks again soon, whatever he is told to wait: that is what makes the demand too high. */
const refusedPauseMs = 100
/** A machine that does much else takes long to use a limit up; it has said enough by then. */
const demandMsMax = 120_000
const knownMsMax = 30_000

/**
 * Asks all services in parallel for at least so long, and until each has refused often enough
 * to say that nothing was left.
 */
export async function ask(demand: Demand, leastMs: number, refusalsEach: number): Promise<Served> {
  const { services, key, clientsEach, seed, body } = demand
  await makeKnown(services, key)
  const sentAtMs = new Map<string, number>()
  const others: string[] = []
  const refusals = services.map(() => 0)
  const startedMs = performance.now()
  const elapsedMs = () => performance.now() - startedMs
  const isOver = () =>
    elapsedMs() > demandMsMax || (elapsedMs() > leastMs && refusals.every((count) => count >= refusalsEach))
  let endedMs = 0
  const client = async (service: Service, gateway: number, number: number) => {
    const random = createRandom(seed, gateway * clientsEach + number)
    while (!isOver()) {
      const atMs = Date.now()
      const response = await askOnce(service, key, body(random))
      if (response.status === 200) sentAtMs.set(response.headers.get('x-request-id') ?? '', atMs)
      else {
        if (response.status !== 429) others.push(`${response.status} ${response.text.slice(0, 200)}`)
        refusals[gateway] = (refusals[gateway] ?? 0) + 1
        await pause(refusedPauseMs)
      }
      endedMs = Math.max(endedMs, elapsedMs())
    }
  }
  await Promise.all(
    services.flatMap((service, gateway) =>
      Array.from({ length: clientsEach }, (_, number) => client(service, gateway, number)),
    ),
  )
  return { sentAtMs, others, elapsedMs: endedMs }
}

/** A gateway that meets a key for the first time asks the database, and refuses it for now where that takes long. */
async function makeKnown(services: readonly Service[], key: string): Promise<void> {
  const isKnown = async ({ address }: Service) =>
    (await exchange(address, { method: 'GET', path: '/v1/models', headers: authorize(key), body: '' })).status === 200
  for (const service of services) await until(() => isKnown(service), 'The key is not known.', knownMsMax)
}

export function askOnce({ address }: Service, key: string, body: Body, isRepeated = false): Promise<RawResponse> {
  const repeated = isRepeated ? [['x-stainless-retry-count', '1'] as const] : []
  const headers = [...authorize(key), ...repeated]
  return exchange(address, { path: '/v1/chat/completions', headers, body: JSON.stringify(body) })
}

/** A prompt that no cache knows, and an answer of exactly so many tokens. */
export function plainBody(random: Random, promptWordsMax: number, outputTokens: number): Body {
  const content = randomText(random, random.integer(1, promptWordsMax))
  const messages = [{ role: 'user', content: `${random.integer(0, 2 ** 31)} ${content}` }]
  return { model: random.pick(models), messages, max_tokens: outputTokens, min_tokens: outputTokens }
}
