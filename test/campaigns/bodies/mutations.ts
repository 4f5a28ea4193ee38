// Valid requests are damaged and sent. None may end a process, be answered as the service's
// own fault, or be answered in a form that its client cannot read.

import { equal, ok } from 'node:assert/strict'
import { startService, type Service } from '../../harness/start-service.ts'
import { checkAnswer } from '../answers.ts'
import {
  describeCounts,
  Failures,
  increment,
  quantile,
  runCases,
  type CampaignOptions,
  type CampaignResult,
} from '../campaign.ts'
import { checkErrorResponse, shapeOf } from './error-bodies.ts'
import { dressRequest } from './header-mutations.ts'
import { mutateBody } from './json-mutations.ts'
import { isRunning, residentMiB } from '../processes.ts'
import { createRandom } from '../random.ts'
import { RawConnection, toBytes } from '../raw-http.ts'
import type { RawResponse } from '../response-reader.ts'
import { richBody } from './rich-bodies.ts'
import { errorLines } from '../service-log.ts'
import { wireGarbage } from './wire-garbage.ts'

/** Below the slots and the queue, so that a refusal for lack of room is a failure like any other. */
const atOnce = 16
const garbageShare = 0.03
/** A body of 32 MiB passes through several copies; what stays beyond that after the campaign is a leak. */
const growthMiBMax = 400

type Course = {
  readonly service: Service
  readonly seed: number
  readonly failures: Failures
  readonly statuses: Map<string, number>
  readonly latencies: number[]
  readonly idle: RawConnection[]
}

export async function runMutations({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  // One key has more damaged counts read in a minute than any client makes sound ones.
  const service = await startService({ config: { limits: { countsPerKeyMinuteMax: null } } })
  const enginePid = await service.enginePid()
  const failures = new Failures()
  const course: Course = { service, seed, failures, statuses: new Map(), latencies: [], idle: [] }
  const memory: (number | null)[] = []
  const startedMs = performance.now()
  await runCases(count, atOnce, async (caseNumber) => {
    if (caseNumber % Math.max(1, Math.floor(count / 4)) === 0) memory.push(residentMiB(service.pid))
    await (createRandom(seed, caseNumber).chance(garbageShare) ? sendGarbage : sendMutation)(course, caseNumber)
    if ((caseNumber + 1) % 5_000 === 0) log(`${caseNumber + 1} of ${count}`)
  })
  const perSecond = count / ((performance.now() - startedMs) / 1_000)
  memory.push(residentMiB(service.pid))
  for (const connection of course.idle) connection.leave('fin')

  if (!isRunning(service.pid)) failures.add(`The service ended: ${service.output().stderr.slice(-2_000)}`)
  else if ((await service.enginePid()) !== enginePid) failures.add('The engine child is another one.')
  if ((memory.at(-1) ?? 0) - (memory[1] ?? 0) > growthMiBMax) failures.add(`Memory grew: ${memory.join(', ')} MiB.`)
  for (const line of errorLines(service)) failures.add(`The service logged: ${line}`)
  const exitCode = await service.stop()
  if (exitCode !== 0) failures.add(`The service ended with ${exitCode}.`)
  return failures.toResult({
    'per second': Math.round(perSecond),
    answers: describeCounts(course.statuses),
    'p50, p99, p99.9, longest (ms)': [0.5, 0.99, 0.999, 1]
      .map((q) => Math.round(quantile(course.latencies, q)))
      .join(', '),
    'service memory by quarters (MiB)': memory.join(', '),
    'exit code': String(exitCode),
  })
}

async function sendMutation({ service, seed, failures, ...course }: Course, caseNumber: number): Promise<void> {
  const random = createRandom(seed, caseNumber)
  random.next()
  const { path, body } = richBody(random)
  const bytes = random.chance(0.1) ? Buffer.from(JSON.stringify(body)) : mutateBody(random, body)
  const { request, isAuthorized } = dressRequest(random, { path, body: bytes, key: service.key })
  const connection = course.idle.pop() ?? new RawConnection(service.address)
  const startedMs = performance.now()
  const response = await connection.roundTrip(toBytes(request))
  course.latencies.push(performance.now() - startedMs)
  const shape = shapeOf(path)
  increment(course.statuses, `${shape} ${response.status}`)
  const headers = JSON.stringify(request.headers).replaceAll(service.key, 'KEY').slice(0, 300)
  const passed = failures.check(`case ${caseNumber} ${path} ${headers} ${excerpt(bytes)}`, () => {
    ok(response.status !== null, 'there is no answer')
    if (response.status === 200) checkAnswer(response, path, shape)
    else checkRefusal(response, shape, service)
    if (!isAuthorized) ok([401, 400, 413].includes(response.status), `${response.status} without a good key`)
    else ok(response.status !== 401, 'a good key is refused')
  })
  const mayGoOn = response.headers.get('connection') !== 'close' && response.isComplete && !connection.isClosed
  if (passed && mayGoOn) course.idle.push(connection)
  else connection.leave('fin')
}

/** What is no request may be answered in the shared form, or not at all; the connection then ends. */
async function sendGarbage({ service, seed, failures, statuses }: Course, caseNumber: number): Promise<void> {
  const random = createRandom(seed, caseNumber)
  random.next()
  const { name, bytes, path } = wireGarbage(random, service.key)
  const connection = new RawConnection(service.address)
  const response = await connection.roundTrip(bytes, 1_500)
  increment(statuses, `garbage ${response.status ?? (connection.isClosed ? 'closed' : 'waiting')}`)
  failures.check(`case ${caseNumber} garbage: ${name} at ${path}`, () => {
    equal(response.fault, null, response.fault ?? '')
    if (response.status === null) return
    const shape = shapeOf(path)
    if (response.status === 200) return void (shape === 'messages' && checkAnswer(response, path, shape))
    // The parser gives up before it knows the path.
    const isShared = response.text.includes('"param"')
    checkRefusal(response, isShared ? 'shared' : shape, service)
  })
  connection.leave('fin')
}

function checkRefusal(response: RawResponse, shape: ReturnType<typeof shapeOf>, { key }: Service): void {
  ok(response.status !== null && response.status < 500, `status ${response.status}: ${response.text.slice(0, 300)}`)
  checkErrorResponse(response, shape)
  ok(!response.text.includes(key), 'an error repeats the key')
}

function excerpt(bytes: Buffer): string {
  const text = bytes.subarray(0, 2_000).toString('latin1')
  return `(${bytes.length} bytes) ${text.length <= 300 ? text : `${text.slice(0, 300)}…`}`
}
