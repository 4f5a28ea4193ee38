// What clients see while their requests wait for a slot. The engine has a single one and is
// scripted; the service's clock is moved by hand.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { bodyFor, formats, paths, type Format } from '../harness/http/ask.ts'
import { checkError } from '../harness/check-error.ts'
import { startFakeService, type FakeService } from '../harness/fake-service.ts'
import { until } from '../harness/start-service.ts'
import { Transcript } from '../harness/http/transcript.ts'

let service: FakeService
/** With their answers, because `fetch` cuts off one that nobody holds any more: it would give up its slot. */
const open: { readonly answer: Promise<Response>; leave(): void }[] = []

before(async () => {
  service = await startFakeService(
    {
      slots: 1,
      // Whoever asks for "hold" holds the slot until it leaves.
      script: ({ messages }) =>
        JSON.stringify(messages).includes('hold')
          ? [{ kind: 'wait', ms: 600_000 }]
          : [
              { kind: 'block', block: { kind: 'text' }, texts: ['a'] },
              { kind: 'end', reason: { kind: 'end' } },
            ],
    },
    { waitingMax: 2, waitingBytesMax: 2 ** 20, waitMsMax: 25_000 },
  )
})
after(() => service.close())
afterEach(async () => {
  for (const { leave } of open.splice(0)) leave()
  const accounted = async () => (await rows()).length + (await refused()) === asked
  await until(accounted, 'Some request has no row and was not counted as refused.')
  earlier += (await rows()).length
  refusedEarlier += await refused()
  asked = 0
})

let asked = 0
/** Rows of the tests before, which nobody can delete. */
let earlier = 0
let refusedEarlier = 0

function ask(format: Format, fields: Record<string, unknown>): { answer: Promise<Response>; leave(): void } {
  asked += 1
  const controller = new AbortController()
  const answer = fetch(`${service.address}${paths[format]}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}` },
    body: JSON.stringify(bodyFor(format, fields)),
    signal: controller.signal,
  })
  answer.catch(() => {})
  const asking = { answer, leave: () => controller.abort() }
  open.push(asking)
  return asking
}

const hold = () => ask('messages', { stream: true, messages: [{ role: 'user', content: 'hold' }] })
/** How many requests were turned away because they would have waited too long. */
async function refused(): Promise<number> {
  await service.refusals.flush()
  const counters = await service.db
    .selectFrom('refusals')
    .select('requests')
    .where('class', '=', 'overloaded')
    .execute()
  return counters.reduce((sum, { requests }) => sum + requests, -refusedEarlier)
}

const rows = () =>
  service.db
    .selectFrom('ledger')
    .select(['outcome', 'reason', 'input_uncached', 'output'])
    .orderBy('sequence')
    .offset(earlier)
    .limit(1_000)
    .execute()
const untilWaiting = (count: number) =>
  until(() => service.queue.waiting === count, 'The requests are not in the queue.')

async function asAnswer(response: Response) {
  const text = await response.text()
  const { status, headers } = response
  return { status, headers, text, json: () => JSON.parse(text) as Record<string, unknown> }
}

const overloaded = {
  chat: { status: 503, type: 'service_unavailable_error', code: 'server_is_overloaded' },
  messages: { status: 529, type: 'overloaded_error' },
}

for (const format of formats) {
  test(`a waiting ${format} stream is kept alive from 10 seconds on and answered when its turn comes`, async () => {
    const holder = hold()
    await holder.answer
    const waiting = ask(format, { stream: true })
    await untilWaiting(1)
    service.clock.advance(10_000)
    const response = await waiting.answer
    equal(response.status, 200)
    const transcript = new Transcript(response)
    service.clock.advance(10_000)
    await until(() => transcript.text !== '', 'There is no sign of life.')
    equal(transcript.text, ': keep-alive\n\n')
    holder.leave()
    await until(() => transcript.end, 'The answer does not come.')
    equal(transcript.end, 'complete')
    match(transcript.text, /message_stop|\[DONE\]/)
  })

  test(`a ${format} stream that waits too long is told so and cut off`, async () => {
    await hold().answer
    const waiting = ask(format, { stream: true })
    await untilWaiting(1)
    service.clock.advance(10_000)
    const transcript = new Transcript(await waiting.answer)
    service.clock.advance(15_000)
    await until(() => transcript.end, 'The stream does not end.')
    service.clock.advance(1_000)
    equal(transcript.end, 'cut')
    match(transcript.text, /overloaded/)
    // The other one holds the slot still.
    deepEqual([await rows(), await refused()], [[], 1])
  })

  test(`a whole ${format} answer that waits too long is refused with its status`, async () => {
    await hold().answer
    const { answer } = ask(format, {})
    await untilWaiting(1)
    service.clock.advance(25_000)
    checkError(await asAnswer(await answer), format, overloaded[format])
  })

  test(`a ${format} request that finds no room is refused at once, streamed or not`, async () => {
    await hold().answer
    const waiting = [ask(format, {}), ask(format, { stream: true })]
    await untilWaiting(2)
    for (const stream of [false, true]) {
      const refused = await asAnswer(await ask(format, { stream }).answer)
      checkError(refused, format, overloaded[format])
      ok(Number(refused.headers.get('retry-after')) >= 1)
    }
    for (const { leave } of waiting) leave()
  })

  test(`a ${format} client that leaves while it waits has a row without any tokens`, async () => {
    await hold().answer
    const waiting = ask(format, { stream: true })
    await untilWaiting(1)
    waiting.leave()
    await until(async () => (await rows()).length === 1, 'The request has no row.')
    deepEqual(
      (await rows()).map((row) => ({ ...row })),
      [{ outcome: 'aborted', reason: 'client-left', input_uncached: 0, output: 0 }],
    )
  })
}
