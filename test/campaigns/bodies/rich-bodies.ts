import { models, randomText } from '../plain-requests.ts'
import type { Random } from '../random.ts'

export type Body = { readonly path: string; readonly body: Readonly<Record<string, unknown>> }

/** A valid body with many of its format's fields set; not all of them are things the service can do. */
export function richBody(random: Random): Body {
  const kind = random.integer(0, 9)
  if (kind < 4) return { path: '/v1/chat/completions', body: chatBody(random) }
  const path = random.chance(0.3) ? '/v1/messages?beta=true' : '/v1/messages'
  const { max_tokens: _, stream: __, ...prompt } = messagesBody(random)
  if (kind < 8) return { path, body: messagesBody(random) }
  return { path: '/v1/messages/count_tokens', body: prompt }
}

type Fields = Record<string, unknown>

function chatBody(random: Random): Fields {
  const text = () => randomText(random, random.integer(1, 12))
  const content = () =>
    random.chance(0.6)
      ? text()
      : [
          { type: 'text', text: text() },
          { type: 'text', text: text() },
        ]
  const messages: Fields[] = [{ role: 'user', content: content(), name: 'ada' }]
  if (random.chance(0.4)) messages.unshift({ role: random.pick(['system', 'developer']), content: content() })
  if (random.chance(0.3)) messages.push({ role: 'assistant', content: text() }, { role: 'user', content: content() })
  if (random.chance(0.1)) messages.push(...chatToolTurns())
  const body: Fields = { model: random.pick(models), messages, max_tokens: random.integer(1, 6) }
  return withSome(random, body, {
    stream: true,
    stream_options: { include_usage: true },
    temperature: 0.7,
    top_p: 0.9,
    top_k: 40,
    min_p: 0.05,
    presence_penalty: 0.5,
    frequency_penalty: -0.5,
    repetition_penalty: 1.1,
    stop: ['\n\n', 'END'],
    seed: 7,
    n: 1,
    logit_bias: {},
    logprobs: false,
    reasoning_effort: 'low',
    reasoning: { effort: 'low', exclude: false },
    thinking: { type: 'enabled', budget_tokens: 10 },
    chat_template_kwargs: { enable_thinking: false },
    response_format: { type: 'text' },
    tools: random.chance(0.2) ? [{ type: 'function', function: { name: 'find', parameters: { type: 'object' } } }] : [],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    modalities: ['text'],
    prediction: { type: 'content', content: 'x' },
    metadata: { team: 'a' },
    user: 'u',
    store: false,
    service_tier: 'auto',
    extra_body: { x: 1 },
  })
}

function chatToolTurns(): Fields[] {
  const call = { id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"q":1}' } }
  return [
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: 'found' },
  ]
}

function messagesBody(random: Random): Fields {
  const text = () => randomText(random, random.integer(1, 12))
  const mark = { cache_control: { type: 'ephemeral', ttl: '5m' } }
  const block = () => ({ type: 'text', text: text(), ...(random.chance(0.2) && mark) })
  const content = () => (random.chance(0.5) ? text() : [block(), block()])
  const messages: Fields[] = [{ role: 'user', content: content() }]
  if (random.chance(0.3)) {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 'AAAA' }
    messages.push({ role: 'assistant', content: [thinking, block()] }, { role: 'user', content: content() })
  }
  if (random.chance(0.1)) messages.push(...messagesToolTurns(random))
  const body: Fields = { model: random.pick(models), max_tokens: random.integer(0, 6), messages }
  return withSome(random, body, {
    stream: true,
    system: random.chance(0.5) ? text() : [block()],
    temperature: 0.5,
    top_p: 0.9,
    top_k: 5,
    stop_sequences: ['END'],
    thinking: random.pick([{ type: 'adaptive' }, { type: 'disabled' }, { type: 'enabled', budget_tokens: 1_024 }]),
    output_config: { effort: 'low' },
    tools: random.chance(0.2) ? [{ name: 'find', input_schema: { type: 'object' } }] : [],
    tool_choice: { type: 'auto' },
    cache_control: { type: 'ephemeral' },
    metadata: { user_id: 'u' },
    service_tier: 'auto',
    context_management: { edits: [] },
    mcp_servers: [],
    betas: ['x-2026'],
    container: null,
    speed: 'standard',
  })
}

function messagesToolTurns(random: Random): Fields[] {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }
  const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'text' }, title: 't' }
  const use = { type: 'tool_use', id: 'toolu_1', name: 'find', input: { q: 1 } }
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'a' }, image] }
  return [
    { role: 'assistant', content: [use] },
    { role: 'user', content: [result, ...random.pick([[], [document], [image]])] },
  ]
}

/** Each of the optional fields with a chance that leaves a handful of them. */
function withSome(random: Random, body: Fields, optional: Fields): Fields {
  const chosen = Object.entries(optional).filter(() => random.chance(0.2))
  return { ...body, ...Object.fromEntries(chosen) }
}
