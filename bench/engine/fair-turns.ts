// What one organization's flood costs others that come for the first time: their first text, with and without a guest slot.

import { parseArgs } from 'node:util'
import { setTimeout } from 'node:timers/promises'
import { engineRequest, withSeed } from '../../test/harness/requests.ts'
import { queueEngine, type QueuedEngine } from '../../test/harness/engines/queued-engine.ts'
import { wholeNumber } from '../whole-number.ts'
import { openEngine } from './engine-alone.ts'

const type = 'string'
const { values } = parseArgs({
  options: { weights: { type, default: 'weights/starter.gguf' }, flood: { type }, prompt: { type }, rounds: { type } },
})
const floodRequests = wholeNumber('flood', values.flood, 40)
const promptWords = wholeNumber('prompt', values.prompt, 1_600)
const rounds = wholeNumber('rounds', values.rounds, 3)
const answerTokens = 64
const pauseMs = 100

const engine = await openEngine(
  {
    weightsPath: values.weights,
    gpu: 'off',
    slots: 8,
    windowTokens: promptWords * 2,
    threads: null,
    batchTokens: 512,
    cacheBytes: 0,
  },
  0,
)
const lanes: Readonly<Record<string, QueuedEngine>> = {
  'with a guest slot': queueEngine(engine),
  without: queueEngine(engine, { capacity: () => ({ ...engine.status(), guestSlots: 0 }) }),
}

let asked = 0

/** Milliseconds to the first text of an answer, which is read to its end, and the tokens of prompt and answer. */
async function ask(lane: QueuedEngine, organizationId: string, words: number, outputTokens: number) {
  asked += 1
  const text = `${asked}: ${Array.from({ length: words }, (_, word) => `${(asked * 31 + word * 7) % 97}`).join(' ')}`
  const request = engineRequest({
    requestId: `req_${asked}`,
    owner: { organizationId, apiKeyId: `key_of_${organizationId}` },
    messages: [{ role: 'user', content: [{ kind: 'text', text }] }],
    outputTokensMin: outputTokens,
    outputTokensMax: outputTokens,
    sampling: withSeed(1, 0),
  })
  const fromMs = performance.now()
  let firstMs = 0
  let tokens = 0
  for await (const event of lane.generate(request, new AbortController().signal)) {
    if (event.type === 'delta') firstMs ||= performance.now() - fromMs
    if (event.type === 'finish') tokens = event.usage.inputUncached + event.usage.inputCacheRead + event.usage.output
  }
  return { firstMs, tokens }
}

/** The first texts of organizations that nobody knows of yet, which therefore have no claim to a slot, one after the other. */
async function askQuietly(lane: QueuedEngine, until: () => boolean) {
  const answers: Awaited<ReturnType<typeof ask>>[] = []
  while (!until()) {
    answers.push(await ask(lane, `newcomer ${asked}`, 8, 8))
    await setTimeout(pauseMs)
  }
  return answers
}

async function measure(lane: QueuedEngine) {
  let asks = 0
  const idle = await askQuietly(lane, () => asks++ >= 20)
  let isOver = false
  const fromMs = performance.now()
  const flood = Promise.all(
    Array.from({ length: floodRequests }, () => ask(lane, 'flood', promptWords / 2, answerTokens)),
  ).finally(() => (isOver = true))
  const beside = askQuietly(lane, () => isOver)
  const flooded = await flood
  const floodMs = performance.now() - fromMs
  const answers = [...flooded, ...(await beside)]
  const tokens = answers.reduce((sum, one) => sum + one.tokens, 0)
  return { idle, beside: await beside, tokensPerSecond: (1_000 * tokens) / floodMs }
}

console.log(
  '| Queue | Idle P95, ms | In the flood P95, ms | / idle | asked | All, tokens/s |\n| - | -: | -: | -: | -: | -: |',
)
for (let round = 0; round < rounds; round++) {
  for (const [name, lane] of Object.entries(lanes)) {
    const { idle, beside, tokensPerSecond } = await measure(lane)
    const [p95Idle, p95] = [percentile95(idle), percentile95(beside)]
    const cells = [
      p95Idle.toFixed(0),
      p95.toFixed(0),
      (p95 / p95Idle).toFixed(2),
      beside.length,
      tokensPerSecond.toFixed(0),
    ]
    console.log(`| ${name} | ${cells.join(' | ')} |`)
  }
}
await engine.close()

function percentile95(answers: readonly { readonly firstMs: number }[]): number {
  const numbers = answers.map(({ firstMs }) => firstMs)
  return numbers.toSorted((a, b) => a - b)[Math.ceil(numbers.length * 0.95) - 1] ?? Number.NaN
}
