// Conversations that nobody wrote, each counted beforehand and then asked in both formats, streamed
// and not. What is counted is what is computed, read and written; no format has numbers of its own.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { startService, type Service } from '../harness/start-service.ts'
import { Failures, type CampaignOptions, type CampaignResult } from './campaign.ts'
import { chatBody, messagesBody } from './bodies/conversation-bodies.ts'
import { models } from './plain-requests.ts'
import { randomConversation, type RandomConversation, type Thought } from './bodies/random-conversations.ts'
import { createRandom, type Random } from './random.ts'
import { authorize, exchange } from './raw-http.ts'
import { readUsage, type ReportedUsage } from './reported-usage.ts'
import type { RawResponse } from './response-reader.ts'
import { errorLines } from './service-log.ts'

type Fields = Readonly<Record<string, unknown>>
type Form = { readonly shape: 'chat' | 'messages'; readonly isStream: boolean }
type Asked = { readonly requestId: string; readonly usage: ReportedUsage }
type Course = { readonly service: Service; readonly failures: Failures; readonly asked: Asked[] }

const paths = { chat: '/v1/chat/completions', messages: '/v1/messages' } as const
const forms: readonly Form[] = [
  { shape: 'chat', isStream: false },
  { shape: 'chat', isStream: true },
  { shape: 'messages', isStream: false },
  { shape: 'messages', isStream: true },
]

/** One conversation at a time: what the cache holds of it is then known to the token. */
export async function runCounts({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  const service = await startService()
  const failures = new Failures()
  const course: Course = { service, failures, asked: [] }
  const thoughts = await collectThoughts(service)
  if (thoughts.length === 0) failures.add('The service gave no thinking that could be sent back.')
  for (let caseNumber = 0; caseNumber < count; caseNumber += 1) {
    const random = createRandom(seed, caseNumber)
    await runCase(course, caseNumber, randomConversation(random, thoughts), random)
    if ((caseNumber + 1) % 100 === 0) log(`${caseNumber + 1} of ${count}`)
  }
  compareWithLedger(course)
  const exitCode = await service.stop()
  for (const line of errorLines(service)) failures.add(`The service logged: ${line}`)
  if (exitCode !== 0) failures.add(`The service ended with ${exitCode}.`)
  const sum = (key: keyof ReportedUsage) => course.asked.reduce((total, { usage }) => total + usage[key], 0)
  return failures.toResult({
    answers: course.asked.length,
    'tokens computed': sum('uncached'),
    'tokens written': sum('written'),
    'tokens read': sum('read'),
    'exit code': String(exitCode),
  })
}

async function runCase(
  course: Course,
  caseNumber: number,
  conversation: RandomConversation,
  random: Random,
): Promise<void> {
  const { service, failures } = course
  const label = `case ${caseNumber}`
  const model = random.pick(models)
  const counted = await count(service, { model, ...messagesBody(conversation) })
  let first: ReportedUsage | null = null
  for (const form of forms.toSorted(() => random.next() - 0.5)) {
    const body = form.shape === 'chat' ? chatBody(conversation) : messagesBody(conversation)
    const response = await ask(service, form, { model, ...body })
    failures.check(`${label} ${form.shape}${form.isStream ? ' streamed' : ''}`, () => {
      equal(response.status, 200, `${response.status} ${response.text.slice(0, 300)}`)
      const usage = readUsage(response, form.shape)
      course.asked.push({ requestId: response.headers.get('x-request-id') ?? '', usage })
      equal(usage.uncached + usage.written + usage.read, counted, 'tokens of the prompt')
      ok(usage.uncached > 0 && usage.written >= 0 && usage.read >= 0)
      if (first !== null) deepEqual(usage, { uncached: 1, written: 0, read: counted - 1, output: first.output })
      first ??= usage
    })
  }
}

async function count(service: Service, body: Fields): Promise<number> {
  const path = '/v1/messages/count_tokens'
  const { text } = await exchange(service.address, {
    path,
    headers: authorize(service.key),
    body: JSON.stringify(body),
  })
  return (JSON.parse(text) as { input_tokens?: number }).input_tokens ?? -1
}

/** The most likely answer, which is the same in every form. */
function ask(service: Service, { shape, isStream }: Form, body: Fields): Promise<RawResponse> {
  const usage = shape === 'chat' ? { stream_options: { include_usage: true } } : {}
  const fields = { ...body, max_tokens: 3, temperature: 0, ...(isStream && { stream: true, ...usage }) }
  return exchange(service.address, {
    path: paths[shape],
    headers: authorize(service.key),
    body: JSON.stringify(fields),
  })
}

/** The ledger has the numbers that the client was told. */
function compareWithLedger({ service, failures, asked }: Course): void {
  const rows = new Map(service.ledger().map((row) => [row.request_id, row]))
  for (const { requestId, usage } of asked) {
    const row = rows.get(requestId)
    failures.check(requestId, () => {
      ok(row !== undefined, 'the request has a row')
      const { input_uncached: uncached, input_cache_write: written, input_cache_read: read, output } = row
      deepEqual({ uncached, written, read, output }, usage, 'the ledger says what the client was told')
    })
  }
}

/** Thinking of the service's own, as it signs it. */
async function collectThoughts(service: Service): Promise<Thought[]> {
  const thoughts: Thought[] = []
  for (const content of ['Hello', 'What is the time?', 'Größe?']) {
    const thinking = { type: 'enabled', budget_tokens: 1_024 }
    const body = JSON.stringify({
      model: 'hal-1.0',
      max_tokens: 2_000,
      thinking,
      messages: [{ role: 'user', content }],
    })
    const { text } = await exchange(service.address, { path: paths.messages, headers: authorize(service.key), body })
    const answer = JSON.parse(text) as { content: { type: string; thinking?: string; signature?: string }[] }
    for (const { thinking: said, signature } of answer.content) {
      if (said !== undefined && signature !== undefined && said.trim() !== '') thoughts.push({ text: said, signature })
    }
  }
  return thoughts
}
