import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { after, afterEach, before, describe, it } from 'node:test'
import { checkStream } from '../../../src/core/check-stream.ts'
import { collect } from '../../../src/core/collect.ts'
import { countTokens, runAlone } from '../../../src/core/engine.ts'
import { ApiError } from '../../../src/core/error.ts'
import { GenerationAborted, type EngineRequest, type GenerationEvent } from '../../../src/core/generation.ts'
import { replicaKinds, type ReplicaKind } from '../../../src/engines/remote/dialect.ts'
import { ReplicaClient } from '../../../src/engines/remote/replica-client.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { PoolEngine } from '../../../src/models/fleet/pools/pool-engine.ts'
import { openPool } from '../../harness/engines/open-pool.ts'
import { openPlaceholderModel, type PlaceholderModel } from '../../harness/engines/placeholder-model.ts'
import { openStandIn, type StandIn, type StandInFault } from '../../harness/engines/stand-in.ts'
import { engineRequest, withSeed } from '../../harness/requests.ts'
import { until } from '../../harness/start-service.ts'

const never = new AbortController().signal
const greedy = withSeed(1, 0)
let model: PlaceholderModel

before(async () => {
  model = await openPlaceholderModel()
})

const run = (engine: PoolEngine, changes: Partial<EngineRequest> = {}) =>
  collect(checkStream(runAlone(engine, engineRequest({ sampling: greedy, ...changes }), never)))

const isError = (code: string) => (error: unknown) => error instanceof ApiError && error.code === code

/** Everything that a client could be told. */
function tellable(error: unknown): string {
  return error instanceof ApiError ? JSON.stringify([error.message, error.reason]) : String(error)
}

/** The next request for an answer meets the first fault, whoever gets it, the one after it the second, all others none. Tells who was asked. */
function failInTurn(members: readonly StandIn[], ...faults: readonly StandInFault[]): readonly StandIn[] {
  const asked: StandIn[] = []
  for (const member of members) member.chooseFault = () => faults[asked.push(member) - 1] ?? null
  return asked
}

for (const kind of replicaKinds) {
  describe(`a pool of two ${kind}`, () => {
    let members: StandIn[]
    let engine: PoolEngine
    const open = async (changes: Parameters<typeof openPool>[1] = {}) => {
      members = [await openStandIn({ kind, model }), await openStandIn({ kind, model })]
      engine = await openPool(
        members.map(({ address }) => ({ address, kind })),
        changes,
      )
    }
    before(() => open())
    after(async () => {
      await engine.close()
      await Promise.all(members.map((member) => member.close()))
    })
    afterEach(async () => {
      for (const member of members) Object.assign(member, { fault: null, chooseFault: null })
      await Promise.all(engine.replicas.filter(({ health }) => health.state !== 'up').map(back))
    })
    const back = async (replica: PoolEngine['replicas'][number]) => {
      await until(() => replica.health.state === 'up', 'A replica does not come back.', 60_000)
    }

    const failing: readonly StandInFault[] = [
      { kind: 'status', status: 500 },
      { kind: 'status', status: 503 },
      { kind: 'status', status: 429 },
      { kind: 'status', status: 404 },
      { kind: 'upgrade' },
      { kind: 'html' },
      { kind: 'redirect', to: 'http://127.0.0.1:1/' },
      { kind: 'cut', bytes: 3 },
    ]
    for (const fault of failing) {
      it(`answers at the other one where one fails with ${JSON.stringify(fault)}`, async () => {
        const { blocks } = await run(engine)
        const asked = failInTurn(members, fault)
        deepEqual((await run(engine)).blocks, blocks)
        deepEqual([asked.length, new Set(asked).size], [2, 2])
      })
    }

    for (const fault of [
      ...failing,
      { kind: 'lie', what: 'prompt' },
      { kind: 'lie', what: 'output' },
      { kind: 'lie', what: 'cached' },
      { kind: 'double' },
    ] as StandInFault[]) {
      // What is counted in records of tokens alone shows in none of these.
      if (kind === 'sglang' && fault.kind === 'double') continue
      it(`never ends an answer well where both fail with ${JSON.stringify(fault)}, and tells nothing of them`, async () => {
        for (const member of members) member.fault = fault
        await rejects(run(engine), (error) => {
          ok(error instanceof ApiError)
          ok(!/canary|127\.0\.0\.1|vllm|sglang|llama/i.test(tellable(error)), tellable(error))
          return true
        })
      })
    }

    it('tells a client nothing that an engine says of itself', async () => {
      const events: GenerationEvent[] = []
      for await (const event of runAlone(engine, engineRequest({ sampling: greedy, logprobsTop: 2 }), never))
        events.push(event)
      ok(events.length > 3)
      ok(!JSON.stringify(events).includes('canary'))
    })

    it('asks for the paths of its dialect alone', () => {
      const known = new Set(engine.replicas[0]?.remote.dialect.paths)
      for (const { paths } of members)
        deepEqual(
          paths.filter((path) => !known.has(path)),
          [],
        )
    })

    it('goes on at the other one where an answer is cut off in its midst, byte for byte the same', async () => {
      for (const bytes of [400, 900, 1_500]) {
        const expected = await run(engine, { outputTokensMax: 60 })
        const asked = failInTurn(members, { kind: 'cut', bytes })
        const answer = await run(engine, { outputTokensMax: 60 })
        deepEqual(
          [answer.blocks, answer.reason, answer.usage.output],
          [expected.blocks, expected.reason, expected.usage.output],
        )
        deepEqual([asked.length, new Set(asked).size], [2, 2])
      }
    })

    it('bills an answer once whose last token came and whose end was lost, and ends it for the same reason', async () => {
      for (const changes of [{}, { outputTokensMax: 9 }]) {
        const expected = await run(engine, changes)
        const asked = failInTurn(members, { kind: 'cut-before-end' })
        const answer = await run(engine, changes)
        deepEqual(
          [answer.blocks, answer.reason, answer.usage.output],
          [expected.blocks, expected.reason, expected.usage.output],
        )
        ok(asked.length > 0)
      }
    })

    it('goes on as often as it has to, as long as each replica brings it some way', async () => {
      const expected = await run(engine, { outputTokensMax: 60 })
      for (const member of members) member.fault = { kind: 'cut', bytes: 600 }
      const before = members.reduce((sum, { asked }) => sum + asked.length, 0)
      const answer = await run(engine, { outputTokensMax: 60 })
      const tries = members.reduce((sum, { asked }) => sum + asked.length, 0) - before
      // So many beginnings computed anew may tip the balance between ending and going on.
      ok(answer.blocks[0]?.text.startsWith(expected.blocks[0]?.text.slice(0, 24) ?? ''), JSON.stringify(answer.blocks))
      ok(tries > 3, `${tries} tries`)
    })

    it('does not go on with an answer of chance', async () => {
      for (const member of members) member.fault = { kind: 'cut', bytes: 900 }
      await rejects(run(engine, { sampling: withSeed(3), outputTokensMax: 60 }), isError('engine-failed'))
    })

    // A llama-server takes no such tokens: what its weights say ends an answer.
    if (kind !== 'llama-server')
      it('has an answer ended where the model ends it, also by an engine that does not know the token by itself', async () => {
        const expected = await run(engine, { outputTokensMax: 60 })
        equal(expected.reason.kind, 'end')
        const made = () => members.reduce((sum, member) => sum + member.made, 0)
        for (const member of members) member.knowsEnds = false
        const before = made()
        const answer = await run(engine, { outputTokensMax: 60 })
        for (const member of members) member.knowsEnds = true
        deepEqual([answer.blocks, answer.reason], [expected.blocks, expected.reason])
        deepEqual([answer.usage.output, made() - before], [expected.usage.output, expected.usage.output])
      })

    it('ends a request at its replica when the client leaves', async () => {
      for (const member of members) member.tokenMs = 20
      const controller = new AbortController()
      await rejects(async () => {
        for await (const event of runAlone(engine, engineRequest({ outputTokensMax: 400 }), controller.signal))
          if (event.type === 'delta') controller.abort()
      }, GenerationAborted)
      await until(() => members.every(({ running }) => running === 0), 'A replica still works on it.', 5_000)
      equal(engine.status().running, 0)
      for (const member of members) member.tokenMs = 0
      const aborts = () => members.flatMap((member) => member.aborts)
      if (kind === 'llama-server') return deepEqual(aborts(), [])
      await until(() => aborts().length > 0, 'It was not asked to end it.', 5_000)
      const asked = members.flatMap((member) => member.asked)
      const expected = asked.map((body) =>
        kind === 'sglang' ? { rid: body['rid'] } : { request_ids: [`generate-tokens-${String(body['request_id'])}`] },
      )
      for (const abort of aborts())
        ok(
          expected.some((one) => isDeepStrictEqual(one, abort)),
          JSON.stringify(abort),
        )
    })

    it('refuses a prompt that does not fit before anything is sent, and cuts none', async () => {
      const asked = () => members.reduce((sum, { asked: all }) => sum + all.length, 0)
      const text = (words: number) =>
        [{ role: 'user', content: [{ kind: 'text', text: 'word '.repeat(words) }] }] as const
      let longest = 0
      for (let words = 1; words < 4_000; words += 250) {
        const before = asked()
        try {
          const { usage } = await run(engine, { messages: text(words), outputTokensMax: 1 })
          longest = Math.max(longest, usage.inputUncached + usage.inputCacheRead)
        } catch (error) {
          ok(error instanceof ApiError && error.reason.code === 'context-exceeded', String(error))
          equal(error.reason.windowTokens, 2_048)
          ok(error.reason.inputTokens >= 2_048)
          equal(asked(), before)
        }
      }
      ok(longest > 1_000 && longest < 2_048)
    })
  })
}

describe('a pool whose replicas go away', () => {
  const kind: ReplicaKind = 'llama-server'
  const ask = (engine: PoolEngine, number: number, changes: Partial<EngineRequest> = {}) =>
    run(engine, {
      messages: [{ role: 'user', content: [{ kind: 'text', text: `Question ${number}` }] }],
      outputTokensMax: 10,
      ...changes,
    })

  it('refuses at once with a hint when none is left, and answers again when one is back', async () => {
    const member = await openStandIn({ kind, model })
    const engine = await openPool([member])
    const port = Number(new URL(member.address).port)
    await member.close()
    await rejects(run(engine), ApiError)
    await until(() => engine.status().state === 'down', 'The pool is not down.')
    const hints = new Set<number>()
    for (let time = 0; time < 20; time++) {
      await rejects(run(engine), (error) => {
        ok(error instanceof ApiError && error.reason.code === 'overloaded')
        hints.add(error.reason.retryAfterMs)
        return true
      })
    }
    ok(hints.size > 10)
    const again = await openStandIn({ kind, model, port })
    await until(() => engine.status().state === 'ready', 'The pool is not back.', 60_000)
    await run(engine)
    await engine.close()
    await again.close()
  })

  it('lets what waits for one that is drained, and no other is left, go on waiting until it is given requests again', async () => {
    const member = await openStandIn({ kind, model, slots: 1 })
    const engine = await openPool([member])
    const [replica] = engine.replicas
    ok(replica !== undefined)
    member.tokenMs = 100
    const answers = [1, 2].map((number) => ask(engine, number))
    await until(() => engine.status().waiting === 1, 'It does not wait.')
    replica.drain(true)
    deepEqual([engine.status().state, engine.reason], ['down', 'All of its replicas are drained.'])
    answers.push(ask(engine, 3))
    await Promise.race(answers)
    // It is looked after meanwhile, which must not change that.
    const looks = () => member.paths.length
    const before = looks()
    await until(() => looks() > before + 1, 'Nobody looks.')
    deepEqual([replica.load.running, engine.status().waiting], [0, 1])
    replica.drain(false)
    for (const { usage } of await Promise.all(answers)) ok(usage.output > 0)
    await engine.close()
    await member.close()
  })

  it('refuses what has waited long enough for one that was drained, and what comes then at once', async () => {
    const member = await openStandIn({ kind, model, slots: 1 })
    const engine = await openPool([member], { readyWaitMsMax: 10_000 })
    const [replica] = engine.replicas
    ok(replica !== undefined)
    member.tokenMs = 100
    const first = ask(engine, 1)
    const second = rejects(ask(engine, 2), isError('overloaded'))
    await until(() => engine.status().waiting === 1, 'It does not wait.')
    replica.drain(true)
    await Promise.all([first, second])
    await rejects(ask(engine, 3), isError('overloaded'))
    deepEqual([engine.status().state, engine.status().waiting], ['down', 0])
    replica.drain(false)
    await ask(engine, 4)
    await engine.close()
    await member.close()
  })

  it('ends well an answer that goes on in a further request when its replica, the last one, is drained and comes back', async () => {
    const member = await openStandIn({ kind, model })
    const engine = await openPool([member])
    const [replica] = engine.replicas
    ok(replica !== undefined)
    const [callToken = -1] = model.tokenize('<tool_call>')
    const properties = { a: { type: 'integer' } }
    const parameters = { type: 'object', properties, required: ['a'], additionalProperties: false }
    const asked: Partial<EngineRequest> = {
      tools: [{ name: 'f', description: '', parameters, isStrict: true, schemaPath: ['tools', 0], input: 'json' }],
      sampling: { ...greedy, logitBias: [[callToken, 100]] },
      outputTokensMax: 100,
    }
    member.promptTokenMs = 5
    const proofs = member.asked.length
    const answer = ask(engine, 1, asked)
    await until(() => member.asked.length > proofs, 'It has not begun.')
    replica.drain(true)
    await until(() => engine.status().waiting === 1, 'It does not wait to go on.', 20_000)
    const looks = member.paths.length
    await until(() => member.paths.length > looks + 1, 'Nobody looks.')
    replica.drain(false)
    equal((await answer).blocks[0]?.kind, 'tool-call')
    await engine.close()
    await member.close()
  })

  for (const [before, now] of [
    [4, 2],
    [2, 6],
  ] as const) {
    it(`is given ${now} answers at a time, in slots that there are, when it is started anew with ${now} slots in the place of ${before}`, async () => {
      const first = await openStandIn({ kind, model, slots: before })
      const engine = await openPool([first])
      const [replica] = engine.replicas
      ok(replica !== undefined)
      equal(replica.load.runningMax, before)
      await first.close()
      await until(() => replica.health.state === 'ejected', 'It is believed to be there.')
      const port = Number(new URL(first.address).port)
      const again = await openStandIn({ kind, model, slots: now, windowTokens: 1_024, port })
      await until(() => replica.health.state === 'up', 'It does not come back.', 60_000)
      deepEqual([replica.load.runningMax, engine.status().windowTokens], [now, 1_024])
      again.asked.length = 0
      again.tokenMs = 10
      await Promise.all(Array.from({ length: 8 }, (_, number) => ask(engine, number)))
      const slots = Array.from({ length: now }, (_, slot) => slot)
      for (const { id_slot: slot } of again.asked) ok(slots.includes(Number(slot)), `There is no slot ${String(slot)}.`)
      await engine.close()
      await again.close()
    })
  }

  it('believes none away that has closed the connections which were kept open to it', async () => {
    const used = new WeakSet<Socket>()
    const server = createServer(({ socket }, response) => {
      if (used.has(socket)) return void socket.destroy()
      used.add(socket)
      setTimeout(() => response.setHeader('content-type', 'application/json').end('{}'), 50)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const client = new ReplicaClient({ address, key: null, paths: ['/health'], clock: systemClock })
    const ask = () => client.ask({ method: 'GET', path: '/health' }, 60_000)
    await Promise.all([ask(), ask(), ask()])
    deepEqual(await ask(), {})
    client.close()
    server.close()
  })

  it('forgets what one held whose program was started anew between two looks after it', async () => {
    const member = await openStandIn({ kind, model })
    const engine = await openPool([member])
    const [replica] = engine.replicas
    ok(replica !== undefined)
    const text = 'Some words that are said again in each of these prompts. '.repeat(12)
    const messages = [{ role: 'user', content: [{ kind: 'text', text }] }] as const
    const reuses = async () => {
      await run(engine, { messages, outputTokensMax: 2 })
      return member.asked.at(-1)?.['cache_prompt']
    }
    deepEqual([await reuses(), await reuses()], [false, true])
    const { run: former } = member
    member.run = 'another'
    await until(() => replica.load.index.size === 0, 'It is believed to hold something.', 60_000)
    await until(() => engine.status().state === 'ready', 'It does not come back.', 60_000)
    deepEqual([await reuses(), await reuses(), replica.health.state], [false, true, 'up'])
    // One that answers again was not started anew: there are two behind one address.
    member.run = former
    const looks = () => member.paths.filter((path) => path === '/props').length
    const before = looks()
    await until(() => looks() >= before + 3, 'Nobody looks.', 60_000)
    deepEqual([await reuses(), replica.health.state], [true, 'up'])
    await engine.close()
    await member.close()
  })

  it('loses no request that has no output when one of three is killed under load', async () => {
    const members = [
      await openStandIn({ kind, model }),
      await openStandIn({ kind, model }),
      await openStandIn({ kind, model }),
    ]
    // In a tenth of its time even a replica that is well is late on a machine with much to do.
    const engine = await openPool(members, { retries: 3, clock: systemClock })
    const expected = (await run(engine)).blocks
    const answers = Array.from({ length: 60 }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * 5))
      return run(engine)
    })
    setTimeout(() => void members[0]?.close(), 100)
    for (const answer of await Promise.all(answers)) deepEqual(answer.blocks, expected)
    equal(engine.replicas.find(({ id }) => id === members[0]?.address)?.health.state, 'ejected')
    await engine.close()
    await Promise.all(members.slice(1).map((member) => member.close()))
  })

  it('writes an answer under a grammar once, however much of it was there when its replica was lost', async () => {
    const members = [await openStandIn({ kind, model }), await openStandIn({ kind, model })]
    const engine = await openPool(members)
    const names = [...'abcdefgh']
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'integer' }]))
    const schema = { type: 'object', properties, required: names, additionalProperties: false }
    const asked: Partial<EngineRequest> = {
      output: { kind: 'json', schema, schemaPath: [], isStrict: true },
      outputTokensMax: 60,
    }
    const whole = await run(engine, asked)
    ok(whole.reason.kind === 'end' && whole.usage.output > 50)
    const faults: StandInFault[] = [2_200, 5_000, 7_000].map((bytes) => ({ kind: 'cut', bytes }))
    for (const fault of [...faults, { kind: 'cut-before-end' } as const]) {
      const met = failInTurn(members, fault)
      const answer = await run(engine, asked)
      deepEqual([answer.blocks, answer.reason, answer.usage.output], [whole.blocks, whole.reason, whole.usage.output])
      deepEqual([met.length, new Set(met).size], [2, 2])
      await until(() => engine.replicas.every(({ health }) => health.state === 'up'), 'It does not come back.', 60_000)
    }
    await engine.close()
    await Promise.all(members.map((member) => member.close()))
  })

  it('gives out no answer under a grammar as whole that ended, when it was written anew, before what its client has', async () => {
    const members = [await openStandIn({ kind, model }), await openStandIn({ kind, model })]
    const engine = await openPool(members)
    const schema = { type: 'array', items: { type: 'integer' }, minItems: 20 }
    const asked: Partial<EngineRequest> = {
      output: { kind: 'json', schema, schemaPath: [], isStrict: true },
      outputTokensMax: 60,
    }
    await run(engine, asked)
    const met = failInTurn(members, { kind: 'cut', bytes: 5_000 }, { kind: 'end-early', tokens: 3 })
    await rejects(run(engine, asked), isError('engine-failed'))
    deepEqual([met.length, new Set(met).size], [2, 2])
    equal(engine.replicas.find(({ id }) => id === met[1]?.address)?.health.state, 'up')
    await engine.close()
    await Promise.all(members.map((member) => member.close()))
  })

  for (const each of replicaKinds) {
    it(`bills nothing as cached of a prompt that ${each} computes anew for an answer which begins with a call`, async () => {
      const member = await openStandIn({ kind: each, model })
      const engine = await openPool([{ address: member.address, kind: each }])
      const [callToken = -1] = model.tokenize('<tool_call>')
      const properties = { a: { type: 'integer' } }
      const parameters = { type: 'object', properties, required: ['a'], additionalProperties: false }
      const { blocks, usage } = await run(engine, {
        tools: [{ name: 'f', description: '', parameters, isStrict: true, schemaPath: ['tools', 0], input: 'json' }],
        sampling: { ...greedy, logitBias: [[callToken, 100]] },
        outputTokensMax: 100,
      })
      deepEqual([blocks[0]?.kind, usage.inputCacheRead], ['tool-call', 0])
      await engine.close()
      await member.close()
    })
  }

  it('waits for an answer with log-probabilities, which comes as a whole, as long as its tokens take', async () => {
    const members = [await openStandIn({ kind, model }), await openStandIn({ kind, model })]
    const engine = await openPool(members)
    const { usage } = await run(engine)
    // Twelve seconds of the fast clock altogether, of which the prompt accounts for no more than five.
    for (const member of members) member.tokenMs = 1_200 / usage.output
    const before = members.flatMap(({ asked }) => asked).length
    equal((await run(engine, { logprobsTop: 1 })).usage.output, usage.output)
    equal(members.flatMap(({ asked }) => asked).length, before + 1)
    await engine.close()
    await Promise.all(members.map((member) => member.close()))
  })

  it('does not take the time of a whole answer with log-probabilities for that of its prompt', async () => {
    const member = await openStandIn({ kind, model })
    const engine = await openPool([member])
    const [replica] = engine.replicas
    const prompt = (word: string) =>
      [{ role: 'user', content: [{ kind: 'text', text: `${word} `.repeat(300) }] }] as const
    await run(engine, { messages: prompt('word'), logprobsTop: 1, outputTokensMax: 2 })
    deepEqual([replica?.load.tokensPerSecond, replica?.load.hitRate], [null, 0])
    await run(engine, { messages: prompt('other'), outputTokensMax: 2 })
    ok((replica?.load.tokensPerSecond ?? 0) > 0)
    await engine.close()
    await member.close()
  })

  it('does not take the time of a grammar that a replica reads for the first time for that of its prompt', async () => {
    const member = await openStandIn({ kind, model })
    const engine = await openPool([member])
    const output = { kind: 'json', schema: { enum: ['masked'] }, schemaPath: [], isStrict: true } as const
    const paceAfter = async (word: string) => {
      const messages = [{ role: 'user', content: [{ kind: 'text', text: `${word} `.repeat(300) }] }] as const
      await run(engine, { messages, output, outputTokensMax: 2 })
      return engine.replicas[0]?.load.tokensPerSecond ?? null
    }
    equal(await paceAfter('word'), null)
    ok((await paceAfter('other')) !== null)
    await engine.close()
    await member.close()
  })

  it('waits for a slow replica where no other one can be asked instead', async () => {
    const slow = await openStandIn({ kind, model })
    const alone = await openPool([slow])
    const tokens = await countTokens(alone, engineRequest({ sampling: greedy }), never)
    slow.promptTokenMs = 1_200 / tokens
    await run(alone)
    equal(alone.replicas[0]?.health.state, 'up')
    await alone.close()
    await slow.close()
  })

  it('waits for a grammar that takes an engine longer to read than a prompt', async () => {
    const members = await Promise.all([0, 1].map(() => openStandIn({ kind: 'sglang', model })))
    const engine = await openPool(members.map(({ address }) => ({ address, kind: 'sglang' })))
    // So that the pace of each is known.
    for (let time = 0; time < 6; time++) await run(engine, { outputTokensMax: 1 })
    const asked = () => members.reduce((sum, member) => sum + member.asked.length, 0)
    const before = asked()
    for (const member of members) member.grammarMs = 500
    const schema = { enum: Array.from({ length: 40 }, (_, number) => `${'word '.repeat(100)}${number}`) }
    const output = { kind: 'json', schema, schemaPath: [], isStrict: true } as const
    await run(engine, { output, outputTokensMax: 4 })
    equal(asked(), before + 1)
    await engine.close()
    await Promise.all(members.map((member) => member.close()))
  })

  it('waits for a long prompt as long as it takes, though the replica tells that it is at work on it', async () => {
    const slow = await openStandIn({ kind, model })
    const alone = await openPool([slow])
    const messages = [{ role: 'user', content: [{ kind: 'text', text: 'word '.repeat(500) }] }] as const
    const tokens = await countTokens(alone, engineRequest({ messages }), never)
    // Forty seconds of the fast clock, where thirty are the most between two tokens.
    slow.promptTokenMs = 4_000 / tokens
    equal((await run(alone, { messages, outputTokensMax: 2 })).usage.output, 2)
    await alone.close()
    await slow.close()
  })

  it('proves a replica once, whoever asks meanwhile', async () => {
    const member = await openStandIn({ kind, model })
    const engine = await openPool([member])
    const [replica] = engine.replicas
    await replica?.prove()
    // A look at a replica, which comes every second, cuts no text into tokens.
    const asked = () => member.paths.filter((path) => path === '/tokenize').length
    const before = asked()
    await replica?.prove()
    const perProof = asked() - before
    await Promise.all([replica?.prove(), replica?.prove(), replica?.prove()])
    ok(perProof > 0)
    equal(asked(), before + perProof * 2)
    await engine.close()
    await member.close()
  })

  /** Two members and their pool: the one that such requests are given to, where something is to go wrong, and the other one. */
  const openTwo = async () => {
    const members = [await openStandIn({ kind, model }), await openStandIn({ kind, model })]
    const engine = await openPool(members)
    const before = members.map(({ asked }) => asked.length)
    await ask(engine, 0)
    const broken = members.find(({ asked }, at) => asked.length > (before[at] ?? 0))
    const sound = members.find((member) => member !== broken)
    const replica = engine.replicas.find(({ id }) => id === broken?.address)
    ok(broken !== undefined && sound !== undefined && replica !== undefined)
    const close = async () => {
      await engine.close()
      await Promise.all(members.map((member) => member.close()))
    }
    return { broken, sound, engine, replica, close }
  }

  it('gives nothing more to one that answers 401, 403, 404 or 405 to all, until it is proved again, and loses no request by it', async () => {
    const { broken, engine, replica, close } = await openTwo()
    for (const status of [401, 403, 404, 405]) {
      broken.fault = { kind: 'status', status }
      let asked = 0
      await until(async () => {
        await ask(engine, asked++)
        return replica.health.state === 'refused'
      }, `It is believed in, although it answers ${status}.`)
      equal(replica.health.reason, `It answered ${status} to /completion.`)
      broken.fault = null
      await until(() => replica.health.state === 'up', 'It does not come back.', 60_000)
    }
    await close()
  })

  it('is down where all of them let nobody in, and says to clients what it says without any', async () => {
    const { broken, sound, engine, close } = await openTwo()
    for (const member of [broken, sound]) member.fault = { kind: 'status', status: 401 }
    await until(async () => {
      await rejects(run(engine), (error) => {
        ok(error instanceof ApiError && error.reason.code === 'overloaded', String(error))
        equal(error.message, 'The model is not available. Please try again shortly.')
        return true
      })
      return engine.status().state === 'down'
    }, 'The pool is not down.')
    await close()
  })

  it('stays with one that denies what a client has asked for and nothing else', async () => {
    const { broken, sound, engine, close } = await openTwo()
    for (const member of [broken, sound]) member.fault = { kind: 'status', status: 403, outputTokensLeast: 20 }
    const proofs = () => broken.paths.filter((path) => path === '/props').length
    const before = proofs()
    await until(async () => {
      await rejects(ask(engine, proofs(), { outputTokensMax: 20 }), ApiError)
      return proofs() > before
    }, 'It is not proved anew.')
    await Promise.all(engine.replicas.map((one) => one.prove()))
    deepEqual(
      engine.replicas.map(({ health }) => health.state),
      ['up', 'up'],
    )
    await ask(engine, 0)
    await close()
  })

  it('finds out by itself that there is another program at an address', async () => {
    const { broken, engine, replica, close } = await openTwo()
    const looks = () => broken.paths.filter((path) => path === '/health').length
    const before = looks()
    await until(() => looks() > before + 1, 'It is not looked after.')
    broken.fault = { kind: 'status', status: 404 }
    broken.healthStatus = 404
    await until(() => replica.health.state === 'refused', 'It is believed to be what it was.')
    equal(engine.status().state, 'ready')
    await close()
  })

  it('gives nothing to one that says that it is not well, until it says that it is', async () => {
    const { broken, engine, replica, close } = await openTwo()
    broken.healthStatus = 503
    await until(() => replica.health.state === 'ejected', 'It is believed to be well.')
    equal(replica.health.reason, 'It says that it is not well. It answered 503 to /health.')
    const before = broken.asked.length
    for (let number = 0; number < 20; number++) await ask(engine, number)
    equal(broken.asked.length, before)
    broken.healthStatus = 200
    await until(() => replica.health.state === 'up', 'It does not come back.', 60_000)
    await close()
  })

  it('asks no replica for the rest of an answer once the pool is closed', async () => {
    const members = [await openStandIn({ kind, model }), await openStandIn({ kind, model })]
    const engine = await openPool(members)
    for (const member of members) member.tokenMs = 50
    const asked = () => members.flatMap((member) => member.asked).length
    const before = asked()
    await rejects(async () => {
      for await (const { type } of runAlone(engine, engineRequest({ sampling: greedy }), never))
        if (type === 'delta') await engine.close()
    }, ApiError)
    equal(asked(), before + 1)
    await Promise.all(members.map((member) => member.close()))
  })

  it('is not taken for what its model writes: an answer that is no text fails alone', async () => {
    const member = await openStandIn({ kind: 'sglang', model })
    const engine = await openPool([{ address: member.address, kind: 'sglang' }])
    const output = { kind: 'json', schema: { type: 'string' }, schemaPath: [], isStrict: true } as const
    member.fault = { kind: 'garble' }
    for (let time = 0; time < 4; time++) {
      await rejects(run(engine, { output }), isError('engine-failed'))
      equal(engine.replicas[0]?.health.state, 'up')
    }
    member.fault = null
    await run(engine)
    await engine.close()
    await member.close()
  })
})
