// What answers that are dear to choose, or to be made ready for, cost another organization's answer beside them.

import { parseArgs } from 'node:util'
import { setTimeout } from 'node:timers/promises'
import { createOrganizationKey } from '../../test/harness/run-cli.ts'
import { startService } from '../../test/harness/start-service.ts'
import { wholeNumber } from '../whole-number.ts'
import { median } from './table.ts'

const type = 'string'
const { values } = parseArgs({ options: { weights: { type, default: 'weights/starter.gguf' }, rounds: { type } } })
const rounds = wholeNumber('rounds', values.rounds, 3)
const neighbours = 6
const answerTokens = 60
const settleMs = 4_000

type Body = Readonly<Record<string, unknown>>

const schemaOf = (a: object): Body => {
  const schema = { type: 'object', properties: { a }, required: ['a'], additionalProperties: false }
  return { response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } } }
}
const lengths = Array.from({ length: 100 }, (_, index) => ({ type: 'string', minLength: index, maxLength: 3 * index }))

const kinds: Readonly<Record<string, Body>> = {
  'free text': {},
  'a pattern that few tokens keep': schemaOf({ type: 'string', pattern: '^[0-9]{500,}$' }),
  'a pattern that is refused': schemaOf({ type: 'string', pattern: '^([a-z]?){1000}$' }),
  'a hundred alternatives': schemaOf({ anyOf: lengths }),
}

const weights = { weights: values.weights }
const service = await startService({
  config: { models: { 'clarke-1.0': weights, 'hal-1.0': weights, 'tycho-1.0': weights } },
})
const otherKey = await createOrganizationKey(service, 'Other')
let asked = 0

async function ask(key: string, body: Body, signal?: AbortSignal): Promise<void> {
  asked += 1
  const messages = [{ role: 'user', content: `Tell me a story with the number ${asked}.` }]
  const response = await fetch(`${service.address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'clarke-1.0', temperature: 1, messages, ...body }),
    signal: signal ?? null,
  })
  await response.text()
}

/** How long an answer of `answerTokens` takes, in milliseconds, the median of the rounds. */
async function measure(): Promise<number> {
  const took: number[] = []
  for (let round = 0; round < rounds; round++) {
    const fromMs = performance.now()
    await ask(otherKey, { max_tokens: answerTokens, min_tokens: answerTokens })
    took.push(performance.now() - fromMs)
  }
  return median(took) ?? Number.NaN
}

async function measureBeside(body: Body): Promise<number> {
  const over = new AbortController()
  const flood = Array.from({ length: neighbours }, async () => {
    while (!over.signal.aborted) await ask(service.key, { max_tokens: 200, ...body }, over.signal).catch(() => {})
  })
  await setTimeout(settleMs)
  const ms = await measure()
  over.abort()
  await Promise.all(flood)
  return ms
}

await measure()
console.log(`| ${neighbours} neighbours ask for | ${answerTokens} tokens of another, ms | / alone |\n| - | -: | -: |`)
for (const [name, body] of Object.entries(kinds)) {
  const alone = await measure()
  const beside = await measureBeside(body)
  console.log(`| ${name} | ${beside.toFixed(0)} | ${(beside / alone).toFixed(2)} |`)
}
await service.stop()
