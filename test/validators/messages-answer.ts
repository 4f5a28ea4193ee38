import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'

type Fields = Readonly<Record<string, unknown>>

const stopReasons = [
  'end_turn',
  'tool_use',
  'max_tokens',
  'model_context_window_exceeded',
  'stop_sequence',
  'refusal',
] as const

/** Throws at the first rule that a whole answer of the messages format breaks. */
export function checkMessagesAnswer(body: Fields): void {
  const { id, model, content, usage, stop_reason: stop, context_management: managed, ...rest } = body
  match(String(id), /^msg_[A-Za-z0-9_-]{20,}$/, 'the id of a message')
  ok(typeof model === 'string' && model !== '', 'a message names its model')
  if (managed !== undefined) deepEqual(managed, { applied_edits: [] })
  const reason = stopReasons.find((known) => known === stop)
  ok(reason !== undefined, `${String(stop)} is no stop_reason`)
  const { stop_sequence: sequence, stop_details: details, ...fixed } = rest
  deepEqual(fixed, { type: 'message', role: 'assistant', container: null, diagnostics: null })
  equal(typeof sequence, reason === 'stop_sequence' ? 'string' : 'object', 'stop_sequence')
  if (reason !== 'stop_sequence') equal(sequence, null, 'stop_sequence is present and null')
  if (reason !== 'refusal') equal(details, null, 'stop_details is present and null')
  ok(Array.isArray(content), 'the content is a list of blocks')
  const blocks = content.map((block) => toFields(block, 'a block'))
  for (const block of blocks) checkBlock(block)
  const calls = blocks.filter(({ type }) => type === 'tool_use')
  equal(new Set(calls.map((call) => call['id'])).size, calls.length, 'ids of calls are unique')
  if (reason === 'tool_use') ok(calls.length > 0, 'tool_use comes with a call')
  if (reason === 'end_turn') equal(calls.length, 0, 'an answer with a call ends with tool_use')
  checkUsage(toFields(usage, 'usage'))
}

function checkBlock(block: Fields): void {
  switch (block['type']) {
    case 'text':
      match(String(block['text']), /\S/, 'a text block has text')
      deepEqual(Object.keys(block).sort(), ['citations', 'text', 'type'])
      equal(block['citations'], null)
      return
    case 'thinking':
      deepEqual(Object.keys(block).sort(), ['signature', 'thinking', 'type'])
      equal(typeof block['thinking'], 'string')
      ok(typeof block['signature'] === 'string' && block['signature'] !== '', 'thinking is signed')
      return
    case 'tool_use':
      deepEqual(Object.keys(block).sort(), ['caller', 'id', 'input', 'name', 'type'])
      match(String(block['id']), /^toolu_[A-Za-z0-9_-]{20,}$/, 'the id of a call')
      ok(typeof block['name'] === 'string' && block['name'] !== '', 'a call names its tool')
      toFields(block['input'], 'the input of a call')
      deepEqual(block['caller'], { type: 'direct' })
      return
    default:
      throw new Error(`${String(block['type'])} is no kind of block`)
  }
}

function checkUsage(usage: Fields): void {
  const inputs = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'].map((key) =>
    toCount(usage[key]),
  )
  notEqual(Math.max(...inputs), 0, 'the counts of the input are real')
  const creation = toFields(usage['cache_creation'], 'cache_creation')
  const written = toCount(creation['ephemeral_5m_input_tokens']) + toCount(creation['ephemeral_1h_input_tokens'])
  equal(written, inputs[1], 'the parts of the cache writes add up')
  const thinking = toCount(toFields(usage['output_tokens_details'], 'output_tokens_details')['thinking_tokens'])
  ok(thinking <= toCount(usage['output_tokens']), 'thinking is part of the output')
  for (const key of ['server_tool_use', 'inference_geo']) equal(usage[key], null, `${key} is present and null`)
  for (const key of ['service_tier', 'speed']) equal(usage[key], 'standard', key)
}

function toFields(value: unknown, name: string): Fields {
  ok(typeof value === 'object' && value !== null && !Array.isArray(value), `${name} is an object`)
  return value as Fields
}

function toCount(value: unknown): number {
  ok(typeof value === 'number' && Number.isInteger(value) && value >= 0, 'a count is a whole number')
  return value
}
