// Pools of servers that take messages: what is handed on of what they say, and what is not.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkStream } from '../../../src/core/check-stream.ts'
import { collect } from '../../../src/core/collect.ts'
import { countTokens, runAlone } from '../../../src/core/engine.ts'
import { ApiError } from '../../../src/core/error.ts'
import {
  GenerationAborted,
  inputTokens,
  type EngineRequest,
  type GenerationEvent,
  type Tool,
} from '../../../src/core/generation.ts'
import { reportedKinds } from '../../../src/engines/remote/dialect.ts'
import type { ReportedEngine } from '../../../src/models/fleet/pools/reported-engine.ts'
import { openMessageStandIn, type MessageFault, type MessageStandIn } from '../../harness/engines/message-stand-in.ts'
import { openReportedPool } from '../../harness/engines/open-pool.ts'
import { engineRequest } from '../../harness/requests.ts'
import { until } from '../../harness/start-service.ts'

const never = new AbortController().signal
const isError = (code: string) => (error: unknown) => error instanceof ApiError && error.code === code

const tool: Tool = {
  name: 'get_weather',
  description: 'Weather of a place',
  parameters: {
    type: 'object',
    properties: { place: { type: 'string', maxLength: 12 }, days: { type: 'integer', minimum: 1, maximum: 9 } },
    required: ['place', 'days'],
    additionalProperties: false,
  },
  isStrict: false,
  schemaPath: ['tools', 0],
  input: 'json',
}
const good = { name: 'get_weather', arguments: '{"place":"Paris","days":2}' }
const forced = { kind: 'required', parallel: true, allowed: null } as const
const json: EngineRequest['output'] = {
  kind: 'json',
  schema: { type: 'object', properties: { city: { type: 'string', maxLength: 9 } }, required: ['city'] },
  schemaPath: ['response_format'],
  isStrict: true,
}

for (const kind of reportedKinds) {
  describe(`a pool of two servers that take messages (${kind})`, () => {
    let members: MessageStandIn[]
    let engine: ReportedEngine
    before(async () => {
      members = [await openMessageStandIn(kind), await openMessageStandIn(kind)]
      engine = await openReportedPool(members.map(({ address }) => ({ address, kind })))
    })
    after(async () => {
      await engine.close()
      await Promise.all(members.map((member) => member.close()))
    })
    afterEach(async () => {
      for (const member of members) Object.assign(member, { fault: null, recordMs: 0, sendsDone: true, script: plain })
      await Promise.all(
        engine.replicas.map((one) => until(() => one.health.state === 'up', 'One does not come back.', 60_000)),
      )
    })

    const plain: MessageStandIn['script'] = () => ({ text: ['Hello', ' there', '.'] })
    const script = (answer: MessageStandIn['script']) => {
      for (const member of members) member.script = answer
    }
    const asked = () => members.flatMap((member) => member.asked)
    const run = (changes: Partial<EngineRequest> = {}) =>
      collect(checkStream(runAlone(engine, engineRequest(changes), never)))
    const fails = async (changes: Partial<EngineRequest>, code = 'engine-failed') => {
      await rejects(run(changes), (error) => {
        ok(error instanceof ApiError && error.code === code, String(error))
        ok(!/canary|127\.0\.0\.1|ollama/iu.test(JSON.stringify([error.message, error.reason])), error.message)
        return true
      })
    }

    it('answers with the text, the end and the counts of the server', async () => {
      const { blocks, reason, usage } = await run()
      deepEqual(
        blocks.map(({ kind: block, text }) => [block, text]),
        [['text', 'Hello there.']],
      )
      equal(reason.kind, 'end')
      deepEqual([inputTokens(usage), usage.output], [16, 3])
      equal(usage.inputCacheRead, kind === 'ollama' ? 0 : 4)
    })

    it('hands on no more than its limits have given so far, goes on when they give more, and ends where that was all', async () => {
      script(() => ({ text: Array.from({ length: 20 }, (_, number) => ` word${number}`) }))
      const prepared = engine.prepare(engineRequest(), never)
      const made: GenerationEvent[] = []
      let asked = 0
      const onNearlyUsed = () => void (asked += 1)
      const events = prepared.run({ outputTokensMax: 400, firstOutputTokens: 4, onNearlyUsed })
      const reading = (async () => {
        for await (const event of events) made.push(event)
      })()
      for (const allowed of [4, 8]) {
        await until(() => asked === allowed / 4, 'It does not ask for more.')
        // One that did not wait would have handed on more by then.
        await sleep(100)
        const delivered = made.filter(({ type }) => type === 'delta').length
        ok(delivered <= allowed, `${delivered} of ${allowed}`)
        prepared.allow(allowed + 4, allowed === 8)
      }
      await reading
      const finish = made.at(-1)
      ok(finish?.type === 'finish')
      deepEqual([finish.reason.kind, finish.usage.output], ['length', 12])
    })

    it('says that its counts are the servers’, and of an answer that was left that they are bounds', async () => {
      equal(engine.status().hasReportedCounts, true)
      const prepared = engine.prepare(engineRequest(), never)
      equal(prepared.countSource, 'estimated')
      await collect(prepared.run({ outputTokensMax: 100 }))
      equal(prepared.countSource, 'reported')
      for (const member of members) member.recordMs = 20
      const controller = new AbortController()
      const left = engine.prepare(engineRequest(), controller.signal)
      await rejects(
        async () => {
          for await (const event of left.run({ outputTokensMax: 100 })) if (event.type === 'delta') controller.abort()
        },
        (error) => error instanceof GenerationAborted && error.usage.output >= 1 && inputTokens(error.usage) >= 1,
      )
      equal(left.countSource, 'estimated')
      await until(() => members.every(({ running }) => running === 0), 'A server still works on it.', 5_000)
    })

    it('counts a prompt by its bytes, without asking a server', async () => {
      const before = asked().length
      const counted = await countTokens(engine, engineRequest(), never)
      ok(counted > 20 && counted < 200, String(counted))
      equal(asked().length, before)
    })

    it('hands thinking on in a block of its own, and none where it is off', async () => {
      script(() => ({ thinking: ['Let me', ' see.'], text: ['Yes.'] }))
      const on = await run({ thinking: { kind: 'on', tokensMax: null } })
      deepEqual(
        on.blocks.map(({ kind: block, text }) => [block, text]),
        [
          ['thinking', 'Let me see.'],
          ['text', 'Yes.'],
        ],
      )
      equal(on.usage.outputThinking, 2)
      deepEqual(
        (await run()).blocks.map(({ text }) => text),
        ['Yes.'],
      )
      script(() => ({ text: ['<thi', 'nk>Hm', 'm</think>', '\n\nNo.'] }))
      deepEqual(
        (await run({ thinking: { kind: 'on', tokensMax: null } })).blocks.map(({ text }) => text),
        ['Hmm', 'No.'],
      )
    })

    it('ends before a stop sequence and names it, wherever the pieces part it', async () => {
      script(() => ({ text: ['one tw', 'o thr', 'ee four'] }))
      const { blocks, reason } = await run({ stopSequences: [' three'] })
      deepEqual([blocks[0]?.text, reason], ['one two', { kind: 'stop-sequence', sequence: ' three' }])
    })

    it('tells apart whether the limit or the window ended an answer', async () => {
      script(() => ({ text: ['a', 'b', 'c'], reason: 'length' }))
      equal((await run({ outputTokensMax: 3 })).reason.kind, 'length')
      equal((await run({ outputTokensMax: 400 })).reason.kind, 'window')
      const { blocks, reason, usage } = await run({ outputTokensMax: 0 })
      deepEqual([blocks, reason.kind, usage.output], [[], 'length', 0])
    })

    it('ends an answer at its limit, and bills no more, where the server goes on behind that', async () => {
      const words = Array.from({ length: 40 }, (_, index) => `${index} `)
      for (const usage of [{}, { output: 5 }, null]) {
        script(() => ({ text: words, reason: 'stop', usage }))
        const { blocks, reason, usage: billed } = await run({ outputTokensMax: 5 })
        deepEqual([blocks[0]?.text, reason.kind, billed.output], ['0 1 2 3 4 ', 'length', 5])
      }
      ok(engine.replicas.every(({ health }) => health.state === 'up'))
    })

    it('cuts nothing of an answer with a token that comes as two pieces', async () => {
      script(() => ({ thinking: ['Let me', ' see.'], text: ['Yes', '.'], reason: 'length', usage: { output: 3 } }))
      const { blocks, reason, usage } = await run({ outputTokensMax: 3, thinking: { kind: 'on', tokensMax: null } })
      deepEqual(
        blocks.map(({ text }) => text),
        ['Let me see.', 'Yes.'],
      )
      deepEqual([reason.kind, usage.output], ['length', 3])
    })

    it('hands on calls whose arguments keep the schema, with an id of its own', async () => {
      script(() => ({ calls: [good] }))
      const { blocks, reason } = await run({ tools: [tool] })
      const [call] = blocks
      ok(call?.kind === 'tool-call' && call.name === 'get_weather' && /^call_\w{24}$/u.test(call.id))
      deepEqual(JSON.parse(call.text), { place: 'Paris', days: 2 })
      equal(reason.kind, 'tool-calls')
    })

    const bad: readonly (readonly [string, string])[] = [
      ['too many days', '{"place":"Paris","days":12}'],
      ['a lacking argument', '{"place":"Paris"}'],
      ['one that is not known', '{"place":"Paris","days":2,"unit":"C"}'],
      ...(kind === 'ollama'
        ? []
        : ([
            ['a string', '"gaben"'],
            ['no JSON', '{"place":"Par'],
          ] as const)),
    ]
    for (const [name, text] of bad) {
      it(`asks once more, by the schema, where a call has ${name}`, async () => {
        let times = 0
        script((body) => {
          times += 1
          if (times === 1) return { text: ['Well. '], calls: [{ name: 'get_weather', arguments: text }] }
          const format = kind === 'ollama' ? body['format'] : body['response_format']
          ok(JSON.stringify(format).includes('"maximum":9'), JSON.stringify(body))
          return { text: ['{"place":"Rome",', '"days":3}'] }
        })
        const { blocks, reason } = await run({ tools: [tool] })
        deepEqual(
          blocks.map((block) => [block.kind, block.text]),
          [
            ['text', 'Well. '],
            ['tool-call', '{"place":"Rome","days":3}'],
          ],
        )
        deepEqual([reason.kind, times], ['tool-calls', 2])
      })
    }

    it('keeps the calls that are good where one of several is not', async () => {
      let times = 0
      script(() => {
        times += 1
        if (times > 1) return { text: ['{"place":"Rome","days":3}'] }
        return { calls: [good, { name: 'get_weather', arguments: '{}' }, good] }
      })
      const { blocks } = await run({ tools: [tool] })
      deepEqual(
        blocks.map(({ text }) => (JSON.parse(text) as { place: string }).place),
        ['Paris', 'Rome', 'Paris'],
      )
    })

    it('asks for a call once more where one was asked for and none came, of several tools by their names', async () => {
      const other: Tool = {
        ...tool,
        name: 'look_up',
        parameters: { $ref: '#/$defs/a', $defs: { a: { type: 'object' } } },
      }
      let times = 0
      script((body) => {
        times += 1
        // Where a tool cannot be forced by a field, the schema is what is asked for first.
        if (times === 1 && kind !== 'ollama') return { text: ['I would rather talk.'] }
        ok(JSON.stringify(body).includes('#/anyOf/1/properties/arguments/$defs/a'), JSON.stringify(body))
        return { text: ['{"name":"look_up","arguments":{"word":"x"}}'] }
      })
      const { blocks, reason } = await run({ tools: [tool, other], toolChoice: forced })
      deepEqual(
        [blocks.length, blocks[0]?.kind, blocks[0]?.text, reason.kind],
        [1, 'tool-call', '{"word":"x"}', 'tool-calls'],
      )
    })

    it('answers with an error where the second try is no better, and hands nothing of either on', async () => {
      let times = 0
      script(() => {
        times += 1
        return times === 1 ? { calls: [{ name: 'get_weather', arguments: '{}' }] } : { text: ['{"place":1}'] }
      })
      const events: GenerationEvent[] = []
      await rejects(async () => {
        for await (const event of runAlone(engine, engineRequest({ tools: [tool] }), never)) events.push(event)
      }, isError('engine-failed'))
      deepEqual([times, events.filter(({ type }) => type !== 'start')], [2, []])
    })

    it('takes neither a call that nobody offered nor one too many', async () => {
      let times = 0
      script(() => {
        times += 1
        return times === 1 ? { calls: [{ name: 'other', arguments: '{}' }] } : { text: ['no'] }
      })
      await fails({ tools: [tool] })
      script(() => ({ calls: [{ name: 'other', arguments: '{}' }] }))
      await fails({})
      script((body) =>
        JSON.stringify(body).includes('Call this function') ? { text: ['nothing'] } : { calls: [good, good] },
      )
      await fails({ tools: [tool], toolChoice: { kind: 'auto', parallel: false, allowed: null } })
    })

    it('hands on JSON that keeps its schema, after a second try where it has to', async () => {
      let times = 0
      script(() => {
        times += 1
        return { text: times === 1 ? ['{"city":', '"much too long"}'] : ['{"city":', '"Paris"}'] }
      })
      const { blocks } = await run({ output: json })
      deepEqual([blocks.length, blocks[0]?.text, times], [1, '{"city":"Paris"}', 2])
      script(() => ({ text: ['Paris, of course.'] }))
      await fails({ output: json })
      await fails({ output: { ...json, schema: null } })
    })

    it('refuses what such a server cannot be asked for', async () => {
      await fails({ continuesFinalMessage: true }, 'invalid-request')
      await fails({ output: { ...json, schema: { anyOf: [] } } }, 'invalid-request')
    })

    const failing: readonly MessageFault[] = [
      { kind: 'status', status: 500 },
      { kind: 'status', status: 503 },
      { kind: 'html' },
      { kind: 'cut', bytes: 3 },
    ]
    for (const fault of failing) {
      it(`answers at the other server where one fails with ${JSON.stringify(fault)}`, async () => {
        const before = members.map((member) => member.asked.length)
        await run()
        const hit = members.findIndex((member, index) => member.asked.length > (before[index] ?? 0))
        members[hit]!.fault = fault
        equal((await run()).blocks[0]?.text, 'Hello there.')
      })
    }

    for (const fault of [...failing, { kind: 'error-record' }, { kind: 'cut', bytes: 400 }] as MessageFault[]) {
      it(`never ends an answer well where both fail with ${JSON.stringify(fault)}, and tells nothing of them`, async () => {
        for (const member of members) member.fault = fault
        script(() => ({ text: Array.from({ length: 40 }, (_, index) => `word ${index} `) }))
        await rejects(run(), (error) => {
          ok(error instanceof ApiError)
          ok(!/canary|127\.0\.0\.1|ollama/iu.test(JSON.stringify([error.message, error.reason])), error.message)
          return true
        })
      })
    }

    it('never ends an answer well whose counts are missing or cannot be right', async () => {
      const lies = [null, { output: 401 }, { output: 0 }, { prompt: 0 }, ...(kind === 'ollama' ? [] : [{ cached: 17 }])]
      for (const usage of lies) {
        script(() => ({ text: ['Hello', ' there.'], usage }))
        await fails({}).catch((error: unknown) => {
          throw new Error(`With ${JSON.stringify(usage)}: ${String(error)}`, { cause: error })
        })
        await Promise.all(
          engine.replicas.map((one) => until(() => one.health.state === 'up', 'One does not come back.', 60_000)),
        )
      }
    })

    it('ends well without the [DONE] that some never send', async () => {
      for (const member of members) member.sendsDone = false
      equal((await run()).reason.kind, 'end')
    })

    it('tells a client which numbers do not fit, in its own words', async () => {
      const message = 'request (9000 tokens) exceeds the available context size (4096 tokens), canary'
      for (const member of members)
        member.fault = { kind: 'status', status: 400, body: JSON.stringify({ error: { message } }) }
      await rejects(run(), (error) => {
        ok(error instanceof ApiError && error.reason.code === 'context-exceeded')
        deepEqual([error.reason.inputTokens, error.reason.windowTokens], [9_000, 4_096])
        return !/canary/u.test(error.message)
      })
      ok(engine.replicas.every(({ health }) => health.state === 'up'))
    })

    it('asks for less where the prompt fits and the answer with it does not', async () => {
      const message =
        'maximum context length of 4096 tokens: 4000 tokens from the input messages and 500 for the completion'
      for (const member of members)
        member.fault = { kind: 'status', status: 400, body: JSON.stringify({ message }), isOnce: true }
      const maxima: unknown[] = []
      script((body) => {
        maxima.push(kind === 'ollama' ? (body['options'] as { num_predict: number }).num_predict : body['max_tokens'])
        for (const member of members) member.fault = null
        return { text: ['a'] }
      })
      // The second try may meet the other server, which refuses as well.
      const answer = await run({ outputTokensMax: 500 }).catch((error: unknown) => error)
      if (answer instanceof Error) ok(isError('context-exceeded')(answer), String(answer))
      else deepEqual(maxima, [96])
    })

    it('says nothing of a server anywhere, and asks for its dialect’s paths alone', async () => {
      script(() => ({ thinking: ['Hm.'], text: ['Hello.'], calls: [good] }))
      const events: GenerationEvent[] = []
      const request = engineRequest({ tools: [tool], thinking: { kind: 'on', tokensMax: null } })
      for await (const event of runAlone(engine, request, never)) events.push(event)
      ok(!/canary|chatcmpl/u.test(JSON.stringify(events)), JSON.stringify(events))
      const known = new Set(engine.replicas[0]?.remote.dialect.paths)
      for (const { paths } of members)
        deepEqual(
          [...new Set(paths)].filter((path) => !known.has(path)),
          [],
        )
    })
  })
}

describe('what a server takes is found out', () => {
  it('a field that a server refuses is not sent to it', async () => {
    const server = await openMessageStandIn('chat-completions')
    server.refuses = ['chat_template_kwargs', 'response_format']
    const engine = await openReportedPool([{ address: server.address, kind: 'chat-completions' }])
    server.script = (body) => {
      ok(JSON.stringify(body['messages']).includes('keeps this schema'))
      return { text: ['{"city":"Rome"}'] }
    }
    equal((await collect(runAlone(engine, engineRequest({ output: json }), never))).blocks[0]?.text, '{"city":"Rome"}')
    for (const body of server.asked) ok(!('chat_template_kwargs' in body) && !('response_format' in body))
    await engine.close()
    await server.close()
  })

  it('a model of Ollama without tools has none here', async () => {
    const server = await openMessageStandIn('ollama')
    server.capabilities = ['completion']
    const engine = await openReportedPool([{ address: server.address, kind: 'ollama' }])
    deepEqual([...engine.status().features], ['json-output'])
    equal(engine.status().windowTokens, 4_096)
    await engine.close()
    await server.close()
  })
})
