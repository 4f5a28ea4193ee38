// Schemas and tools that nobody wrote, asked of weights that babble: that an answer has its
// form is then the grammar's doing alone. An answer that ends is valid; one that is cut says so.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { modelIds } from '../../../src/core/model.ts'
import { launchLlamaServer, type LlamaServer } from '../../harness/engines/llama-server.ts'
import { placeholderPath } from '../../harness/engines/placeholder-path.ts'
import { checkStream } from '../../harness/http/open-stream.ts'
import { llamaServer } from '../../harness/programs/llama-server.ts'
import { startService, type Service } from '../../harness/start-service.ts'
import {
  describeCounts,
  Failures,
  increment,
  quantile,
  runCases,
  type CampaignOptions,
  type CampaignResult,
} from '../campaign.ts'
import { createRandom } from '../random.ts'
import { authorize, exchange } from '../raw-http.ts'
import type { RawResponse } from '../response-reader.ts'
import { errorLines, readLog } from '../service-log.ts'
import { readStructured, type StructuredAnswer } from './structured-answers.ts'
import { checkPromises } from './structured-promises.ts'
import { structuredRequest, type Promised, type StructuredRequest } from './structured-requests.ts'

/** As many as there are slots. */
const atOnce = 8

/** A grammar of many ways costs llama-server some hundred milliseconds a token, and its other answers wait for it. */
const answerMsMost = 600_000

/** Tokens; the longest answers have 1,100. */
const poolWindow = 8_192

type Course = {
  readonly service: Service
  /** Whether an answer may end with an error of the engine's. */
  readonly mayBreak: boolean
  readonly failures: Failures
  readonly reasons: Map<string, number>
  readonly choices: Map<string, number>
  readonly latencies: number[]
  readonly doubtful: { readonly caseNumber: number; readonly request: StructuredRequest }[]
  readonly seen: { calls: number; outputs: number; unforced: number; compared: number; broken: number }
}

export async function runStructured(options: CampaignOptions): Promise<CampaignResult> {
  const service = await startService()
  const enginePid = await service.enginePid()
  return runOn({ service, mayBreak: false }, options, async (failures) => {
    if ((await service.enginePid()) !== enginePid) failures.add('The engine child is another one.')
  })
}

/**
 * The same through a pool of a real engine, by its own tokens and our grammars: a llama-server with the same weights, or one that
 * is named, with the vocabulary of a file.
 *
 * These weights have not learned characters of several bytes, and the engine takes spellings that are none for them: such an
 * answer ends with an error.
 */
export async function runPoolStructured(options: CampaignOptions): Promise<CampaignResult> {
  const { replica, weights: tokenizer = placeholderPath } = options
  const server = replica === undefined ? await startServer() : null
  const replicas = [replica ?? { url: server?.address, kind: 'llama-server' }]
  const models = Object.fromEntries(modelIds.map((id) => [id, { pool: 'real' }]))
  const service = await startService({ config: { models, pools: { real: { tokenizer, replicas } } } })
  try {
    return await runOn({ service, mayBreak: true }, options, async (failures) => {
      // With no other replica, all that is asked while this one is away fails, and there is no room left to say why.
      for (const line of whatBecameOf(server, service)) {
        options.log(line)
        failures.add(line)
      }
    })
  } finally {
    await server?.stop()
  }
}

async function startServer(): Promise<LlamaServer> {
  const path = llamaServer.find() ?? (await llamaServer.fetch())
  const slots = ['-np', String(atOnce), '-c', String(atOnce * poolWindow)]
  return launchLlamaServer(path, ['-m', placeholderPath, ...slots, '--no-webui'])
}

function whatBecameOf(server: LlamaServer | null, service: Service): readonly string[] {
  const told = readLog(service)
    .filter(({ msg, kind }) => /^replica (?:failed|ejected|not usable)$/.test(msg) && kind !== 'unfit')
    .map(({ msg, ...line }) => `${msg}: ${JSON.stringify(line)}`)
  const ended = server?.ended() ?? null
  return ended === null ? told : [`The llama-server is gone. ${ended}`, ...told]
}

async function runOn(
  { service, mayBreak }: Pick<Course, 'service' | 'mayBreak'>,
  { seed, count, log }: CampaignOptions,
  check: (failures: Failures) => Promise<void>,
): Promise<CampaignResult> {
  const failures = new Failures()
  const seen = { calls: 0, outputs: 0, unforced: 0, compared: 0, broken: 0 }
  const counts = { reasons: new Map<string, number>(), choices: new Map<string, number>() }
  const course: Course = { service, mayBreak, failures, ...counts, latencies: [], doubtful: [], seen }
  await runCases(count, atOnce, async (caseNumber) => {
    const random = createRandom(seed, caseNumber)
    random.next()
    const request = structuredRequest(random, caseNumber % 3 === 2 ? 'output' : 'tools')
    await runCase(course, caseNumber, request, random.chance(0.5))
    if ((caseNumber + 1) % 500 === 0) log(`${caseNumber + 1} of ${count}`)
  })
  await settleDoubts(course)
  await check(failures)
  const exitCode = await service.stop()
  for (const line of errorLines(service))
    if (!(mayBreak && /no text/.test(line))) failures.add(`The service logged: ${line}`)
  if (exitCode !== 0) failures.add(`The service ended with ${exitCode}.`)
  return failures.toResult({
    endings: describeCounts(course.reasons),
    'choices of tools': describeCounts(course.choices),
    'valid calls': seen.calls,
    'calls that nothing forced': seen.unforced,
    'valid outputs': seen.outputs,
    'compared with their stream': seen.compared,
    'compared again alone': course.doubtful.length,
    ...(mayBreak && { 'ended with an error': seen.broken }),
    'p50, p99, longest (ms)': [0.5, 0.99, 1].map((q) => Math.round(quantile(course.latencies, q))).join(', '),
    'exit code': String(exitCode),
  })
}

/** Asks once, or twice where both forms of the answer must say the same. */
async function runCase(
  course: Course,
  caseNumber: number,
  request: StructuredRequest,
  streams: boolean,
): Promise<void> {
  const { seen } = course
  const forms = request.promised.isRepeatable ? [false, true] : [streams]
  const answers: StructuredAnswer[] = []
  for (const isStream of forms) {
    const label = `case ${caseNumber} ${request.shape}${isStream ? ' streamed' : ''} ${summaryOf(request)}`
    const answer = await askOnce(course, request, { isStream, label })
    if (answer !== null) answers.push(answer)
  }
  const [whole, streamed] = answers
  if (whole === undefined || streamed === undefined) return
  seen.compared += 1
  if (!isSame(whole, streamed, request)) course.doubtful.push({ caseNumber, request })
}

/**
 * Beside other answers the sums come out a little different, and between two tokens that are as good as
 * equally likely that decides. What is no such accident is there again when nobody else asks.
 */
async function settleDoubts(course: Course): Promise<void> {
  for (const { caseNumber, request } of course.doubtful) {
    const label = `case ${caseNumber} ${request.shape} ${summaryOf(request)}`
    const whole = await askOnce(course, request, { isStream: false, label })
    const streamed = await askOnce(course, request, { isStream: true, label })
    if (whole === null || streamed === null) continue
    course.failures.check(label, () => compare(whole, streamed, request))
  }
}

function isSame(...given: Parameters<typeof compare>): boolean {
  try {
    compare(...given)
    return true
  } catch {
    return false
  }
}

type Asking = { readonly isStream: boolean; readonly label: string }

async function askOnce(
  course: Course,
  request: StructuredRequest,
  { isStream, label }: Asking,
): Promise<StructuredAnswer | null> {
  const { service, failures } = course
  const { shape, path, promised } = request
  const usage = shape === 'chat' ? { stream_options: { include_usage: true } } : {}
  const body = JSON.stringify({ ...request.body, ...(isStream && { stream: true, ...usage }) })
  const startedMs = performance.now()
  const response = await exchange(service.address, { path, headers: authorize(service.key), body }, answerMsMost)
  course.latencies.push(performance.now() - startedMs)
  if (course.mayBreak && isBroken(response)) {
    course.seen.broken += 1
    return null
  }
  let answer: StructuredAnswer | null = null
  failures.check(label, () => {
    equal(response.status, 200, `${response.status} ${response.text.slice(0, 300)} for ${body.slice(0, 900)}`)
    equal(response.fault, null, response.fault ?? '')
    ok(response.isComplete, 'the answer is whole')
    if (isStream) checkStream(shape, response.text, { includeUsage: true })
    answer = readStructured(response, shape)
    checkPromises(answer, promised, { showsPartialCall: shape === 'chat' || isStream })
  })
  if (answer !== null) tally(course, answer, promised)
  return answer
}

/** Whether an answer says that the engine could not go on, in either format, streamed or not. */
function isBroken({ status, text }: RawResponse): boolean {
  const said = /"message":"(?:The server failed to complete the request|Internal server error)/
  return (status === 500 || status === 200) && said.test(text.slice(-1_000))
}

function tally({ reasons, choices, seen }: Course, answer: StructuredAnswer, promised: Promised): void {
  const { reason, calls } = answer
  increment(reasons, reason)
  if (promised.tools.length > 0) increment(choices, `${promised.choice}${promised.isParallel ? '' : ', single'}`)
  if (promised.choice === 'auto') seen.unforced += calls.length
  if (reason === 'tool_calls' || reason === 'tool_use') seen.calls += calls.length
  if (promised.output !== null && (reason === 'stop' || reason === 'end_turn')) seen.outputs += 1
}

/** Without a stream the messages format shows of a call that was cut only what is an object. */
function compare(whole: StructuredAnswer, streamed: StructuredAnswer, { shape }: StructuredRequest): void {
  const isCut = whole.reason === 'length' || whole.reason === 'max_tokens'
  const normalize = ({ calls, ...answer }: StructuredAnswer) => ({
    ...answer,
    calls: calls.map(({ name, text }, index) => {
      if (shape === 'chat') return { name, text }
      return { name, text: isCut && index === calls.length - 1 ? null : JSON.stringify(JSON.parse(text || '{}')) }
    }),
  })
  deepEqual(normalize(streamed), normalize(whole), 'the stream is another answer')
}

function summaryOf({ body, promised: { choice, isParallel, output } }: StructuredRequest): string {
  const { tools: _, messages: __, response_format: ___, output_config: ____, ...rest } = body
  const form = `${choice}${isParallel ? '' : ', single'}${output === null ? '' : ', output'}`
  return `(${form}) ${JSON.stringify(rest).slice(0, 400)}`
}
