// The service itself is stopped and killed while it answers. What a client was told is whole
// is in the ledger after any end, and no engine child outlives its service.

import { equal, ok } from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { readLedger, startService, type Service } from '../harness/start-service.ts'
import { checkAnswer, isStream, outputTokensOf } from './answers.ts'
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
import { untilGone } from './processes.ts'
import { createRandom, type Random } from './random.ts'
import { authorize, exchange } from './raw-http.ts'
import type { RawResponse } from './response-reader.ts'
import { errorLines, readLog } from './service-log.ts'
import { readFrames } from './sse-frames.ts'

const ends = ['stop', 'stop in a hurry', 'kill'] as const
type End = (typeof ends)[number]

type Answered = { readonly request: PlainRequest; readonly response: RawResponse }

type Tally = {
  readonly failures: Failures
  readonly outcomes: Map<string, number>
  readonly stopsMs: number[]
  readonly restartsMs: number[]
  readonly orphansMs: number[]
  acknowledged: number
}

/** A round ends the service once and starts it again on the same folder. */
export async function runLifecycle({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  const tally: Tally = { failures, outcomes: new Map(), stopsMs: [], restartsMs: [], orphansMs: [], acknowledged: 0 }
  let service = await startService()
  for (let round = 0; round < count; round++) {
    const random = createRandom(seed, round)
    const end = ends[round % ends.length] ?? 'kill'
    service = await playRound(service, { label: `round ${round} (${end})`, random, end }, tally)
    log(`round ${round + 1}: ${end}`)
  }
  await service.stop()
  const { outcomes, stopsMs, restartsMs, orphansMs, acknowledged } = tally
  const longest = (values: readonly number[]) => Math.round(Math.max(0, ...values))
  return failures.toResult({
    answers: describeCounts(outcomes),
    'acknowledged, all in the ledger': acknowledged,
    'stopped within, longest (ms)': longest(stopsMs),
    'ready again within, median (ms)': Math.round(quantile(restartsMs, 0.5)),
    'ready again within, longest (ms)': longest(restartsMs),
    'orphan gone within, longest (ms)': longest(orphansMs),
  })
}

type Round = { readonly label: string; readonly random: Random; readonly end: End }

async function playRound(service: Service, { label, random, end }: Round, tally: Tally): Promise<Service> {
  const { failures } = tally
  const enginePid = await service.enginePid()
  const answering = makeLoad(random).map(async (request): Promise<Answered> => {
    return { request, response: await send(service, request) }
  })
  await pause(random.integer(5, 600))
  if (end === 'kill') await service.stop('SIGKILL')
  else await stop(service, { label, isHurried: end === 'stop in a hurry', answering }, tally)
  const goneMs = await untilGone(enginePid, 5_000)
  if (goneMs === null) failures.add(`${label}: the engine child ${enginePid} outlived its service.`)
  else tally.orphansMs.push(goneMs)
  const answered = await Promise.all(answering)
  judgeAnswers(label, { answered, end }, tally)
  if (end === 'stop') checkDrained(service, { label, answered }, failures)
  for (const line of errorLines(service, ['engine child ended'])) failures.add(`${label}: the service logged: ${line}`)

  const startedMs = performance.now()
  const next = await service.restart()
  tally.restartsMs.push(performance.now() - startedMs)
  failures.check(label, () => checkLedger(next, answered, tally))
  const { status } = await send(next, withStream(plainRequest(random, smallAnswer), true))
  if (status !== 200) failures.add(`${label}: the first request after the restart got ${status}.`)
  return next
}

const smallAnswer = { promptWordsMax: 5, outputTokensMax: 3, isRepeatable: false }

/** More streams than there are slots, some of them with a prompt that takes a while. */
function makeLoad(random: Random): PlainRequest[] {
  return Array.from({ length: random.integer(6, 14) }, () => {
    const options = { promptWordsMax: random.pick([10, 1_500, 1_500]), outputTokensMax: 300, isRepeatable: false }
    return withStream(plainRequest(random, options), random.chance(0.8))
  })
}

type Stop = {
  readonly label: string
  readonly isHurried: boolean
  readonly answering: readonly Promise<unknown>[]
}

async function stop(service: Service, { label, isHurried, answering }: Stop, { failures, stopsMs }: Tally) {
  const startedMs = performance.now()
  let isOver = false
  void Promise.all(answering).then(() => (isOver = true))
  const stopped = service.stop('SIGTERM')
  await pause(100)
  if (!isOver) await checkRefusedWhileStopping(service, label, failures)
  if (isHurried) await service.stop('SIGTERM')
  const exitCode = await stopped
  stopsMs.push(performance.now() - startedMs)
  if (exitCode !== 0) failures.add(`${label}: the service ended with ${exitCode}.`)
  const tookMs = performance.now() - startedMs
  if (isHurried && tookMs > 4_000) failures.add(`${label}: took ${Math.round(tookMs)} ms in spite of a second signal.`)
}

/** A stopping service says so to whoever asks, and refuses what is new in the right form, unless it no longer listens. */
async function checkRefusedWhileStopping(service: Service, label: string, failures: Failures): Promise<void> {
  const readiness = await exchange(service.address, { method: 'GET', path: '/readyz', body: '' }, 2_000)
  if (readiness.status === 200) failures.add('A stopping service still says that it is ready.', label)
  const request = { path: '/v1/messages', headers: authorize(service.key), body: JSON.stringify(smallBody) }
  const response = await exchange(service.address, request, 2_000)
  if (response.status === null) return
  failures.check(`${label}, a new request`, () => {
    equal(response.status, 529, response.text.slice(0, 200))
    checkErrorResponse(response, 'messages')
    equal(response.headers.get('connection'), 'close')
  })
}

const smallBody = { model: 'tycho-1.0', max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] }

type Judging = { readonly answered: readonly Answered[]; readonly end: End }

function judgeAnswers(label: string, { answered, end }: Judging, { failures, outcomes }: Tally): void {
  for (const { request, response } of answered) {
    const { shape, path } = request
    const isWhole = response.status === 200 && response.isComplete
    const mode = isStream(response) ? 'stream' : 'answer'
    increment(
      outcomes,
      `${end}: ${isWhole ? 'whole' : response.status === null ? 'nothing' : `${mode} ${response.status}`}`,
    )
    failures.check(`${label}, ${shape} ${mode} ${response.headers.get('x-request-id')}`, () => {
      if (isWhole) return checkAnswer(response, path, shape)
      if (end === 'kill') return
      ok(response.status !== null, 'the connection was cut without a word')
      ok(end !== 'stop' || response.status !== 200, 'an orderly stop cut an answer')
      if (response.status === 200) return checkBrokenStream(response, readFrames(response.text), shape)
      equal(response.status, shape === 'chat' ? 503 : 529, 'a stopping service says that it stops')
      checkErrorResponse(response, shape)
    })
  }
}

/** Those that were under way at the signal must all be whole; what came after it may be refused. */
function checkDrained(
  service: Service,
  { label, answered }: { readonly label: string; readonly answered: readonly Answered[] },
  failures: Failures,
): void {
  const underWay = Number(readLog(service).find(({ msg }) => msg === 'draining')?.['under_way'])
  const whole = answered.filter(({ response }) => response.status === 200 && response.isComplete).length
  if (!(whole >= underWay)) failures.add(`Of ${underWay} answers under way at the signal ${whole} are whole.`, label)
}

/** Whatever a client saw the end of was on the disk before. */
function checkLedger({ home }: Service, answered: readonly Answered[], tally: Tally): void {
  const db = new DatabaseSync(join(home, 'odyssey.db'), { readOnly: true })
  const check = db.prepare('PRAGMA integrity_check').get()
  db.close()
  equal(check?.['integrity_check'], 'ok', 'the integrity of the database')
  const rows = readLedger(home)
  const byId = new Map(rows.map((row) => [row.request_id, row]))
  equal(byId.size, rows.length, 'no request has two rows')
  for (const { response } of answered) {
    const id = response.headers.get('x-request-id') ?? ''
    if (response.status !== 200 || !response.isComplete) continue
    const row = byId.get(id)
    ok(row !== undefined, `${id} was acknowledged and has no row`)
    equal(row.outcome, 'finished', `${id} was acknowledged`)
    const seen = outputTokensOf(response)
    if (seen !== null) equal(row.output, seen, `${id} is billed for what it was told`)
    tally.acknowledged += 1
  }
}

function send({ address, key }: Service, { path, body }: PlainRequest): Promise<RawResponse> {
  return exchange(address, { path, headers: authorize(key), body: JSON.stringify(body) })
}
