import { countTokens } from '../../../src/core/engine.ts'
import { deepEqual, equal, ok } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { EngineRequest, Message, Thinking, Usage } from '../../../src/core/generation.ts'
import { loadNative } from '../../../src/engines/llama/child/native.ts'
import type { LlamaEngine } from '../../../src/engines/llama/llama-engine.ts'
import { queueEngine } from '../../harness/engines/queued-engine.ts'
import { engineFields } from '../../campaigns/bodies/conversation-bodies.ts'
import { createRandom } from '../../campaigns/random.ts'
import { randomConversation } from '../../campaigns/bodies/random-conversations.ts'
import { askEngine, longPrompt, longText, owner, user } from '../../harness/engines/ask-engine.ts'
import { openLlama } from '../../harness/engines/open-llama.ts'
import { placeholderPath } from '../../harness/engines/placeholder-path.ts'
import { engineRequest, withSeed } from '../../harness/requests.ts'

const never = new AbortController().signal

/** With room for everything. Each test asks for organizations of its own. */
let engine: LlamaEngine
/** The tokens at the end of a prompt that do not stand before the same turn once it is history. */
let openings: { readonly off: number; readonly on: number }
/** The tokens behind the last turn of a prompt without thinking. */
let endOfPrompt: number

before(async () => {
  engine = openLlama({ cacheBytesMax: 1_000_000_000 })
  const loading = { gpu: 'off', slots: 1, windowTokensMax: 512, threads: 1, batchTokens: 32 } as const
  const rest = { isReproducible: false, draftTokensMax: 0, cacheBytesMax: 0, cacheOnDisk: null }
  const { vocabulary } = await loadNative({ weightsPath: placeholderPath, ...loading, ...rest })
  const count = (markup: string) => vocabulary.tokenize(markup, true).length
  endOfPrompt = count('<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n')
  openings = { off: count('<think>\n\n</think>\n\n'), on: count('<think>\n') }
})
after(() => engine.close())

const inputsOf = ({ inputUncached, inputCacheWrite, inputCacheRead }: Usage) => [
  inputUncached,
  inputCacheWrite,
  inputCacheRead,
]

const thinkings: Readonly<Record<'off' | 'on', Thinking>> = { off: { kind: 'off' }, on: { kind: 'on', tokensMax: 8 } }

for (const thinking of ['off', 'on'] as const) {
  test(`a conversation of 20 turns computes the answer before and what is new, with thinking ${thinking}`, async () => {
    const organization = owner(`org_thinking_${thinking}`)
    const messages: Message[] = [{ role: 'system', content: [{ kind: 'text', text: longText(0) }] }]
    let known = 0
    for (let turn = 1; turn <= 20; turn += 1) {
      messages.push(user(`Question ${turn}: what of the ${turn} things that I told you about?`))
      const answer = await askEngine(engine, { messages, thinking: thinkings[thinking], ...organization })
      const { usage, cache, input } = answer
      deepEqual(inputsOf(usage), [input - known, 0, known], `turn ${turn}`)
      deepEqual([cache.source, cache.reusedTokens], [turn === 1 ? 'none' : 'slot', known])
      // History is told without the thinking before it, so it is the last answer that differs.
      equal(cache.differs?.in, turn === 1 ? undefined : `assistant message ${2 * turn - 1}, block 1`)
      known = input - openings[thinking]
      const text = answer.blocks.find(({ kind }) => kind === 'text')?.text.trim() ?? ''
      messages.push({ role: 'assistant', content: [{ kind: 'text', text: text === '' ? 'Nothing.' : text }] })
    }
  })
}

test('two organizations share nothing, and the keys of one share all', async () => {
  const first = await askEngine(engine, { ...longPrompt(1), ...owner('org_a') })
  const other = await askEngine(engine, { ...longPrompt(1), ...owner('org_b') })
  for (const { usage, cache, input } of [first, other]) {
    deepEqual(inputsOf(usage), [input, 0, 0])
    deepEqual(cache, { source: 'none', reusedTokens: 0, differs: null })
  }
  const again = { ...longPrompt(1), owner: { organizationId: 'org_a', apiKeyId: 'key_other' } }
  const { usage, input } = await askEngine(engine, again)
  // The last token is always computed: what comes next is read from it.
  deepEqual(inputsOf(usage), [1, 0, input - 1])
  ok(usage.inputCacheRead / input >= 0.99)
})

test('an answer is the same whether its prompt was held, held in part, or not', async () => {
  for (let number = 0; number < 12; number += 1) {
    const asked = { ...longPrompt(number, 20 * number), outputTokensMax: 60 }
    const cold = await askEngine(engine, { ...asked, ...owner(`org_cold_${number}`) })
    await askEngine(engine, { messages: [user(longText(number, 20 * number).slice(0, -5))], ...owner('org_warm') })
    const partly = await askEngine(engine, { ...asked, ...owner('org_warm') })
    const warm = await askEngine(engine, { ...asked, ...owner('org_warm') })
    equal(cold.cache.reusedTokens, 0)
    ok(partly.cache.reusedTokens > 5 && partly.cache.reusedTokens < warm.cache.reusedTokens)
    equal(warm.cache.reusedTokens, warm.input - 1)
    deepEqual([partly.blocks, warm.blocks], [cold.blocks, cold.blocks], `prompt ${number}`)
  }
})

describe('a breakpoint', () => {
  const marked = (text: string) => ({ kind: 'text', text, cacheBreakpoint: { lifetime: '5m' } }) as const
  const count = (messages: EngineRequest['messages']) => countTokens(engine, engineRequest({ messages }), never)
  const ask = (messages: readonly Message[]) => askEngine(engine, { messages, ...owner('org_marks') })

  test('is written once and then read', async () => {
    const system: Message = { role: 'system', content: [marked(longText(1))] }
    // What a prompt gains by the system's turn, of which only the closing markup stands behind the breakpoint.
    const systemTurn = (await count([system, user('a')])) - (await count([user('a')]))
    const first = await ask([system, user('What?')])
    const { inputCacheWrite: written } = first.usage
    ok(written < systemTurn && written >= systemTurn - 3, `${written} of ${systemTurn}`)
    deepEqual(inputsOf(first.usage), [first.input - written, written, 0])

    const second = await ask([system, user('Then when?')])
    deepEqual(inputsOf(second.usage), [second.input - second.cache.reusedTokens, 0, second.cache.reusedTokens])
    ok(second.cache.reusedTokens >= systemTurn)

    const longer: Message[] = [system, { role: 'user', content: [marked('Then when?'), marked(longText(2))] }]
    const third = await ask(longer)
    const read = third.cache.reusedTokens
    ok(read >= systemTurn)
    // Only the markup behind the last breakpoint is neither read nor written.
    deepEqual(inputsOf(third.usage), [endOfPrompt, third.input - endOfPrompt - read, read])
    deepEqual(inputsOf((await ask(longer)).usage), [1, 0, third.input - 1])
  })

  test('on a tool keeps its parameters too', async () => {
    const parameters = { type: 'object', properties: { place: { type: 'string', description: longText(3) } } }
    const tool = {
      name: 'look',
      description: 'Looks.',
      parameters,
      isStrict: false,
      schemaPath: [],
      input: 'json',
    } as const
    const tools = [{ ...tool, cacheBreakpoint: { lifetime: '1h' } as const }]
    const { usage } = await askEngine(engine, { tools, messages: [user('What?')], ...owner('org_tools') })
    ok(usage.inputCacheWrite > 250, `${usage.inputCacheWrite} of ${usage.inputUncached} more`)
  })
})

test('several answers to one request read what the first has computed', async (t) => {
  const own = openLlama({ slots: 1 })
  t.after(() => own.close())
  const request = engineRequest({ ...longPrompt(1), sampling: withSeed(1, 0), outputTokensMax: 12 })
  const counted = await countTokens(own, request, never)
  const events = await Array.fromAsync(queueEngine(own).generateSeveral(request, 3, never))
  const starts = events.flatMap((event) => (event.type === 'start' ? [inputsOf(event.usage)] : []))
  deepEqual(starts, [
    [counted, 0, 0],
    [1, 0, counted - 1],
    [1, 0, counted - 1],
  ])
})

test('a count is the sum of what is computed, written and read, whatever is asked', async () => {
  const thoughts = [{ text: 'I thought about it, größer 日本.', signature: '' }]
  const sums = { read: 0, written: 0 }
  for (let number = 0; number < 20; number += 1) {
    const fields = { ...engineFields(randomConversation(createRandom(11, number), thoughts)), outputTokensMax: 2 }
    const counted = await countTokens(engine, engineRequest(fields), never)
    const { input, usage } = await askEngine(engine, { ...fields, ...owner('org_counts') })
    equal(input, counted, `conversation ${number}`)
    const again = await askEngine(engine, { ...fields, ...owner('org_counts') })
    deepEqual(inputsOf(again.usage), [1, 0, counted - 1], `conversation ${number}`)
    sums.read += usage.inputCacheRead
    sums.written += usage.inputCacheWrite
  }
  ok(sums.read > 0 && sums.written > 0)
})
