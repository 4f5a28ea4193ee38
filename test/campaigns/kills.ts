// The engine child is killed while it answers. Each answer is then either whole, or says that
// it broke off; each request has its row; and the service itself goes on as if nothing was.

import { equal, ok } from 'node:assert/strict'
import { startService, type LedgerRow, type Service } from '../harness/start-service.ts'
import { checkAnswer, isStream } from './answers.ts'
import {
  describeCounts,
  Failures,
  increment,
  pause,
  quantile,
  type CampaignOptions,
  type CampaignResult,
} from './campaign.ts'
import { checkBrokenStream, checkErrorResponse } from './bodies/error-bodies.ts'
import { plainRequest, withStream, type PlainRequest } from './plain-requests.ts'
import { createRandom, type Random } from './random.ts'
import { authorize, exchange } from './raw-http.ts'
import type { RawResponse } from './response-reader.ts'
import { errorLines } from './service-log.ts'
import { readFrames } from './sse-frames.ts'

/** A child that crashes often is restarted after ever longer pauses, so a service sees only so many of them. */
const roundsPerService = 4
/** One service of a long run goes on to the first pause in which requests are refused at once. */
const roundsOfLoopingService = 6
const longRun = 40

const recoveryMsMax = 30_000
/** Without a sign of life for 10 s a child counts as hanging. */
const brokenOffMsMax = { SIGKILL: 2_000, SIGSEGV: 2_000, SIGSTOP: 14_000 }
type Blow = keyof typeof brokenOffMsMax

type Tally = {
  readonly failures: Failures
  readonly outcomes: Map<string, number>
  readonly recoveriesMs: number[]
  readonly brokenOffMs: number[]
  rows: number
}

export async function runKills({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  const tally: Tally = { failures: new Failures(), outcomes: new Map(), recoveriesMs: [], brokenOffMs: [], rows: 0 }
  const isLong = count >= longRun
  let round = 0
  while (round < count) {
    const rounds = isLong && round === 0 ? roundsOfLoopingService : roundsPerService
    const last = Math.min(count, round + rounds)
    const service = await startService()
    for (; round < last; round++) {
      const random = createRandom(seed, round)
      const blow = isLong && round === count - 1 ? 'SIGSTOP' : random.pick<Blow>(['SIGKILL', 'SIGKILL', 'SIGSEGV'])
      const recoveryMs = await playRound(service, { round, random, blow }, tally)
      log(`round ${round + 1}: ${blow}, answers again after ${Math.round(recoveryMs)} ms`)
    }
    await endService(service, tally)
  }
  const { recoveriesMs, brokenOffMs, failures, outcomes, rows } = tally
  return failures.toResult({
    answers: describeCounts(outcomes),
    'ledger rows': rows,
    'recovery, median (ms)': Math.round(quantile(recoveriesMs, 0.5)),
    'recovery, longest (ms)': Math.round(Math.max(...recoveriesMs)),
    'told after, median (ms)': Math.round(quantile(brokenOffMs, 0.5)),
    'told after, longest (ms)': Math.round(Math.max(0, ...brokenOffMs)),
  })
}

type Round = { readonly round: number; readonly random: Random; readonly blow: Blow }

/** Returns how long it took from the blow to the next whole answer. */
async function playRound(service: Service, { round, random, blow }: Round, tally: Tally): Promise<number> {
  const rowsBefore = new Set(service.ledger().map((row) => row.request_id))
  const enginePid = await service.enginePid()
  const requests = makeLoad(random)
  const startedMs = performance.now()
  const answers = requests.map(async (request) => {
    const response = await send(service, request)
    return { request, response, atMs: performance.now() }
  })
  await pause(random.integer(0, 700))
  process.kill(enginePid, blow)
  const blowMs = performance.now()
  const recoveryMs = await recover(service, blowMs, tally)
  const answered = await Promise.all(answers)

  const rows = service.ledger().filter((row) => !rowsBefore.has(row.request_id))
  const byId = new Map(rows.map((row) => [row.request_id, row]))
  for (const { request, response, atMs } of answered) {
    const label = `round ${round} (${blow} at ${Math.round(blowMs - startedMs)} ms, ${describe(request)})`
    const row = byId.get(response.headers.get('x-request-id') ?? '')
    const outcome = judge(label, { request, response, row }, tally.failures)
    increment(tally.outcomes, outcome)
    if (outcome !== 'broken off') continue
    tally.brokenOffMs.push(atMs - blowMs)
    if (atMs - blowMs > brokenOffMsMax[blow]) tally.failures.add(`${label}: was told after ${atMs - blowMs} ms`)
  }
  tally.rows += rows.length
  tally.recoveriesMs.push(recoveryMs)
  if (recoveryMs > recoveryMsMax) tally.failures.add(`round ${round}: no answer for ${Math.round(recoveryMs)} ms`)
  if ((await service.enginePid()) === enginePid) tally.failures.add(`round ${round}: the engine has the same pid`)
  return recoveryMs
}

/** Eight streams, which fill the slots, and whole answers to long prompts that wait behind them. */
function makeLoad(random: Random): PlainRequest[] {
  const streams = Array.from({ length: 8 }, () => {
    const options = { promptWordsMax: random.pick([10, 800]), outputTokensMax: 300, isRepeatable: false }
    return withStream(plainRequest(random, options), true)
  })
  const whole = Array.from({ length: random.integer(1, 4) }, () =>
    plainRequest(random, { promptWordsMax: 1_500, outputTokensMax: 50, isRepeatable: false }),
  )
  return [...streams, ...whole]
}

type Answer = {
  readonly request: PlainRequest
  readonly response: RawResponse
  readonly row: LedgerRow | undefined
}

function judge(label: string, { request, response, row }: Answer, failures: Failures): string {
  const outcome = nameOutcome(response)
  failures.check(label, () => {
    ok(row !== undefined, `${response.headers.get('x-request-id')} (${outcome}) has no row`)
    if (outcome === 'whole') checkAnswer(response, request.path, request.shape)
    else if (outcome === 'broken off') checkBrokenStream(response, readFrames(response.text), request.shape)
    else {
      ok([500, 503, 529].includes(response.status ?? 0), `status ${response.status}: ${response.text.slice(0, 200)}`)
      checkErrorResponse(response, request.shape)
    }
    equal(row.outcome, outcome === 'whole' ? 'finished' : 'failed', 'the outcome in the ledger')
  })
  return outcome
}

function nameOutcome(response: RawResponse): string {
  if (response.status !== 200) return `status ${response.status}`
  return isStream(response) && !response.isComplete ? 'broken off' : 'whole'
}

/** Asks until there is an answer; a refusal for the time being is a right answer meanwhile. */
async function recover(service: Service, blowMs: number, { failures }: Tally): Promise<number> {
  const body = { model: 'tycho-1.0', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 2 }
  const request: PlainRequest = { shape: 'chat', path: '/v1/chat/completions', body, promptWords: 1 }
  for (;;) {
    const response = await send(service, request)
    const tookMs = performance.now() - blowMs
    if (response.status === 200 || tookMs > 2 * recoveryMsMax) return tookMs
    // The child may die with the probe in a slot.
    failures.check('a probe', () => {
      ok([500, 503].includes(response.status ?? 0), `status ${response.status}`)
      checkErrorResponse(response, 'chat')
    })
    await pause(100)
  }
}

async function endService(service: Service, { failures }: Tally): Promise<void> {
  const exitCode = await service.stop()
  if (exitCode !== 0) failures.add(`The service ended with ${exitCode}.`)
  for (const line of errorLines(service, ['engine child ended'])) failures.add(`The service logged: ${line}`)
}

function send({ address, key }: Service, { path, body }: PlainRequest): Promise<RawResponse> {
  return exchange(address, { path, headers: authorize(key), body: JSON.stringify(body) })
}

function describe({ shape, body, promptWords }: PlainRequest): string {
  return `${shape}, ${body['stream'] === true ? 'streamed' : 'whole'}, ${promptWords} words`
}
