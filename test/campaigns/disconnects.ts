// Clients that leave at any moment. Afterwards there is one ledger row for each request that
// was admitted, its counts fit what the client saw, and nothing goes on for those who left.

import { equal, ok } from 'node:assert/strict'
import { startService, type LedgerRow, type Service } from '../harness/start-service.ts'
import { checkAnswer, inputTokensOf, outputTokensOf } from './answers.ts'
import {
  describeCounts,
  Failures,
  increment,
  pause,
  runCases,
  type CampaignOptions,
  type CampaignResult,
} from './campaign.ts'
import { planDeparture, playDeparture, type Departed } from './departures.ts'
import { plainRequest, withStream, type PlainRequest } from './plain-requests.ts'
import { untilIdle } from './processes.ts'
import { createRandom } from './random.ts'
import { authorize, exchange } from './raw-http.ts'
import { errorLines, readLog } from './service-log.ts'
import { readFrames, readText } from './sse-frames.ts'

/** A request together with its whole answer, which no answer to it can go beyond. */
type Reference = {
  readonly request: PlainRequest
  readonly text: string
  readonly inputTokens: number
  readonly outputTokens: number
  readonly streamBytes: number
}

/** Below the slots and the queue together, so that nobody is refused for lack of room. */
const clientsAtOnce = 24

export async function runDisconnects({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  // What was computed in other portions comes out a little different, and every answer is held against its reference.
  const service = await startService({ config: { engine: { reproducible: true } } })
  const references = await makeReferences(service, { seed, count, failures })
  const rowsBefore = service.ledger().length
  log(`${references.length} reference answers; ${count} clients come and leave`)

  const departed: Departed[] = []
  await runCases(count, clientsAtOnce, async (caseNumber) => {
    const random = createRandom(seed, caseNumber)
    const { request, streamBytes } = random.pick(references)
    const sent = withStream(request, random.chance(0.7))
    const departure = planDeparture(random, { promptWords: request.promptWords, streamBytes })
    const left = await playDeparture(service, { caseNumber, sent, request }, departure)
    departed.push(left)
    if ((caseNumber + 1) % 250 === 0) log(`${caseNumber + 1} of ${count}`)
  })

  const idleAfterMs = await untilIdle(await service.enginePid(), 15_000)
  if (idleAfterMs === null) failures.add('The engine still works 15 s after the last client left.')
  const probeMs = await probe(service, failures)
  const rows = service.ledger().slice(rowsBefore, -1)
  const known = compareWithLedger(departed, { references, rows, failures })
  const exitCode = await stopAndCheck(service, failures)
  return failures.toResult({
    ways: describeCounts(countBy(departed, ({ departure }) => `${departure.moment}/${departure.how}`)),
    outcomes: describeCounts(countBy(rows, ({ outcome }) => outcome)),
    'rows by id': known,
    'rows without a seen id': rows.length - known,
    'certain to have a row': departed.filter(({ admission }) => admission === 'certain').length,
    'may have a row': departed.filter(({ admission }) => admission === 'possible').length,
    'tokens in the ledger': rows.reduce((sum, { output }) => sum + output, 0),
    'engine idle after (ms)': Math.round(idleAfterMs ?? -1),
    'answer afterwards (ms)': Math.round(probeMs),
    'exit code': String(exitCode),
  })
}

/** Eight long prompts at a time, on a machine that does much else besides. */
const referenceMsMax = 600_000

type MakeOptions = { readonly seed: number; readonly count: number; readonly failures: Failures }

async function makeReferences(service: Service, { seed, count, failures }: MakeOptions): Promise<Reference[]> {
  const references: Reference[] = []
  const wanted = Math.min(60, Math.max(12, Math.round(count / 10)))
  await runCases(wanted, 8, async (number) => {
    const random = createRandom(seed ^ 0x5eed, number)
    // Every sixth has a prompt that takes a second or more to compute.
    const promptWordsMax = number % 6 === 0 ? (count >= 500 ? 6_000 : 1_500) : 60
    const request = plainRequest(random, { promptWordsMax, outputTokensMax: 400, isRepeatable: true })
    const streamed = withStream(request, true)
    const body = JSON.stringify(streamed.body)
    const asked = { path: request.path, headers: authorize(service.key), body }
    const response = await exchange(service.address, asked, referenceMsMax)
    failures.check(`reference ${number}`, () => {
      equal(response.status, 200, response.text.slice(0, 300))
      checkAnswer(response, request.path, request.shape)
      const { text, deltas } = readText(readFrames(response.text))
      const outputTokens = outputTokensOf(response) ?? -1
      ok(deltas <= outputTokens, `${deltas} deltas hold ${outputTokens} tokens`)
      const inputTokens = inputTokensOf(response) ?? -1
      references.push({ request, text, inputTokens, outputTokens, streamBytes: response.bytes })
    })
  })
  // In the order of their numbers, whichever was answered first.
  return references.toSorted((left, right) => (JSON.stringify(left.request) < JSON.stringify(right.request) ? -1 : 1))
}

type Comparison = {
  readonly references: readonly Reference[]
  readonly rows: readonly LedgerRow[]
  readonly failures: Failures
}

/** Returns how many rows belong to a request whose id the client has seen. */
function compareWithLedger(departed: readonly Departed[], { references, rows, failures }: Comparison): number {
  const byId = new Map(rows.map((row) => [row.request_id, row]))
  if (byId.size !== rows.length) failures.add(`${rows.length - byId.size} rows have the id of another.`)
  const referenceOf = new Map(references.map((reference) => [reference.request, reference]))
  let known = 0
  for (const client of departed) {
    const reference = referenceOf.get(client.request)
    const row = client.requestId === null ? undefined : byId.get(client.requestId)
    if (row !== undefined) known += 1
    if (reference !== undefined) failures.check(client.label, () => compareOne(client, reference, row))
  }
  const unseen = departed.filter(({ requestId }) => requestId === null)
  const certain = unseen.filter(({ admission }) => admission === 'certain').length
  const possible = unseen.filter(({ admission }) => admission === 'possible').length
  const left = rows.length - known
  if (left < certain || left > certain + possible) {
    failures.add(`${left} rows belong to unseen ids; ${certain} to ${certain + possible} were expected.`)
  }
  const inputs = new Set(references.map(({ inputTokens }) => inputTokens))
  const outputMax = Math.max(...references.map(({ outputTokens }) => outputTokens))
  for (const row of rows) {
    const { request_id: id, output } = row
    const input = inputOf(row)
    if (input !== 0 && !inputs.has(input)) failures.add(`Row ${id} counts ${input} input tokens, which nobody sent.`)
    if (output > outputMax)
      failures.add(`Row ${id} counts ${output} output tokens; the longest answer has ${outputMax}.`)
  }
  return known
}

/** What the client saw ≤ what is billed ≤ the whole answer; and exactly that where the answer was whole. */
function compareOne({ response, requestId, sent }: Departed, reference: Reference, row: LedgerRow | undefined): void {
  if (requestId === null) return
  equal(response.fault, null, response.fault ?? '')
  equal(response.status, 200, `status ${response.status}: ${response.text.slice(0, 200)}`)
  ok(row !== undefined, `${requestId} has no row`)
  ok(row.output <= reference.outputTokens, `${row.output} tokens billed of ${reference.outputTokens}`)
  if (inputOf(row) !== 0 || row.output !== 0) equal(inputOf(row), reference.inputTokens, 'input tokens')
  if (sent.body['stream'] === true) {
    const { text, deltas } = readText(readFrames(response.text))
    ok(reference.text.startsWith(text), `the text is another one: ${JSON.stringify(text.slice(0, 120))}`)
    ok(deltas <= row.output, `the client saw ${deltas} tokens, ${row.output} are billed`)
  }
  if (row.outcome === 'finished') equal(row.output, reference.outputTokens, 'a finished answer is whole')
  if (!response.isComplete) return
  equal(row.outcome, 'finished', 'a whole answer has a finished row')
  equal(outputTokensOf(response), row.output, 'the usage the client saw is the one billed')
}

/** After the storm one request is answered at once. */
async function probe(service: Service, failures: Failures): Promise<number> {
  const startedMs = performance.now()
  const body = JSON.stringify({ model: 'clarke-1.0', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 4 })
  const { status } = await exchange(service.address, {
    path: '/v1/chat/completions',
    headers: authorize(service.key),
    body,
  })
  const tookMs = performance.now() - startedMs
  if (status !== 200 || tookMs > 1_000) failures.add(`A request afterwards: ${status} after ${Math.round(tookMs)} ms.`)
  return tookMs
}

/** The service's own count of what is under way, which it logs as it stops, is the last word on orphans. */
async function stopAndCheck(service: Service, failures: Failures): Promise<number | null> {
  await pause(200)
  const exitCode = await service.stop()
  if (exitCode !== 0) failures.add(`The service ended with ${exitCode}.`)
  const underWay = readLog(service).find(({ msg }) => msg === 'draining')?.['under_way']
  if (underWay !== 0) failures.add(`${String(underWay)} requests were still under way at the end.`)
  for (const line of errorLines(service)) failures.add(`The service logged: ${line}`)
  return exitCode
}

/** What of the prompt was there already counts as input all the same. */
function inputOf(row: LedgerRow): number {
  return row.input_uncached + row.input_cache_read + row.input_cache_write
}

function countBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) increment(counts, keyOf(item))
  return counts
}
