// Clients leave while their prompts are computed, with weights that are slow enough for each step to count.
// Leaving takes the engine from nobody: it is the same process afterwards, and each request has its one row.

import { equal, ok } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { shapes } from '../../../bench/weights/shapes.ts'
import { writeRandomWeights } from '../../../bench/weights/write-random-weights.ts'
import { modelIds } from '../../../src/core/model.ts'
import { startService, type LedgerRow, type Service, type ServiceOptions } from '../../harness/start-service.ts'
import {
  describeCounts,
  Failures,
  increment,
  pause,
  runCases,
  type CampaignOptions,
  type CampaignResult,
} from '../campaign.ts'
import { isRunning, untilIdle } from '../processes.ts'
import { createRandom } from '../random.ts'
import { authorize, exchange, RawConnection, toBytes } from '../raw-http.ts'
import { errorLines } from '../service-log.ts'

type Length = {
  readonly promptWords: readonly number[]
  /** How long a client stays at most. */
  readonly staysMsMax: number
  options(weights: string | undefined): ServiceOptions
}

/** The placeholder computes the whole of a short prompt while a client of the long form waits for one step. */
const short: Length = {
  promptWords: [100, 500, 1_500],
  staysMsMax: 600,
  options: () => ({ config: { engine: { windowTokensMax: 8_192, threads: 1 } } }),
}

/** A shape of 1.7 billion parameters, whose memory of a prompt takes 12 GB; its vocabulary is of bytes, so that a word is four of them. */
const long: Length = {
  promptWords: [500, 2_000, 9_500, 24_900],
  staysMsMax: 4_000,
  options: (weights = largeWeights()) => ({
    config: {
      models: Object.fromEntries(modelIds.map((id) => [id, { weights }])),
      engine: { slots: 1 },
    },
  }),
}

/** From so many clients on it is the long form. */
const longRun = 200
const clientsAtOnce = 12

type Prompt = { readonly text: string; readonly tokens: number }
type Left = { readonly requestId: string | null; readonly prompt: Prompt; readonly label: string }

export async function runLeaving({ seed, count, log, weights }: CampaignOptions): Promise<CampaignResult> {
  const length = count >= longRun ? long : short
  const failures = new Failures()
  const service = await startService(length.options(weights))
  const enginePid = await service.enginePid()
  const prompts: Prompt[] = []
  for (const words of length.promptWords) prompts.push(await makePrompt(service, words))
  log(`prompts of ${prompts.map(({ tokens }) => tokens).join(', ')} tokens; ${count} clients come and leave`)

  const left: Left[] = []
  await runCases(count, clientsAtOnce, async (caseNumber) => {
    left.push(await comeAndLeave(service, prompts, { seed, caseNumber, staysMsMax: length.staysMsMax }))
    if ((caseNumber + 1) % 100 === 0) log(`${caseNumber + 1} of ${count}`)
  })

  const idleAfterMs = await untilIdle(enginePid, 60_000)
  if (idleAfterMs === null) failures.add('The engine still works a minute after the last client left.')
  if (!isRunning(enginePid) || (await service.enginePid()) !== enginePid) failures.add('The engine is not the same.')
  const answer = await exchange(service.address, plainRequest(service, 'Hello', { stream: false }))
  failures.check('an answer afterwards', () => equal(answer.status, 200, answer.text.slice(0, 200)))
  const outcomes = judgeRows(left, service.ledger(), failures)
  const exitCode = await service.stop()
  if (exitCode !== 0) failures.add(`The service ended with ${exitCode}.`)
  for (const line of errorLines(service)) failures.add(`The service logged: ${line}`)
  return failures.toResult({
    rows: describeCounts(outcomes),
    'engine idle after (ms)': Math.round(idleAfterMs ?? -1),
  })
}

function largeWeights(): string {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-large-weights-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'large.gguf')
  const shape = shapes['qwen3-1.7b']
  if (shape === undefined) throw new Error('The shape is not known any more.')
  writeRandomWeights(path, { ...shape, windowTokens: 102_400 }, 'q4_0')
  return path
}

async function makePrompt(service: Service, words: number): Promise<Prompt> {
  const text = 'word '.repeat(words).trim()
  const request = plainRequest(service, text, {})
  const counted = await exchange(service.address, { ...request, path: '/v1/messages/count_tokens' }, 300_000)
  return { text, tokens: (JSON.parse(counted.text) as { input_tokens: number }).input_tokens }
}

function plainRequest({ key }: Service, content: string, more: object) {
  const body = JSON.stringify({ model: 'clarke-1.0', max_tokens: 8, messages: [{ role: 'user', content }], ...more })
  const countable = Object.keys(more).length > 0 ? body : body.replace('"max_tokens":8,', '')
  return { path: '/v1/messages', headers: authorize(key), body: countable }
}

type Visit = { readonly seed: number; readonly caseNumber: number; readonly staysMsMax: number }

async function comeAndLeave(service: Service, prompts: readonly Prompt[], visit: Visit): Promise<Left> {
  const random = createRandom(visit.seed, visit.caseNumber)
  const prompt = random.pick(prompts)
  const how = random.pick(['fin', 'rst'] as const)
  const stream = random.chance(0.7)
  const connection = new RawConnection(service.address)
  // A beginning of its own: nothing that was computed for another client is of use.
  const text = `${visit.caseNumber} ${prompt.text}`
  await connection.send(toBytes(plainRequest(service, text, { stream })))
  await pause(random.integer(0, visit.staysMsMax))
  connection.leave(how)
  const requestId = connection.response.headers.get('x-request-id') ?? null
  return { requestId, prompt, label: `case ${visit.caseNumber} (${prompt.tokens} tokens, ${how}, ${requestId})` }
}

/** A number in front of a prompt makes a few tokens more, or joins its first one. */
const numberTokensMax = 8

/** Each request has at most one row, and one that was aborted says no more than there was. */
function judgeRows(left: readonly Left[], rows: readonly LedgerRow[], failures: Failures): Map<string, number> {
  const outcomes = new Map<string, number>()
  const byId = Map.groupBy(rows, (row) => row.request_id)
  for (const [id, same] of byId) if (same.length > 1) failures.add(`${id} has ${same.length} rows.`)
  for (const row of rows) {
    increment(outcomes, row.outcome)
    failures.check(row.request_id, () => {
      ok(row.outcome !== 'failed', `failed: ${row.reason}`)
      ok(row.output <= 8, `${row.output} tokens of output`)
    })
  }
  for (const { requestId, prompt, label } of left) {
    const row = requestId === null ? undefined : byId.get(requestId)?.[0]
    if (requestId === null) continue
    failures.check(label, () => {
      ok(row !== undefined, 'has no row')
      const input = row.input_uncached + row.input_cache_read + row.input_cache_write
      ok(Math.abs(input - prompt.tokens) <= numberTokensMax, `${input} tokens of input`)
    })
  }
  return outcomes
}
