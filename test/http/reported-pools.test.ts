// A whole service with a pool of servers that take messages: what clients, operators and the ledger are told of it.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openMessageStandIn, type MessageStandIn } from '../harness/engines/message-stand-in.ts'
import { ask, bodyFor, formats, paths } from '../harness/http/ask.ts'
import { runCli, tryCli } from '../harness/run-cli.ts'
import { runningServiceOf } from '../harness/running-service-of.ts'
import { startService, until, type Service } from '../harness/start-service.ts'

let members: MessageStandIn[]
let service: Service

before(async () => {
  members = [await openMessageStandIn('ollama'), await openMessageStandIn('chat-completions')]
  const [first, second] = members
  service = await startService({
    config: {
      models: { 'clarke-1.0': { pool: 'small' } },
      pools: {
        small: {
          sharedCache: true,
          replicas: [
            { url: first!.address, kind: 'ollama', model: 'canary' },
            { url: second!.address, kind: 'chat-completions' },
          ],
        },
      },
    },
  })
  const states = async () => (await runningServiceOf(service.home).readPools())[0]?.replicas.map(({ state }) => state)
  await until(async () => (await states())?.every((state) => state === 'up') === true, 'The pool is not ready.', 60_000)
})
after(async () => {
  await service.stop()
  await Promise.all(members.map((member) => member.close()))
})

test('both formats answer from servers that take messages, streamed and not, and no byte of it is theirs', async () => {
  for (const format of formats) {
    for (const stream of [false, true]) {
      const body = bodyFor(format, { stream, model: 'clarke-1.0' })
      const { status, text } = await ask(service, paths[format], { body })
      equal(status, 200, text)
      ok(/Hello/u.test(text) && !/canary|ollama/iu.test(text), text)
    }
  }
})

test('the ledger’s row says that its counts are the server’s, and which one it was', async () => {
  await ask(service, paths.messages, { body: bodyFor('messages', { model: 'clarke-1.0' }) })
  const row = service.ledger().at(-1) as unknown as Record<string, unknown>
  const { count_source: source, output, outcome, replica } = row
  deepEqual([source, output, outcome], ['reported', 3, 'finished'])
  ok(
    members.some(({ address }) => address === replica),
    String(replica),
  )
})

test('operators see wherever they look that the counts are reported', async () => {
  match(await runCli(service, 'pools'), /small \(clarke-1\.0\): ready.*counts as reported by the replicas/u)
  const [pool] = await runningServiceOf(service.home).readPools()
  equal(pool?.counts, 'reported')
  match(await runCli(service, 'models'), /clarke-1\.0 +in a pool[^]*pool small, counts reported/u)
  match(await runCli(service, 'ledger', 'export', '--csv'), /count_source[^]*reported/u)
})

test('odyssey pools check tells what a server that takes messages takes', async () => {
  const [first, second] = members
  const told = await runCli(service, 'pools', 'check', second!.address, '--kind', 'chat-completions')
  match(told, /can be a replica[^]*tokens in +no: what it counts is reported[^]*schema +yes/u)
  match(await runCli(service, 'pools', 'check', first!.address, '--kind', 'ollama', '--model', 'canary'), /tools +yes/u)
  const { exitCode, stderr } = await tryCli(
    service,
    'pools',
    'check',
    first!.address,
    '--kind',
    'ollama',
    '--model',
    'x',
  )
  equal(exitCode, 1)
  match(stderr, /no model that is called x/u)
})
