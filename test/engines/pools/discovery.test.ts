// Replicas that are found by a name, and come and go with what it stands for.

import { deepEqual, equal, rejects } from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { collect } from '../../../src/core/collect.ts'
import { countTokens, runAlone } from '../../../src/core/engine.ts'
import { followDns, type DnsResolver } from '../../../src/models/fleet/pools/dns-members.ts'
import type { ReportedEngine } from '../../../src/models/fleet/pools/reported-engine.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { openMessageStandIn, type MessageStandIn } from '../../harness/engines/message-stand-in.ts'
import { openPool, openReportedPool } from '../../harness/engines/open-pool.ts'
import { openPlaceholderModel } from '../../harness/engines/placeholder-model.ts'
import { openStandIn } from '../../harness/engines/stand-in.ts'
import { createManualClock } from '../../harness/manual-clock.ts'
import { engineRequest, withSeed } from '../../harness/requests.ts'
import { until } from '../../harness/start-service.ts'

const never = new AbortController().signal
const log = createLog('silent')

describe('a name of replicas', () => {
  const follow = async (name: string, answers: readonly (readonly string[] | Error)[]) => {
    const clock = createManualClock()
    const found: (readonly string[])[] = []
    let asked = 0
    const resolver: DnsResolver = {
      addresses(host) {
        const answer = answers[Math.min(asked++, answers.length - 1)] ?? []
        if (answer instanceof Error) return Promise.reject(answer)
        return Promise.resolve(host === 'b' ? [`${answer[0]}9`] : answer)
      },
      services: () =>
        Promise.resolve([
          { name: 'a', port: 8_000 },
          { name: 'b', port: 8_001 },
        ]),
    }
    const stop = followDns({ name, clock, log, resolver, onFound: (addresses) => found.push(addresses) })
    for (let time = 0; time < answers.length; time++) {
      await new Promise(setImmediate)
      clock.advance(5_000)
    }
    await stop()
    return found
  }

  it('stands for every address of a host, and says so when they are others', async () => {
    deepEqual(
      await follow('vllm.svc:8000', [
        ['10.0.0.2', '10.0.0.1'],
        ['10.0.0.1', '10.0.0.2'],
        ['10.0.0.3', 'fd00::1'],
      ]),
      [
        ['http://10.0.0.1:8000', 'http://10.0.0.2:8000'],
        ['http://10.0.0.3:8000', 'http://[fd00::1]:8000'],
      ],
    )
  })

  it('stands for the targets of a service with their own ports', async () => {
    deepEqual(await follow('_http._tcp.vllm.svc', [['10.0.0.1']]), [['http://10.0.0.19:8001', 'http://10.0.0.1:8000']])
  })

  it('stands for nothing once it is said again and again that there is nothing, and for what comes then', async () => {
    const nothing = Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' })
    const away = Object.assign(new Error('EAI_AGAIN'), { code: 'EAI_AGAIN' })
    const there = ['http://10.0.0.1:8000']
    const answers = (...others: readonly (readonly string[] | Error)[]) => follow('vllm.svc:8000', others)
    deepEqual(await answers(['10.0.0.1'], nothing, nothing, nothing, ['10.0.0.1']), [there, [], there])
    deepEqual(await answers(['10.0.0.1'], nothing, nothing, away, nothing, nothing, ['10.0.0.1']), [there])
    deepEqual(await answers(nothing, nothing, nothing, nothing, ['10.0.0.1']), [there])
  })

  it('keeps what it stood for while it cannot be resolved', async () => {
    deepEqual(await follow('vllm.svc:8000', [['10.0.0.1'], new Error('ENOTFOUND'), ['10.0.0.1'], ['10.0.0.2']]), [
      ['http://10.0.0.1:8000'],
      ['http://10.0.0.2:8000'],
    ])
  })
})

describe('a pool whose name stands for nothing', () => {
  it('is down, and refuses at once', async () => {
    const resolver = { addresses: () => Promise.reject(new Error('ENOTFOUND')), services: () => Promise.resolve([]) }
    const named = { dns: 'nowhere:1', kind: 'ollama', key: null, runningMax: null, model: null } as const
    const engine = await openReportedPool([], { names: [named], resolver })
    await until(() => engine.status().state === 'down', 'The pool is not down.')
    await rejects(collect(runAlone(engine, engineRequest(), never)), /not available/u)
    equal(engine.reason, 'No replica was found by name.')
    await engine.close()
  })
})

describe('a pool whose replicas are found by name', () => {
  const kind = 'chat-completions'
  let servers: MessageStandIn[]
  let engine: ReportedEngine
  let standsFor: MessageStandIn[]
  before(async () => {
    servers = [await openMessageStandIn(kind), await openMessageStandIn(kind)]
    standsFor = servers.slice(0, 1)
    engine = await openReportedPool([], {
      names: [{ dns: '_http._tcp.vllm.svc', kind, key: null, runningMax: null, model: null }],
      resolver: {
        addresses: () => Promise.resolve(['127.0.0.1']),
        services: () =>
          Promise.resolve(standsFor.map(({ address }) => ({ name: 'a', port: Number(new URL(address).port) }))),
      },
    })
  })
  after(async () => {
    await engine.close()
    await Promise.all(servers.map((server) => server.close()))
  })
  const states = () => engine.replicas.map(({ id, health, isDraining }) => [id, isDraining ? 'draining' : health.state])
  const run = () => collect(runAlone(engine, engineRequest(), never))

  it('answers from them, and from those that join', async () => {
    await until(() => engine.status().state === 'ready', 'The pool is not ready.')
    equal((await run()).blocks[0]?.text, 'Hello there.')
    standsFor = [...servers]
    await until(
      () => states().filter(([, state]) => state === 'up').length === 2,
      'The second one has not joined.',
      60_000,
    )
  })

  it('gives one that leaves nothing more, and lets it finish what it has', async () => {
    for (const server of servers) server.recordMs = 400
    const answers = [run(), run(), run()]
    await until(
      () => servers.every(({ running }) => running > 0) || servers.some(({ running }) => running === 3),
      'They have not begun.',
      60_000,
    )
    standsFor = servers.filter(({ running }) => running === 0).slice(0, 1)
    if (standsFor.length === 0) standsFor = servers.slice(1)
    await until(() => states().some(([, state]) => state === 'draining'), 'None leaves.', 60_000)
    for (const { blocks, reason } of await Promise.all(answers)) {
      equal(blocks[0]?.text, 'Hello there.')
      equal(reason.kind, 'end')
    }
    await until(() => engine.replicas.length === 1, 'It has not left.', 60_000)
    deepEqual(
      engine.replicas.map(({ id }) => id),
      standsFor.map(({ address }) => address),
    )
    for (const server of servers) server.recordMs = 0
    equal((await run()).reason.kind, 'end')
  })
})

describe('a pool whose name comes to stand for a replica that is not there yet', () => {
  /** A name of one replica, by its port. */
  const nameOf = (portOf: () => number) => ({
    name: { dns: '_http._tcp.vllm.svc', key: null, runningMax: null, model: null },
    resolver: {
      addresses: () => Promise.resolve(['127.0.0.1']),
      services: () => Promise.resolve(portOf() === 0 ? [] : [{ name: 'a', port: portOf() }]),
    },
  })
  const portOf = ({ address }: { readonly address: string }) => Number(new URL(address).port)
  /** A port that nobody listens on as yet. */
  const laterPort = async () => {
    const server = await openMessageStandIn('chat-completions')
    await server.close()
    return portOf(server)
  }

  it('lets what waits go on waiting for that one, and answers it there', async () => {
    const kind = 'chat-completions'
    const first = await openMessageStandIn(kind)
    first.recordMs = 600
    let port = portOf(first)
    const { name, resolver } = nameOf(() => port)
    const engine = await openReportedPool([], { names: [{ ...name, kind, runningMax: 1 }], resolver })
    await until(() => engine.status().state === 'ready', 'The pool is not ready.')
    const answers = [1, 2, 3].map(() => collect(runAlone(engine, engineRequest(), never)))
    await until(() => engine.status().waiting === 2, 'They do not wait.')
    port = 0
    await until(() => engine.replicas.length === 0, 'It has not left.', 60_000)
    port = await laterPort()
    await until(() => engine.replicas.some(({ health }) => health.reason !== null), 'It is not looked for.', 60_000)
    equal(engine.status().waiting, 2)
    const second = await openMessageStandIn(kind, port)
    for (const { blocks } of await Promise.all(answers)) equal(blocks[0]?.text, 'Hello there.')
    deepEqual([first.asked.length, second.asked.length], [2, 3])
    await engine.close()
    await Promise.all([first.close(), second.close()])
  })

  it('goes on there with an answer that has ended a leg where it was', async () => {
    const kind = 'llama-server'
    const model = await openPlaceholderModel()
    const first = await openStandIn({ kind, model })
    let port = portOf(first)
    const { name, resolver } = nameOf(() => port)
    const engine = await openPool([], { names: [{ ...name, kind }], resolver })
    await until(() => engine.status().state === 'ready', 'The pool is not ready.')
    const [callToken = -1] = model.tokenize('<tool_call>')
    const properties = { a: { type: 'integer' } }
    const parameters = { type: 'object', properties, required: ['a'], additionalProperties: false }
    const request = engineRequest({
      tools: [{ name: 'f', description: '', parameters, isStrict: true, schemaPath: ['tools', 0], input: 'json' }],
      sampling: { ...withSeed(1, 0), logitBias: [[callToken, 100]] },
      outputTokensMax: 100,
    })
    const tokens = await countTokens(engine, request, never)
    first.promptTokenMs = 2_000 / tokens
    const proofs = first.asked.length
    const answer = collect(runAlone(engine, request, never))
    await until(() => first.asked.length > proofs, 'It has not begun.')
    port = await laterPort()
    await until(() => engine.status().waiting === 1, 'It does not wait for the other one.', 60_000)
    await until(
      () => engine.replicas.every(({ health }) => health.state !== 'up'),
      'The first one is still there.',
      60_000,
    )
    const second = await openStandIn({ kind, model, port })
    deepEqual([(await answer).blocks[0]?.kind, first.asked.length], ['tool-call', proofs + 1])
    await engine.close()
    await Promise.all([first.close(), second.close()])
  })

  it('says at once that it has none where none comes in its place, and answers what waits once one does', async () => {
    const kind = 'chat-completions'
    const first = await openMessageStandIn(kind)
    let port = portOf(first)
    const { name, resolver } = nameOf(() => port)
    const names = [{ ...name, kind, runningMax: 1 } as const]
    const engine = await openReportedPool([], { names, resolver, readyWaitMsMax: 20_000 })
    await until(() => engine.status().state === 'ready', 'The pool is not ready.')
    port = 0
    await until(() => engine.status().state === 'down', 'It is believed to load.', 60_000)
    equal(engine.reason, 'No replica was found by name.')
    // Longer than what its end leaves to others to come in its place.
    await rejects(collect(runAlone(engine, engineRequest(), never)), /try again/u)
    const answer = collect(runAlone(engine, engineRequest(), never))
    port = await laterPort()
    const second = await openMessageStandIn(kind, port)
    equal((await answer).blocks[0]?.text, 'Hello there.')
    await engine.close()
    await Promise.all([first.close(), second.close()])
  })

  it('is down where none comes in its place, and refuses what has waited for that', async () => {
    const kind = 'chat-completions'
    const first = await openMessageStandIn(kind)
    first.recordMs = 600
    let port = portOf(first)
    const { name, resolver } = nameOf(() => port)
    const names = [{ ...name, kind, runningMax: 1 } as const]
    const engine = await openReportedPool([], { names, resolver, readyWaitMsMax: 20_000 })
    await until(() => engine.status().state === 'ready', 'The pool is not ready.')
    const answer = collect(runAlone(engine, engineRequest(), never))
    const refused = rejects(collect(runAlone(engine, engineRequest(), never)), /not available/u)
    await until(() => engine.status().waiting === 1, 'It does not wait.')
    port = 0
    await Promise.all([answer, refused])
    equal(engine.status().state, 'down')
    await engine.close()
    await first.close()
  })
})
