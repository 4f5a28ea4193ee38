import type { Random } from '../random.ts'
import type { FuzzedTool, Promised, StructuredRequest } from '../structured/structured-requests.ts'

export type CallRequest = StructuredRequest & {
  readonly isStream: boolean
  /** What of the answer has no bound, or more than its limit has room for; null where it has to end by itself. */
  readonly mayRunOn: 'a short limit' | 'text' | 'any number of calls' | 'an argument' | null
}

type Declared = FuzzedTool & { readonly description: string; readonly isBounded: boolean }

const word = { type: 'string', maxLength: 12 }
const object = (properties: object, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const declaredTools: readonly Declared[] = [
  {
    name: 'get_weather',
    description: 'Tells the weather of a place.',
    isBounded: true,
    schema: object({ place: word, days: { type: 'integer', minimum: 1, maximum: 7 } }, ['place', 'days']),
  },
  {
    name: 'read_files',
    description: 'Reads files.',
    isBounded: true,
    schema: object({ paths: { type: 'array', items: word, maxItems: 2 }, mode: { enum: ['text', 'bytes', null] } }, [
      'mode',
    ]),
  },
  {
    name: 'set_alarm',
    description: 'Sets an alarm.',
    isBounded: true,
    schema: object(
      {
        day: { type: 'string', format: 'date' },
        code: { type: 'string', pattern: '^[A-Z]{2}-[0-9]{3}$' },
        repeat: { type: 'object', properties: { weekly: { type: 'boolean' } }, required: ['weekly'] },
      },
      ['day', 'repeat'],
    ),
  },
  { name: 'get_time', description: 'Tells the time.', isBounded: true, schema: object({}, []) },
  {
    name: 'run_command',
    description: 'Runs a command in a shell.',
    isBounded: false,
    schema: object({ command: { type: 'string', minLength: 1 } }, ['command']),
  },
]

const report = object(
  { title: word, isGood: { type: 'boolean' }, score: { type: 'integer', minimum: 0, maximum: 9 } },
  ['title', 'isGood', 'score'],
)

const questions = [
  'What is the weather in Oslo?',
  'Read a.txt and b.txt, please.',
  'Hello!',
  'Wake me on Monday — ü 🌧 <tool_call>',
  'List all files here and tell me the time.',
]

/** More than any bounded answer needs, were each of its characters escaped and a token of its own. */
const roomy = 420

/** The budgets of thinking that are asked for; the messages format knows no smaller one. */
const leastBudget = { chat: 40, messages: 1_024 } as const

/** Tools, choices of them, JSON, thinking and history, as far as both formats can say them. */
export function callRequest(random: Random): CallRequest {
  const shape = random.pick(['chat', 'messages'] as const)
  const about = random.pick(['forced', 'forced', 'forced', 'free', 'output'] as const)
  const tools = about === 'output' && random.chance(0.7) ? [] : someTools(random)
  const choice = choiceOf(random, about, tools)
  const isParallel = random.chance(0.3)
  const isShort = random.chance(0.1)
  const length = about === 'free' ? 40 : isParallel ? 160 : roomy
  const thinks = random.chance(shape === 'chat' ? 0.3 : 0.04)
  const promised: Promised = {
    tools,
    choice,
    allowed: (choice === 'none' ? [] : choice === 'named' ? tools.slice(0, 1) : tools).map(({ name }) => name),
    isParallel,
    output: about === 'output' ? report : null,
    outputTokensMax: isShort ? random.integer(1, 40) : length + (thinks ? leastBudget[shape] : 0),
    isRepeatable: false,
  }
  const isBounded = tools.every(({ name, isBounded }) => isBounded || !promised.allowed.includes(name))
  const asked = {
    tools,
    temperature: random.pick([0, 0.7, 1]),
    messages: [...(random.chance(0.3) ? history(shape) : []), { role: 'user', content: random.pick(questions) }],
    thinks: thinks && !isShort,
  }
  const fields = shape === 'chat' ? chatFields(random, promised, asked) : messagesFields(promised, asked)
  return {
    shape,
    path: shape === 'chat' ? '/v1/chat/completions' : '/v1/messages',
    body: { model: 'clarke-1.0', messages: asked.messages, ...fields },
    promised,
    isStream: random.chance(0.5),
    mayRunOn: isShort
      ? 'a short limit'
      : about === 'free'
        ? 'text'
        : !isBounded
          ? 'an argument'
          : isParallel && promised.allowed.length > 0
            ? 'any number of calls'
            : null,
  }
}

/** Few sets in a steady order, so that prompts begin alike: what is tried is the answers, and computing prompts takes long. */
function someTools(random: Random): readonly Declared[] {
  const first = random.integer(0, declaredTools.length - 1)
  return declaredTools.slice(first, first + random.pick([1, 2]))
}

function choiceOf(random: Random, about: 'forced' | 'free' | 'output', tools: readonly Declared[]): Promised['choice'] {
  if (tools.length === 0) return 'auto'
  return about === 'forced' ? random.pick(['required', 'named']) : random.pick(['auto', 'auto', 'none'])
}

type Asked = { readonly tools: readonly Declared[]; readonly temperature: number; readonly thinks: boolean }

function chatFields(random: Random, promised: Promised, { tools, temperature, thinks }: Asked) {
  const { choice, output, outputTokensMax, isParallel } = promised
  const named = { type: 'function', function: { name: tools[0]?.name } }
  const isUnsaid = choice === 'auto' && random.chance(0.5)
  return {
    temperature,
    max_completion_tokens: outputTokensMax,
    ...(thinks && { thinking_budget: random.integer(1, leastBudget.chat) }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, schema, description }) => ({
        type: 'function',
        function: { name, description, parameters: schema },
      })),
      ...(!isUnsaid && { tool_choice: choice === 'named' ? named : choice }),
      ...(!isParallel && { parallel_tool_calls: false }),
    }),
    ...(output !== null && {
      response_format: { type: 'json_schema', json_schema: { name: 'report', strict: true, schema: output } },
    }),
  }
}

function messagesFields(promised: Promised, { tools, temperature, thinks }: Asked) {
  const { choice, output, outputTokensMax, isParallel } = promised
  const types = { auto: 'auto', none: 'none', required: 'any', named: 'tool' } as const
  const chosen = {
    type: types[choice],
    ...(choice === 'named' && { name: tools[0]?.name }),
    ...(!isParallel && choice !== 'none' && { disable_parallel_tool_use: true }),
  }
  return {
    ...(thinks ? { thinking: { type: 'enabled', budget_tokens: leastBudget.messages } } : { temperature }),
    max_tokens: outputTokensMax,
    ...(tools.length > 0 && {
      tools: tools.map(({ name, schema, description }) => ({ name, description, input_schema: schema })),
      tool_choice: chosen,
    }),
    ...(output !== null && { output_config: { format: { type: 'json_schema', schema: output } } }),
  }
}

function history(shape: 'chat' | 'messages'): object[] {
  return shape === 'chat' ? chatHistory : messagesHistory
}

const question = { role: 'user', content: 'And in Rome?' }
const answered = { role: 'assistant', content: 'Sunny in Rome.' }
const called = { name: 'get_weather', arguments: '{"place":"Rome","days":1}' }

const chatHistory = [
  question,
  { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: called }] },
  { role: 'tool', tool_call_id: 'call_1', content: 'Sunny.' },
  answered,
]

const messagesHistory = [
  question,
  {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'toolu_1', name: called.name, input: JSON.parse(called.arguments) as unknown }],
  },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Sunny.' },
      { type: 'text', text: 'Thanks.' },
    ],
  },
  answered,
]
