import { models, randomText } from '../plain-requests.ts'
import type { Random } from '../random.ts'
import { randomObjectSchema, randomOutputSchema, type Schema } from '../bodies/random-schemas.ts'

export type FuzzedTool = {
  readonly name: string
  /** Null where the tool takes free text. */
  readonly schema: Schema | null
}

/** What the answers to a request must keep to, in no format's words. */
export type Promised = {
  readonly tools: readonly FuzzedTool[]
  readonly choice: 'auto' | 'none' | 'required' | 'named'
  /** The names of the tools that may be called. */
  readonly allowed: readonly string[]
  readonly isParallel: boolean
  /** The schema of an answer without calls; `true` stands for any object, null for any text. */
  readonly output: Schema | true | null
  readonly outputTokensMax: number
  /** Every answer to the request is the same, streamed or not. */
  readonly isRepeatable: boolean
}

export type StructuredRequest = {
  readonly shape: 'chat' | 'messages'
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  readonly promised: Promised
}

/** The token of the placeholder weights that opens a call: left alone they never choose it. */
const callToken = '825'
const toolNames = ['get_weather', 'Write', 'mcp__files__read', 'a', 'constructor', 'x'.repeat(64), 'get_weather_2', '-']

/** Two of three requests are about tools, the others about the answer's own form. */
export function structuredRequest(random: Random, about: 'tools' | 'output'): StructuredRequest {
  const shape = random.pick(['chat', 'messages'] as const)
  const count = about === 'tools' ? random.integer(1, 6) : random.chance(0.15) ? 2 : 0
  const names = toolNames.toSorted(() => random.next() - 0.5).slice(0, count)
  const tools = names.map((name) => ({ name, schema: randomToolSchema(random, shape) }))
  const choice = count === 0 ? 'auto' : random.pick(['auto', 'none', 'required', 'required', 'named', 'named'] as const)
  const named = tools[0]?.name ?? ''
  const isRestricted = shape === 'chat' && (choice === 'auto' || choice === 'required') && random.chance(0.3)
  const hasOutput = about === 'output' || random.chance(0.1)
  const promised: Promised = {
    tools,
    choice,
    allowed:
      choice === 'none' ? [] : choice === 'named' || isRestricted ? names.slice(0, choice === 'named' ? 1 : 2) : names,
    isParallel: random.chance(0.7),
    output: !hasOutput ? null : shape === 'chat' && random.chance(0.1) ? true : randomOutputSchema(random),
    outputTokensMax: random.chance(0.25) ? random.integer(1, 60) : random.pick([300, 300, 300, 300, 1_100]),
    isRepeatable: random.chance(0.3),
  }
  const messages = [{ role: 'user', content: randomText(random, random.integer(1, 20)) }]
  const common = { model: random.pick(models), messages, ...(promised.isRepeatable && { temperature: 0 }) }
  if (shape === 'chat') {
    const fields = chatFields(random, promised, { named, isRestricted })
    return { shape, path: '/v1/chat/completions', body: { ...common, ...fields }, promised }
  }
  return { shape, path: '/v1/messages', body: { ...common, ...messagesFields(random, promised, named) }, promised }
}

/** Only chat completions have tools that take free text. */
function randomToolSchema(random: Random, shape: 'chat' | 'messages'): Schema | null {
  return shape === 'chat' && random.chance(0.1) ? null : randomObjectSchema(random)
}

type Choosing = { readonly named: string; readonly isRestricted: boolean }

function chatFields(random: Random, promised: Promised, choosing: Choosing) {
  const { tools, choice, output, outputTokensMax, isParallel, isRepeatable } = promised
  const format =
    output === true
      ? { type: 'json_object' }
      : { type: 'json_schema', json_schema: { name: 'x', strict: random.chance(0.5), schema: output } }
  return {
    max_completion_tokens: outputTokensMax,
    ...(tools.length > 0 && {
      tools: tools.map((tool) => chatTool(random, tool)),
      tool_choice: chatChoice(promised, choosing),
      ...(!isParallel && { parallel_tool_calls: false }),
    }),
    ...(output !== null && { response_format: format }),
    ...(random.chance(0.5) && { reasoning_effort: random.pick(['none', 'low', 'medium', 'high']) }),
    ...(random.chance(0.15) && { logprobs: true, top_logprobs: random.integer(0, 5) }),
    ...(random.chance(0.1) && { min_tokens: random.integer(1, Math.min(80, outputTokensMax)) }),
    ...(choice === 'auto' &&
      tools.length > 0 &&
      random.chance(0.5) && { logit_bias: { [callToken]: random.pick([8, 12]) } }),
    ...(choice !== 'auto' &&
      random.chance(0.1) && { logit_bias: { [String(random.integer(0, 500))]: random.pick([-100, 5, 100]) } }),
    ...(random.chance(0.1) && { frequency_penalty: 1.5, repetition_penalty: 1.2 }),
    ...(!isRepeatable && random.chance(0.3) && { temperature: 1.8 }),
    ...(hasNoText(promised) && random.chance(0.3) && { stop: ['{', '"', ' '] }),
  }
}

function chatTool(random: Random, { name, schema }: FuzzedTool) {
  if (schema === null) return { type: 'custom', custom: { name, description: 'Takes text.' } }
  const strict = random.chance(0.5) ? { strict: true } : {}
  return { type: 'function', function: { name, description: 'Does it.', parameters: schema, ...strict } }
}

function chatChoice({ tools, choice, allowed }: Promised, { named, isRestricted }: Choosing): unknown {
  const reference = (name: string) => {
    const type = tools.some((tool) => tool.name === name && tool.schema === null) ? 'custom' : 'function'
    return { type, [type]: { name } }
  }
  if (choice === 'named') return reference(named)
  if (!isRestricted) return choice
  return { type: 'allowed_tools', allowed_tools: { mode: choice, tools: allowed.map(reference) } }
}

/** Stop sequences never match in a call; in an answer of JSON they would cut it. */
function hasNoText({ choice }: Promised): boolean {
  return choice === 'required' || choice === 'named'
}

function messagesFields(random: Random, promised: Promised, named: string) {
  const { tools, choice, output, outputTokensMax, isParallel } = promised
  // A budget must leave room for the answer.
  const budgeted = { type: 'enabled', budget_tokens: 1_024 }
  const thinking = outputTokensMax > 1_024 ? budgeted : { type: random.pick(['adaptive', 'disabled']) }
  const kind = {
    auto: { type: 'auto' },
    none: { type: 'none' },
    required: { type: 'any' },
    named: { type: 'tool', name: named },
  }
  return {
    max_tokens: outputTokensMax,
    ...(tools.length > 0 && {
      tools: tools.map(({ name, schema }) => ({
        name,
        input_schema: schema,
        ...(random.chance(0.5) && { strict: true }),
      })),
      tool_choice: { ...kind[choice], ...(!isParallel && choice !== 'none' && { disable_parallel_tool_use: true }) },
    }),
    ...(output !== null && { output_config: { format: { type: 'json_schema', schema: output } } }),
    ...(random.chance(0.6) && { thinking }),
    ...(hasNoText(promised) && random.chance(0.3) && { stop_sequences: ['{', '"', 'e'] }),
  }
}
