// Measures what one organization's counting of long prompts costs the answers of another: the same short
// requests are asked again and again while nobody else is there, and while connections of another
// organization count without a pause. Both are measured in turn, round by round, within one run.

import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { modelIds } from '../../src/core/model.ts'
import { createOrganizationKey } from '../../test/harness/run-cli.ts'
import { startService, type Service } from '../../test/harness/start-service.ts'
import { wholeNumber } from '../whole-number.ts'

const model = 'clarke-1.0'

type Options = {
  readonly weights: string | null
  readonly connections: number
  readonly promptTokens: number
  readonly answerTokens: number
  readonly rounds: number
  readonly seconds: number
}

function readOptions(args: readonly string[]): Options {
  const type = 'string'
  const { values } = parseArgs({
    args: [...args],
    options: {
      weights: { type },
      connections: { type },
      tokens: { type },
      answer: { type },
      rounds: { type },
      seconds: { type },
    },
  })
  return {
    weights: values.weights === undefined ? null : resolve(values.weights),
    connections: wholeNumber('connections', values.connections, 16),
    promptTokens: wholeNumber('tokens', values.tokens, 390_000),
    answerTokens: wholeNumber('answer', values.answer, 16),
    rounds: wholeNumber('rounds', values.rounds, 5),
    seconds: wholeNumber('seconds', values.seconds, 10),
  }
}

async function post(service: Service, path: string, key: string, body: string): Promise<Response> {
  return fetch(`${service.address}${path}`, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body })
}

/** Words that no tokenizer has as a whole, so that counting has its usual work. */
function text(words: number): string {
  const parts: string[] = []
  for (let number = 0; parts.length < words; number += 1) {
    const letters = createHash('sha256')
      .update(String(number))
      .digest('base64')
      .replaceAll(/[^a-z]+/g, ' ')
    parts.push(...letters.split(' ').filter((part) => part !== ''))
  }
  return parts.slice(0, words).join(' ')
}

const countBody = (content: string) => JSON.stringify({ model, messages: [{ role: 'user', content }] })

async function count(service: Service, key: string, body: string): Promise<number> {
  const response = await post(service, '/v1/messages/count_tokens', key, body)
  if (response.status !== 200) throw new Error(`A count was answered ${response.status}: ${await response.text()}`)
  return ((await response.json()) as { input_tokens: number }).input_tokens
}

/** A body whose prompt has about so many tokens. */
async function bodyOf(service: Service, key: string, tokens: number): Promise<string> {
  const sample = 10_000
  const perWord = (await count(service, key, countBody(text(sample)))) / sample
  return countBody(text(Math.round(tokens / perWord)))
}

type Counted = { answered: number; refused: number }

/** One connection that counts without a pause; where it is refused it waits as long as it is told to. */
async function countOn(service: Service, key: string, body: string, isOver: () => boolean): Promise<Counted> {
  const counted = { answered: 0, refused: 0 }
  while (!isOver()) {
    const response = await post(service, '/v1/messages/count_tokens', key, body).catch(() => null)
    if (response === null) continue
    await response.text()
    if (response.status === 200) counted.answered += 1
    else {
      counted.refused += 1
      const waitMs = Number(response.headers.get('retry-after') ?? 1) * 1_000
      await new Promise((after) => setTimeout(after, Math.min(waitMs, 5_000)))
    }
  }
  return counted
}

/** How long each of the short requests took that one client made one after the other. */
async function ask(service: Service, { answerTokens, seconds }: Options): Promise<number[]> {
  const times: number[] = []
  const untilMs = performance.now() + seconds * 1_000
  for (let number = 0; performance.now() < untilMs; number += 1) {
    const messages = [{ role: 'user', content: `Say a few words about the number ${number % 7}.` }]
    const startedMs = performance.now()
    const body = JSON.stringify({ model, max_tokens: answerTokens, messages })
    const response = await post(service, '/v1/chat/completions', service.key, body)
    await response.text()
    if (response.status !== 200) throw new Error(`An answer was refused with ${response.status}.`)
    times.push(performance.now() - startedMs)
  }
  return times
}

function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

const options = readOptions(process.argv.slice(2))
const { weights, connections, promptTokens, rounds } = options
const config = weights === null ? {} : { models: Object.fromEntries(modelIds.map((id) => [id, { weights }])) }
const service = await startService({ weights: 'built-in', config })
try {
  const key = await createOrganizationKey(service, 'counting', null)
  const body = await bodyOf(service, service.key, promptTokens)
  console.log(`prompts of ${await count(service, service.key, body)} tokens, ${body.length} bytes`)
  await ask(service, { ...options, seconds: 2 })
  const all = { idle: [] as number[], counting: [] as number[] }
  for (let round = 1; round <= rounds; round += 1) {
    const idle = await ask(service, options)
    let isOver = false
    const under = Array.from({ length: connections }, () => countOn(service, key, body, () => isOver))
    await new Promise((after) => setTimeout(after, 1_000))
    const counting = await ask(service, options)
    isOver = true
    const counted = await Promise.all(under)
    const [answered, refused] = [counted.map((one) => one.answered), counted.map((one) => one.refused)].map((list) =>
      list.reduce((sum, value) => sum + value, 0),
    )
    all.idle.push(...idle)
    all.counting.push(...counting)
    console.log(`round ${round}: ${line(idle, counting)}; ${answered} counted, ${refused} refused`)
  }
  console.log(`all: ${line(all.idle, all.counting)}`)
} finally {
  await service.stop()
}

function line(idle: readonly number[], counting: readonly number[]): string {
  const part = (name: string, share: number) => {
    const [before, under] = [quantile(idle, share), quantile(counting, share)]
    return `${name} ${before.toFixed(1)} ms, while others count ${under.toFixed(1)} ms: × ${(under / before).toFixed(2)}`
  }
  return `${part('P50', 0.5)}; ${part('P95', 0.95)}`
}
