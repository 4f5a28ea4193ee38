import { runAlone, countTokens, type Engine } from '../../src/core/engine.ts'
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkStream } from '../../src/core/check-stream.ts'
import { collect, type Generation } from '../../src/core/collect.ts'
import { GenerationAborted, inputTokens, type EngineRequest, type GenerationEvent } from '../../src/core/generation.ts'
import { engineRequest, withSeed } from '../harness/requests.ts'
import { until } from '../harness/start-service.ts'

const never = new AbortController().signal

/** What every engine must keep, whatever generates inside it. */
export function describeEngineContract(name: string, open: () => Promise<Engine>): void {
  describe(`engine contract: ${name}`, () => {
    let engine: Engine
    before(async () => {
      engine = await open()
    })
    after(() => engine.close())

    const run = (changes: Partial<EngineRequest> = {}): Promise<Generation> =>
      collect(checkStream(runAlone(engine, engineRequest(changes), never)))
    const idle = () => until(() => engine.status().running === 0, 'The engine still generates.')

    it('answers with a stream that keeps the grammar and counts every token', async () => {
      const events = await Array.fromAsync(checkStream(runAlone(engine, engineRequest(), never)))
      const delivered = events.reduce((sum, event) => sum + (event.type === 'delta' ? event.tokens : 0), 0)
      const finish = events.at(-1)
      assert.equal(finish?.type, 'finish')
      assert.ok(finish.usage.output >= delivered && delivered > 0)
      assert.equal(finish.reason.kind, 'end')
    })

    it('counts a prompt as its generation does', async () => {
      const request = engineRequest()
      const counted = await countTokens(engine, request, never)
      const { usage } = await run()
      assert.equal(usage.inputUncached + usage.inputCacheRead + usage.inputCacheWrite, counted)
    })

    it('gives the same answer for the same seed', async () => {
      const [first, second] = [await run({ sampling: withSeed(7) }), await run({ sampling: withSeed(7) })]
      assert.deepEqual(first.blocks, second.blocks)
    })

    it('puts thinking in a block of its own before the answer, and leaves it out when it is off', async () => {
      // Drawn otherwise, a model that has not learned to think may end in its thoughts.
      const thinking = await run({ thinking: { kind: 'on', tokensMax: null }, sampling: withSeed(7) })
      assert.deepEqual(
        thinking.blocks.map(({ kind }) => kind),
        ['thinking', 'text'],
      )
      assert.ok(thinking.usage.outputThinking > 0 && thinking.usage.outputThinking < thinking.usage.output)
      assert.deepEqual(
        (await run()).blocks.map(({ kind }) => kind),
        ['text'],
      )
    })

    it('stops at the token limit', async () => {
      const { reason, usage } = await run({ outputTokensMax: 3 })
      assert.equal(reason.kind, 'length')
      assert.equal(usage.output, 3)
    })

    it('computes the prompt and generates nothing with a limit of zero', async () => {
      const { blocks, reason, usage } = await run({ outputTokensMax: 0 })
      assert.deepEqual([blocks, reason.kind, usage.output], [[], 'length', 0])
      assert.ok(usage.inputUncached > 0)
    })

    it('ends before a stop sequence and names it', async () => {
      const sampling = withSeed(11)
      const whole = textOf(await run({ sampling }))
      const sequence = whole.slice(Math.floor(whole.length / 2), Math.floor(whole.length / 2) + 3)
      const stopped = await run({ sampling, stopSequences: ['\u0000never', sequence] })
      assert.deepEqual(stopped.reason, { kind: 'stop-sequence', sequence })
      assert.equal(textOf(stopped), whole.slice(0, whole.indexOf(sequence)))
    })

    it('throws the final counts after an abort and is idle again', async () => {
      const controller = new AbortController()
      const endless = engineRequest({ outputTokensMin: 400 })
      let delivered = 0
      await assert.rejects(
        async () => {
          for await (const event of runAlone(engine, endless, controller.signal)) {
            if (event.type === 'delta') delivered += event.tokens
            if (delivered > 0) controller.abort()
          }
        },
        (error) => error instanceof GenerationAborted && error.usage.output >= delivered,
      )
      await idle()
    })

    it('refuses to begin when it is aborted already', async () => {
      await assert.rejects(collect(runAlone(engine, engineRequest(), AbortSignal.abort())), GenerationAborted)
    })

    it('stops when its reader leaves', async () => {
      for await (const event of runAlone(engine, engineRequest(), never)) if (event.type === 'delta') break
      await idle()
    })

    it('prepares at once, computes nothing before it is run, and tells of events that nobody reads', async () => {
      const request = engineRequest({ sampling: withSeed(3) })
      const made: GenerationEvent[] = []
      const prepared = engine.prepare(request, never)
      assert.equal(await prepared.tokens, await countTokens(engine, request, never))
      // Others do not wait for it.
      await run()
      assert.deepEqual([made, engine.status().running], [[], 0])
      const events = prepared.run({ outputTokensMax: 1_000, onEvent: (event) => made.push(event) })
      assert.equal((await events.next()).value?.type, 'start')
      const rest = await Array.fromAsync(events)
      assert.deepEqual(made.slice(1), rest)
    })

    it('runs a short prompt before it is counted, and says then how long it is', async () => {
      const prepared = engine.prepare(engineRequest(), never)
      const { tokensMax: inputTokensMax } = prepared
      assert.ok(inputTokensMax !== null)
      const { usage, reason } = await collect(prepared.run({ outputTokensMax: 2, inputTokensMax }))
      assert.equal(await prepared.tokens, inputTokens(usage))
      assert.ok(inputTokensMax >= inputTokens(usage), `${inputTokensMax}`)
      assert.deepEqual([usage.output, reason.kind], [2, 'length'])
    })

    it('makes no more than its limits have given so far, goes on when they give more, and ends where that was all', async () => {
      const text = Array.from({ length: 40 }, (_, number) => `word${number}`).join(' ')
      const messages = [{ role: 'user', content: [{ kind: 'text', text }] }] as const
      const prepared = engine.prepare(engineRequest({ messages, sampling: withSeed(5) }), never)
      const made: GenerationEvent[] = []
      let asked = 0
      const onNearlyUsed = () => void (asked += 1)
      const events = prepared.run({ outputTokensMax: 400, firstOutputTokens: 2, onNearlyUsed })
      const reading = (async () => {
        for await (const event of events) made.push(event)
      })()
      for (const allowed of [2, 4]) {
        await until(() => asked === allowed / 2, 'It does not ask for more.')
        // One that did not wait would have made more by then.
        await sleep(100)
        const delivered = made.reduce((sum, event) => sum + (event.type === 'delta' ? event.tokens : 0), 0)
        assert.ok(delivered <= allowed, `${delivered} of ${allowed}`)
        prepared.allow(allowed + 2, allowed === 4)
      }
      await reading
      const finish = made.at(-1)
      assert.ok(finish?.type === 'finish')
      assert.deepEqual([finish.reason.kind, finish.usage.output], ['length', 6])
    })

    it('forgets what is cancelled before it is run, and goes on with others', async () => {
      const prepared = engine.prepare(engineRequest(), never)
      await prepared.tokens
      prepared.cancel()
      prepared.cancel()
      await assert.rejects(collect(prepared.run({ outputTokensMax: 10 })), GenerationAborted)
      await run()
    })

    it('stops waiting to be run when it is aborted', async () => {
      const controller = new AbortController()
      const prepared = engine.prepare(engineRequest(), controller.signal)
      await prepared.tokens
      controller.abort()
      await assert.rejects(
        collect(prepared.run({ outputTokensMax: 10, onEvent: () => assert.fail('Something was made.') })),
        (error) => error instanceof GenerationAborted && inputTokens(error.usage) === 0,
      )
      await run()
    })

    it('keeps many answers apart', async () => {
      const seeds = Array.from({ length: 12 }, (_, seed) => seed)
      const alone: Generation[] = []
      for (const seed of seeds) alone.push(await run({ messages: question(seed), sampling: withSeed(seed) }))
      const together = await Promise.all(
        seeds.map((seed) => run({ messages: question(seed), sampling: withSeed(seed) })),
      )
      assert.deepEqual(together.map(textOf), alone.map(textOf))
    })
  })
}

function question(number: number): EngineRequest['messages'] {
  return [{ role: 'user', content: [{ kind: 'text', text: `What about number ${number}, which I like?` }] }]
}

function textOf({ blocks }: Generation): string {
  return blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : [])).join('')
}
