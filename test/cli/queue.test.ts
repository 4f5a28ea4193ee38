// What an operator sees of those who wait for a slot.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Queue } from '../../src/http/api/engine-schemas.ts'
import { ask, bodyFor, longAnswerBody, paths } from '../harness/http/ask.ts'
import { openFormatStream, type LiveStream } from '../harness/http/open-stream.ts'
import { createKey, runCli, tryCli } from '../harness/run-cli.ts'
import { runningServiceOf } from '../harness/running-service-of.ts'
import { startService, until, type Service } from '../harness/start-service.ts'

let service: Service

before(async () => {
  service = await startService({ config: { engine: { slots: 1 } } })
})
after(() => service.stop())

/** What the command asks for, without the time it takes to start. */
function readQueues({ home }: Service): Promise<Queue[]> {
  return runningServiceOf(home).readQueues()
}

async function queues(): Promise<Queue[]> {
  return (JSON.parse(await runCli(service, 'queue', '--json')) as { queues: Queue[] }).queues
}

/** Takes the slot for longer than the test takes. */
async function hold(): Promise<LiveStream> {
  const stream = await openFormatStream(service, 'chat', longAnswerBody('chat'))
  equal(stream.status, 200)
  return stream
}

test('shows who waits, in order, by the ids of requests and keys', async () => {
  deepEqual(await queues(), [
    { models: ['clarke-1.0', 'hal-1.0', 'tycho-1.0'], slots: 1, running: 0, waiting: 0, oldestWaitMs: 0, upcoming: [] },
  ])
  const other = await createKey(service, 'other')
  const holder = await hold()
  const asked = [
    ask(service, paths.messages, { body: bodyFor('messages', { model: 'hal-1.0', max_tokens: 3 }) }),
    ask(service, paths.chat, { body: bodyFor('chat', { max_tokens: 3 }), key: other.key }),
  ]
  const queue = await until(async () => {
    const [only] = await readQueues(service)
    return only?.upcoming.length === 2 && only.upcoming.every(({ inputTokens }) => inputTokens !== null) ? only : null
  }, 'Nobody waits.')
  deepEqual([queue.running, queue.waiting], [1, 2])
  ok(queue.oldestWaitMs > 0)
  deepEqual(
    queue.upcoming.map(({ position, model }) => [position, model]),
    [
      [1, 'clarke-1.0'],
      [2, 'hal-1.0'],
    ],
    'the key that has the slot comes after the other',
  )
  equal(queue.upcoming[0]?.apiKeyId, other.id)

  const words = await runCli(service, 'queue')
  match(words, /^clarke-1\.0, hal-1\.0, tycho-1\.0: 1 of 1 slots taken, 2 waiting, the oldest for [\d.]+ s\n/)
  match(words, new RegExp(`\\n {3}1\\. req_\\w+ {2}${other.id} {2}clarke-1\\.0, \\d+ tokens, [\\d.]+ s\\n`))
  for (const key of [service.key, other.key]) ok(!words.includes(key))

  holder.leave()
  const answers = await Promise.all(asked)
  const ids = answers.map(({ headers }) => headers.get('x-request-id'))
  deepEqual(ids, [queue.upcoming[1]?.requestId, queue.upcoming[0]?.requestId])
  await until(async () => (await readQueues(service))[0]?.running === 0, 'The queue is not empty again.')
  equal((await queues())[0]?.waiting, 0)
})

test('takes nothing else, and says when the service does not run', async () => {
  equal((await tryCli(service, 'queue', '--all')).exitCode, 2)
  await service.stop()
  match(await runCli(service, 'queue'), /not running/)
})
