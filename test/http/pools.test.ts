// A whole service with a pool: what clients, operators and the ledger are told of it.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { placeholderPath } from '../harness/engines/placeholder-path.ts'
import { openPlaceholderModel } from '../harness/engines/placeholder-model.ts'
import { openStandIn, type StandIn } from '../harness/engines/stand-in.ts'
import { ask, bodyFor, formats, paths } from '../harness/http/ask.ts'
import { runCli, tryCli } from '../harness/run-cli.ts'
import { runningServiceOf } from '../harness/running-service-of.ts'
import { startService, until, type Service } from '../harness/start-service.ts'
import { readFrames } from '../campaigns/sse-frames.ts'
import { checkChatStream } from '../validators/chat-stream.ts'
import { checkMessagesStream } from '../validators/messages-stream.ts'

let members: StandIn[]
/** The one of a pool of its own, which makes one answer at a time. */
let single: StandIn
let service: Service

before(async () => {
  const model = await openPlaceholderModel()
  members = [await openStandIn({ kind: 'llama-server', model }), await openStandIn({ kind: 'vllm', model })]
  single = await openStandIn({ kind: 'llama-server', model, slots: 1 })
  service = await startService({
    config: {
      models: { 'clarke-1.0': { pool: 'big' }, 'tycho-1.0': { pool: 'small' } },
      metrics: { port: 0 },
      pools: {
        big: {
          tokenizer: placeholderPath,
          replicas: members.map(({ address }, index) => ({
            url: address,
            kind: index === 0 ? 'llama-server' : 'vllm',
          })),
        },
        small: { tokenizer: placeholderPath, replicas: [{ url: single.address, kind: 'llama-server' }] },
      },
    },
  })
})
after(async () => {
  await service.stop()
  await Promise.all([...members, single].map((member) => member.close()))
})

test('both formats answer from a pool, streamed and not, and no byte of it is a replica’s', async () => {
  for (const format of formats) {
    for (const stream of [false, true]) {
      const { status, text } = await ask(service, paths[format], {
        body: bodyFor(format, { stream, model: 'clarke-1.0' }),
      })
      equal(status, 200, text)
      ok(!/canary/.test(text), text)
    }
  }
})

test('the ledger’s row names the replica and why it was chosen', async () => {
  await ask(service, paths.messages, { body: bodyFor('messages', { model: 'clarke-1.0' }) })
  const row = service.ledger().at(-1) as unknown as { replica: string; routing: string; outcome: string }
  equal(row.outcome, 'finished')
  const { candidates, matchedTokens, heldMs } = JSON.parse(row.routing) as Record<string, number>
  ok(Number(candidates) >= 1 && Number(matchedTokens) >= 0 && Number(heldMs) >= 0, row.routing)
  ok(
    members.some(({ address }) => address === row.replica),
    row.replica,
  )
})

test('tokens are counted without any replica', async () => {
  // Looks at the replicas go on meanwhile, whatever is asked.
  const isLook = (path: string) => /\/(?:health|props)\b/.test(path)
  const asked = () => members.reduce((sum, { paths: all }) => sum + all.filter((path) => !isLook(path)).length, 0)
  const before = asked()
  const { status } = await ask(service, `${paths.messages}/count_tokens`, {
    body: { model: 'clarke-1.0', messages: [{ role: 'user', content: 'Hello' }] },
  })
  deepEqual([status, asked()], [200, before])
})

test('a replica that fails is told to nobody but the operator', async () => {
  for (const member of members) member.fault = { kind: 'status', status: 500 }
  const { status, text } = await ask(service, paths.chat, { body: bodyFor('chat', { model: 'clarke-1.0' }) })
  equal(status, 500)
  ok(!/canary|127\.0\.0\.1|replica/.test(text), text)
  for (const member of members) member.fault = null
})

test('odyssey pools shows each replica, and drains one', async () => {
  const [first] = members
  match(await runCli(service, 'pools'), /big \(clarke-1\.0\): ready, window 2048 tokens/)
  equal(await runCli(service, 'pools', 'drain', 'big', first!.address), `${first!.address} is given nothing more.\n`)
  const states = async () => (await runningServiceOf(service.home).readPools())[0]?.replicas.map(({ state }) => state)
  deepEqual((await states())?.[0], 'draining')
  const before = first!.asked.length
  for (let time = 0; time < 3; time++)
    equal((await ask(service, paths.chat, { body: bodyFor('chat', { model: 'clarke-1.0' }) })).status, 200)
  equal(first!.asked.length, before)
  await runCli(service, 'pools', 'undrain', 'big', first!.address)
  await until(async () => (await states())?.[0] === 'up', 'It is not given requests again.')
  match((await tryCli(service, 'pools', 'drain', 'big', 'http://nowhere:1')).stderr, /\S/)
})

const readMetrics = async () => {
  const [, address] = /"address":"([^"]+)"[^\n]*"msg":"metrics"/.exec(service.output().stderr) ?? []
  return (await fetch(String(address))).text()
}

test('slots, and who has one, are told of a pool as its replicas are, and who waits for them as who waits', async () => {
  single.tokenMs = 100
  const before = single.asked.length
  const answers = [1, 2, 3].map((number) =>
    ask(service, paths.chat, {
      body: bodyFor('chat', {
        model: 'tycho-1.0',
        max_tokens: 30,
        messages: [{ role: 'user', content: `${number}` }],
      }),
    }),
  )
  const running = runningServiceOf(service.home)
  const waiting = async () => (await running.readPools()).find(({ name }) => name === 'small')?.waiting
  await until(async () => single.asked.length > before && (await waiting()) === 2, 'They do not wait.')
  const metrics = await readMetrics()
  const numberOf = (name: string) =>
    new RegExp(`^odyssey_engine_${name}\\{model="tycho-1.0"\\} (.+)$`, 'm').exec(metrics)?.[1]
  deepEqual(['slots', 'running', 'waiting'].map(numberOf), ['1', '1', '2'])
  const told = await runCli(service, 'queue')
  match(told, /^tycho-1\.0: 1 of 1 slots taken, 2 waiting, the oldest for .+\n +1\. req_.+ tokens.+\n +2\. req_/m)
  single.tokenMs = 0
  for (const { status } of await Promise.all(answers)) equal(status, 200)
  match(await runCli(service, 'queue'), /^tycho-1\.0: 0 of 1 slots taken, nobody waits$/m)
})

test('the ledger tells the wait for a replica and the time for the prompt apart', async () => {
  single.promptTokenMs = 5
  await ask(service, paths.chat, { body: bodyFor('chat', { model: 'tycho-1.0' }) })
  single.promptTokenMs = 0
  const row = service.ledger().at(-1) as unknown as Record<
    'first_event_ms' | 'first_token_ms' | 'input_uncached',
    number
  >
  ok(row.input_uncached > 10)
  // The stand-in takes twice as long for it.
  ok(row.first_token_ms - row.first_event_ms > row.input_uncached * 2.5, JSON.stringify(row))
})

test('odyssey pools drain says when no replica is left', async () => {
  const [first, second] = members
  await runCli(service, 'pools', 'drain', 'big', first!.address)
  match(await runCli(service, 'pools', 'drain', 'big', second!.address), /No other one of big is left: requests wait/)
  match(await runCli(service, 'pools'), /big \(clarke-1\.0\): down/)
  for (const { address } of members) await runCli(service, 'pools', 'undrain', 'big', address)
  match(await runCli(service, 'pools'), /big \(clarke-1\.0\): ready/)
})

test('odyssey pools check proves a server, and says what is wrong with another', async () => {
  const [first, second] = members
  const tokenizer = ['--tokenizer', placeholderPath]
  match(
    await runCli(service, 'pools', 'check', first!.address, '--kind', 'llama-server', ...tokenizer),
    /can be a replica/,
  )
  const told = await runCli(service, 'pools', 'check', second!.address, '--kind', 'vllm', ...tokenizer)
  match(told, /cached tokens +told with the last token/)
  const third = await openStandIn({ kind: 'sglang', model: await openPlaceholderModel() })
  const repeating = await runCli(service, 'pools', 'check', third.address, '--kind', 'sglang', ...tokenizer)
  match(repeating, /start it with --incremental-streaming-output: without it each token/)
  await third.close()
  const { exitCode, stderr } = await tryCli(service, 'pools', 'check', first!.address, '--kind', 'vllm', ...tokenizer)
  equal(exitCode, 1)
  match(stderr, /cannot be a replica/)
})

test('models shows which pool answers', async () => {
  match(await runCli(service, 'models'), /clarke-1\.0 +in a pool[^]*pool big/)
})

test('a service that is told to stop ends 200 streams of a pool whole, and writes each into the ledger', async () => {
  const member = await openStandIn({ kind: 'llama-server', model: await openPlaceholderModel(), slots: 200 })
  const pools = { big: { tokenizer: placeholderPath, replicas: [{ url: member.address, kind: 'llama-server' }] } }
  const stopping = await startService({ config: { models: { 'clarke-1.0': { pool: 'big' } }, pools } })
  // So that none is answered before all have begun.
  member.promptTokenMs = 100
  const provedBy = member.asked.length
  const begun = Array.from({ length: 200 }, (_, number) => {
    const format = formats[number % 2]!
    const messages = [{ role: 'user', content: `${number}` }]
    return ask(stopping, paths[format], { body: bodyFor(format, { stream: true, max_tokens: 8, messages }) })
  })
  await until(() => member.asked.length === provedBy + 200, 'Not all reach the replica.')
  ok(member.running > 0, 'None is under way any more.')
  const exitCode = stopping.stop()
  for (const [number, { status, text }] of (await Promise.all(begun)).entries()) {
    equal(status, 200, text)
    const frames = readFrames(text)
    if (formats[number % 2] === 'chat') checkChatStream(frames, { includeUsage: false })
    else checkMessagesStream(frames)
  }
  equal(await exitCode, 0)
  const outcomes = stopping.ledger().map(({ outcome }) => outcome)
  deepEqual([outcomes.length, [...new Set(outcomes)], member.running], [200, ['finished'], 0])
  await member.close()
})
