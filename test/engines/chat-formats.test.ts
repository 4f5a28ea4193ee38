import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { checkStream } from '../../src/core/check-stream.ts'
import { collect, type Generation } from '../../src/core/collect.ts'
import { runAlone } from '../../src/core/engine.ts'
import type { EngineRequest, Tool } from '../../src/core/generation.ts'
import { describeFitness } from '../../src/chat-format/fitness-report.ts'
import { loadText } from '../../src/engines/llama/child/native.ts'
import type { GivenNotation } from '../../src/chat-format/tool-format/given-format.ts'
import { type ChatOverrides, createTextTools } from '../../src/engines/text/text-tools.ts'
import type { LlamaEngine } from '../../src/engines/llama/llama-engine.ts'
import { openLlama } from '../harness/engines/open-llama.ts'
import { placeholderPath } from '../harness/engines/placeholder-path.ts'
import { weightsWithTemplate } from '../harness/engines/with-template.ts'
import { engineRequest, withSeed } from '../harness/requests.ts'

// The engine on weights whose template writes calls as few do, and with what an operator overrides.

const never = new AbortController().signal
const engines: LlamaEngine[] = []
after(() => Promise.all(engines.map((engine) => engine.close())))

function open(changes: Parameters<typeof openLlama>[0]): LlamaEngine {
  const engine = openLlama({ slots: 1, ...changes })
  engines.push(engine)
  return engine
}

const run = (engine: LlamaEngine, changes: Partial<EngineRequest>): Promise<Generation> =>
  collect(checkStream(runAlone(engine, engineRequest(changes), never)))

const tool: Tool = {
  name: 'a',
  description: 'Does it.',
  parameters: {
    type: 'object',
    properties: { word: { type: 'string', maxLength: 6 }, count: { type: 'integer', minimum: 1, maximum: 9 } },
    required: ['word', 'count'],
  },
  isStrict: true,
  schemaPath: ['tools', 0],
  input: 'json',
}

function requireCall({ blocks, reason }: Generation): void {
  const call = blocks.at(-1)
  assert.ok(call?.kind === 'tool-call' && call.name === tool.name, JSON.stringify(blocks))
  const { word, count } = JSON.parse(call.text) as { word: unknown; count: unknown }
  assert.ok(typeof word === 'string' && Number.isInteger(count) && Number(count) >= 1 && Number(count) <= 9)
  assert.equal(reason.kind, 'tool-calls')
}

/** The prompt begins each answer with `>>>`, behind which the model writes who it speaks to: everybody or a tool. */
const recipients = `{%- for tool in tools or [] %}{{- tool | tojson ~ '\\n' }}{%- endfor %}
{%- for message in messages %}
{%- if message.role == 'assistant' %}{{- '<|im_start|>assistant\\n' }}
{%- if message.content %}{{- '>>>all\\n' ~ message.content }}{%- endif %}
{%- for call in message.tool_calls or [] %}{{- '>>>' ~ call.function.name ~ '\\n' ~ (call.function.arguments | tojson) }}{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- else %}{{- '<|im_start|>' ~ message.role ~ '\\n' ~ message.content ~ '<|im_end|>\\n' }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n>>>' }}{%- endif %}`

test('a tool that is named as the recipient is called, asked for or of the model’s own accord', async () => {
  const weightsPath = weightsWithTemplate(recipients)
  const engine = open({ weightsPath })
  requireCall(await run(engine, { tools: [tool], toolChoice: { kind: 'required', parallel: false, allowed: null } }))
  assert.ok(!engine.status().features.has('generic-tools'))

  // The placeholder weights call nothing by themselves: they are made to write nothing but the trigger's tokens, in one order or
  // another. In the midst of a text the name of a tool is a word.
  const { vocabulary } = await loadText({ weightsPath })
  const tokens = ['a', '\n', '{'].map((text) => vocabulary.tokenize(text, false)[0] ?? -1)
  const toolChoice = { kind: 'auto', parallel: false, allowed: null } as const
  const answers: Generation[] = []
  for (let attempt = 0; attempt < 64 && !answers.some(({ blocks }) => blocks[0]?.kind === 'tool-call'); attempt++) {
    const steps = [0, attempt % 8, Math.floor(attempt / 8)]
    const logitBias = tokens.map((token, index) => [token, 99 - 3 * (steps[index] ?? 0)] as const)
    const sampling = { ...withSeed(attempt), logitBias, frequencyPenalty: 2, presencePenalty: 2 }
    answers.push(await run(engine, { tools: [tool], toolChoice, sampling, outputTokensMax: 60 }))
  }
  const [called, ...others] = answers.toReversed()
  assert.ok(called !== undefined)
  requireCall(called)
  for (const { blocks } of others) {
    assert.deepEqual(new Set(blocks.map(({ kind }) => kind)), new Set(['text']))
    assert.ok(
      blocks.every(({ text }) => !text.includes('"word"')),
      JSON.stringify(blocks),
    )
  }
})

test('an operator’s word goes before what is derived', async () => {
  const asked = { tools: [tool], toolChoice: { kind: 'required', parallel: false, allowed: null } } as const
  const engine = open({ chat: { tools: 'generic', thinking: 'derived' } })
  requireCall(await run(engine, asked))
  assert.ok(engine.status().features.has('generic-tools'))

  const native = await loadText({ weightsPath: placeholderPath })
  const derived = createTextTools(native)
  assert.deepEqual([derived.toolFormat?.isGeneric, derived.tags], [false, { open: '<think>', close: '</think>' }])
  const tags = { open: '[reason]', close: '[/reason]' }
  const thinking = createTextTools(native, { tools: 'derived', thinking: tags })
  assert.deepEqual([thinking.toolFormat?.isGeneric, thinking.tags], [false, tags])
  assert.ok(describeFitness(thinking.fitness).some((line) => line.includes('"[reason]" … "[/reason]"')))
  assert.equal(createTextTools(native, { tools: 'derived', thinking: 'none' }).tags, null)
})

const around = { section: { open: '', close: '' }, separator: '\n' }

/** A call in each notation that an operator may write down. */
const given: readonly (readonly [GivenNotation, string])[] = [
  [
    { notation: 'envelope', open: '«', close: '»', nameKey: 'tool', argumentsKey: 'with', ...around },
    '«{"tool": "get_weather", "with": {"place": "Oslo", "days": 3}}»',
  ],
  [
    { notation: 'marked', open: '[call ', nameEnd: ' with ', close: ' end]', ...around },
    '[call get_weather with {"place": "Oslo", "days": 3} end]',
  ],
  [
    {
      notation: 'tagged',
      open: '<invoke name="',
      nameEnd: '">',
      argument: { open: '<', nameEnd: '>', close: '</{name}>', separator: '' },
      close: '</invoke>',
      ...around,
      section: { open: '<calls>', close: '</calls>' },
    },
    '<calls><invoke name="get_weather"><place>Oslo</place><days>3</days></invoke></calls>',
  ],
  [
    { notation: 'pythonic', section: { open: '```calls\n[', close: ']\n```' } },
    '```calls\n[get_weather(place="Oslo", days=3)]\n```',
  ],
]

test('a notation that an operator writes down is what the model is held to, and told', async () => {
  const native = await loadText({ weightsPath: placeholderPath })
  for (const [notation, call] of given) {
    const { fitness, toolFormat } = createTextTools(native, { tools: notation, thinking: 'derived' })
    assert.deepEqual([fitness.exampleCall, fitness.isConfigured, toolFormat?.isGeneric], [call, true, false])
    assert.ok(describeFitness(fitness).includes(`Tools: as configured (${notation.notation})`))
  }
  const [[marked] = []] = given.filter(([{ notation }]) => notation === 'marked')
  assert.ok(marked !== undefined)
  const engine = open({ chat: { tools: marked, thinking: 'none', system: 'first-user-turn' } })
  requireCall(await run(engine, { tools: [tool], toolChoice: { kind: 'required', parallel: false, allowed: null } }))
})

test('an override that does not fit the template is refused when the weights are loaded', async () => {
  const native = await loadText({ weightsPath: placeholderPath })
  const load = (overrides: Partial<ChatOverrides>, source?: string) =>
    createTextTools(
      { ...native, ...(source !== undefined && { chatTemplate: source }) },
      { tools: 'derived', thinking: 'derived', ...overrides },
    )
  // Where the argument ends like the call, nobody can tell which of the two has ended.
  const argument = { open: '<', nameEnd: '>', close: '<', separator: '' }
  const garbled: GivenNotation = { notation: 'tagged', open: '<', nameEnd: '>', argument, close: '<', ...around }
  assert.throws(() => load({ tools: garbled }), /in the configuration does not fit .* come back whole/u)
  const deaf = "{% for m in messages if m.role != 'system' %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"
  assert.throws(() => load({ system: 'own-turn' }, deaf), /leaves out a turn of role system/u)
  assert.throws(() => load({ lateSystem: 'in-place' }, deaf), /leaves out a later turn of role system/u)
  assert.equal(load({ system: 'first-user-turn' }).fitness.system, 'the beginning of the first user turn')
  assert.equal(load({ lateSystem: 'next-user-turn' }).fitness.lateSystem, 'marked, in the next user turn')
})
