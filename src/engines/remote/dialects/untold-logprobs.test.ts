import { deepEqual, equal, ok, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { readRecording, requestOf } from '../../../../test/harness/engines/recorded-answers.ts'
import { TableReader } from '../../text/model-text.ts'
import { ReplicaFault, type HttpRequest, type ReplicaRecord } from '../dialect.ts'
import { ElementsBody } from '../record-splitters.ts'
import { askLogprob } from './untold-logprobs.ts'

const llama = { ...readRecording('llama-server', 'completion-grammar-stream'), sent: { prompt: [1, 2, 3] } }
const told = (id: number, logprob: number) => ({ id, logprob, top_logprobs: [{ id, logprob }] })

/** A whole answer of the tokens 0 to 3: f0 9f, 98, 80 and a letter. */
function readWhole(probabilities: readonly object[]) {
  const tokens = [[0xf0, 0x9f], [0x98], [0x80], [0x61]]
  const ends = Uint32Array.from([2, 3, 4, 5])
  const own = new TableReader({
    bytes: Uint8Array.from(tokens.flat()),
    ends,
    endTokens: [],
    specials: [],
    tokenBytesMax: 2,
  })
  const records = llama.dialect.createReader({ ...requestOf(llama, 1), endTokens: [] }, own)
  const counts = { tokens_predicted: 4, tokens_evaluated: 3, timings: { cache_n: 0 } }
  const body = { content: '😀a', tokens: [0, 1, 2, 3], stop: true, stop_type: 'eos', ...counts }
  const splitter = new ElementsBody('completion_probabilities')
  const bytes = Buffer.from(JSON.stringify({ ...body, completion_probabilities: probabilities }))
  const steps = [...splitter.push(bytes), ...splitter.end()].map((record: ReplicaRecord) => records.read(record))
  return { records, step: steps.at(-1) ?? { ids: [] } }
}

test('log-probabilities that a llama-server leaves out within a character are asked for, the last first', async () => {
  const { records, step } = readWhole([told(2, -1), told(3, -2)])
  const asked: unknown[] = []
  const whole = await records.complete?.(step, ({ body }) => {
    const { prompt, n_probs: width } = body as { prompt: number[]; n_probs: number }
    asked.push([prompt.slice(3), width])
    const others = [told(3, -9), told(prompt.length - 3, -5)]
    return Promise.resolve({ completion_probabilities: [{ id: 3, logprob: -9, top_logprobs: others }] })
  })
  deepEqual(asked, [
    [[0], 128],
    [[], 128],
  ])
  deepEqual(
    whole?.logprobs?.map((one) => [one?.logprob, one?.top.length]),
    [
      [-5, 1],
      [-5, 1],
      [-1, 1],
      [-2, 1],
    ],
  )
  throws(() => readWhole([told(3, -1), told(2, -2)]), ReplicaFault)
  throws(() => readWhole([told(2, -1)]), ReplicaFault)
  throws(() => readWhole([told(2, -1), told(3, -2), told(3, -2)]), ReplicaFault)
})

/** A server whose vocabulary of a thousand tokens has these logits at one place, and answers with the likeliest 128. */
function serverOf(logits: readonly number[], isUntold: (biases: ReadonlyMap<number, number>, seed: number) => boolean) {
  const asked: Record<string, unknown>[] = []
  const softmax = (values: readonly number[]) => {
    const most = Math.max(...values)
    const all = values.map((value) => Math.exp(value - most))
    const sum = all.reduce((total, value) => total + value, 0)
    return all.map((value) => Math.fround(value / sum))
  }
  const likeliest = (values: readonly number[]) =>
    [...softmax(values).entries()].toSorted(([, a], [, b]) => b - a).slice(0, 128)
  const ask = ({ body }: HttpRequest) => {
    const terms = body as Record<string, unknown>
    asked.push(terms)
    equal(terms['n_probs'], 128)
    const biases = new Map(terms['logit_bias'] as [number, number][] | undefined)
    if (terms['post_sampling_probs'] !== true) {
      const own = softmax(logits)[letter] ?? 0
      const top = likeliest(logits).map(([id, prob]) => ({ id, logprob: Math.log(prob) }))
      return Promise.resolve({ completion_probabilities: [{ id: letter, logprob: Math.log(own), top_logprobs: top }] })
    }
    if (isUntold(biases, Number(terms['seed']))) return Promise.resolve({ content: '', completion_probabilities: [] })
    const raised = logits.map((logit, id) => logit + (biases.get(id) ?? 0))
    const top = likeliest(raised).map(([id, prob]) => ({ id, prob }))
    return Promise.resolve({ completion_probabilities: [{ top_probs: top }] })
  }
  return { ask, asked }
}
const letter = 7
const place = { prompt: [1, 2], slot: null, top: 3 }

test('the log-probability of a token that is not among the likeliest is found by few that are', async () => {
  // As far apart as a model of one mind has them, or of none.
  for (const spread of [0.001, 0.02, 0.1]) {
    for (const id of [200, 500, 999]) {
      const logits = Array.from({ length: 1_000 }, (_, at) => -at * spread)
      const sum = Math.log(logits.reduce((total, logit) => total + Math.exp(logit), 0))
      const { ask, asked } = serverOf(logits, (_, seed) => seed === 0)
      const { logprob, top } = await askLogprob({ ...place, id }, ask)
      ok(Math.abs(logprob - (-id * spread - sum)) < 1e-3, `${spread} ${id}: ${logprob}`)
      equal(top.length, 3)
      ok(asked.length <= 12, `${spread} ${id}: ${asked.length}`)
    }
  }
})

test('a token is never raised so far that it would be chosen itself', async () => {
  for (const spread of [0.001, 0.02, 0.05, 0.1]) {
    const logits = Array.from({ length: 1_000 }, (_, at) => -at * spread)
    const isChosen = (biases: ReadonlyMap<number, number>) =>
      [...biases].some(([id, bias]) => id !== letter && (logits[id] ?? 0) + bias > 12)
    const { ask } = serverOf(logits, isChosen)
    ok((await askLogprob({ ...place, id: 999 }, ask)).logprob < 0)
  }
})

test('a token that never comes up ends the answer, and says nothing of the replica', async () => {
  const { ask, asked } = serverOf(
    Array.from({ length: 1_000 }, (_, at) => -at * 0.01),
    () => true,
  )
  await rejects(askLogprob({ ...place, id: 999 }, ask), { kind: 'unfit' })
  ok(asked.length < 20)
  await rejects(
    askLogprob({ ...place, id: 999 }, () => Promise.resolve({})),
    { kind: 'malformed' },
  )
})

test('the likeliest token may be the character that is asked for', async () => {
  const logits = Array.from({ length: 1_000 }, (_, at) => (at === letter ? 5 : -at * 0.02))
  const sum = Math.log(logits.reduce((total, logit) => total + Math.exp(logit), 0))
  const { ask } = serverOf(logits, () => false)
  const { logprob } = await askLogprob({ ...place, id: 900 }, ask)
  ok(Math.abs(logprob - (-18 - sum)) < 1e-3, String(logprob))
})
