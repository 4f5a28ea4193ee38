// Calls, JSON and thinking on open weights whose template has no place for tools. A small model that was never taught
// to call is the hardest case: that each answer keeps its form, and ends, is then the work of the grammar alone.

import { equal, ok } from 'node:assert/strict'
import { startService, type Service } from '../../harness/start-service.ts'
import { checkStream } from '../../harness/http/open-stream.ts'
import {
  describeCounts,
  Failures,
  increment,
  runCases,
  type CampaignOptions,
  type CampaignResult,
} from '../campaign.ts'
import { createRandom } from '../random.ts'
import { authorize, exchange } from '../raw-http.ts'
import { fetchRealFile, realFiles } from '../real-weights/real-files.ts'
import { errorLines } from '../service-log.ts'
import { readStructured, type StructuredAnswer } from '../structured/structured-answers.ts'
import { checkPromises } from '../structured/structured-promises.ts'
import { callRequest, type CallRequest } from './call-requests.ts'

const atOnce = 4

/** Weights of a large vocabulary take a while for an answer on a machine that does much else. */
const answerMsMost = 600_000

/** Behind so many tokens of a forced call its name has been written. */
const nameTokensMost = 32

type Course = {
  readonly service: Service
  readonly failures: Failures
  readonly endings: Map<string, number>
  /** What the answers that a limit cut off were about. */
  readonly cuts: Map<string, number>
  readonly seen: { calls: number; unforced: number; outputs: number; thoughts: number; hadToEnd: number }
}

/** On the smaller of the files that the tests have, or on the one that is named. */
export async function runCalls({ seed, count, weights, log }: CampaignOptions): Promise<CampaignResult> {
  const service = await startService({ config: configOf(weights ?? (await fetchRealFile(realFiles[0]!))) })
  const failures = new Failures()
  const seen = { calls: 0, unforced: 0, outputs: 0, thoughts: 0, hadToEnd: 0 }
  const course: Course = { service, failures, endings: new Map(), cuts: new Map(), seen }
  let done = 0
  await runCases(count, atOnce, async (caseNumber) => {
    await runCase(course, caseNumber, callRequest(createRandom(seed, caseNumber)))
    done += 1
    if (done % 10 === 0) log(`${done} of ${count}: ${describeCounts(course.endings)}`)
  })
  const exitCode = await service.stop()
  for (const line of errorLines(service)) failures.add(`The service logged: ${line}`)
  if (exitCode !== 0) failures.add(`The service ended with ${exitCode}.`)
  return failures.toResult({
    endings: describeCounts(course.endings),
    'cut off': describeCounts(course.cuts),
    'valid calls': seen.calls,
    'calls that nothing forced': seen.unforced,
    'valid outputs': seen.outputs,
    'answers with thoughts': seen.thoughts,
    'had to end, and did': seen.hadToEnd,
  })
}

/** The weights do not think by themselves: the operator names markers, between which they then do. */
function configOf(weights: string): Record<string, unknown> {
  const chat = { thinking: { open: '<think>', close: '</think>' } }
  return { models: { 'clarke-1.0': { weights, chat } }, engine: { windowTokensMax: 4_096, slots: atOnce, gpu: 'off' } }
}

async function runCase(course: Course, caseNumber: number, request: CallRequest): Promise<void> {
  const { service, failures } = course
  const { shape, path, promised, isStream, mayRunOn } = request
  const usage = shape === 'chat' ? { stream_options: { include_usage: true } } : {}
  const body = JSON.stringify({ ...request.body, ...(isStream && { stream: true, ...usage }) })
  const response = await exchange(service.address, { path, headers: authorize(service.key), body }, answerMsMost)
  failures.check(`case ${caseNumber} ${shape}${isStream ? ' streamed' : ''} ${promised.choice}`, () => {
    equal(response.status, 200, `${response.status} ${response.text.slice(0, 300)} for ${body.slice(0, 900)}`)
    ok(response.isComplete, 'the answer is whole')
    if (isStream) checkStream(shape, response.text, { includeUsage: true })
    const answer = readStructured(response, shape)
    tally(course, request, answer)
    checkPromises(answer, promised, { showsPartialCall: shape === 'chat' || isStream, hasMarkerWords: true })
    const isCut = isCutOff(answer)
    ok(mayRunOn !== null || !isCut, `a bounded answer did not end: ${describe(answer)}`)
    const isForced = promised.choice === 'required' || promised.choice === 'named'
    const hasBegun = answer.calls.length > 0 || !isCut || answer.thinking !== ''
    ok(!isForced || hasBegun || answer.outputTokens < nameTokensMost, `no call was begun: ${describe(answer)}`)
  })
}

function isCutOff({ reason }: StructuredAnswer): boolean {
  return reason === 'length' || reason === 'max_tokens'
}

function tally(course: Course, { promised, mayRunOn }: CallRequest, answer: StructuredAnswer): void {
  const { endings, cuts, seen } = course
  const isCut = isCutOff(answer)
  if (isCut) increment(cuts, mayRunOn ?? 'nothing without a bound')
  const kind = promised.output !== null && answer.calls.length === 0 ? 'output' : promised.choice
  increment(endings, `${kind}: ${answer.reason}`)
  if (answer.thinking !== '') seen.thoughts += 1
  if (mayRunOn === null && !isCut) seen.hadToEnd += 1
  if (isCut) return
  seen.calls += answer.calls.length
  if (promised.choice === 'auto') seen.unforced += answer.calls.length
  if (promised.output !== null && answer.calls.length === 0) seen.outputs += 1
}

function describe({ text, calls, reason, outputTokens }: StructuredAnswer): string {
  return `${reason} after ${outputTokens} tokens: ${JSON.stringify(calls).slice(0, 500)} ${JSON.stringify(text).slice(0, 200)}`
}
