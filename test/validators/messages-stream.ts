import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'

type Frame = { readonly event: string | undefined; readonly data: string }
type Fields = Readonly<Record<string, unknown>>

type Block = {
  readonly index: number
  readonly type: string
  text: string
  hasSignature: boolean
  isOpen: boolean
}

type State = {
  readonly blocks: Block[]
  readonly toolUseIds: Set<unknown>
  stopReason: string | null
  outputTokens: number
}

const stopReasons = [
  'end_turn',
  'tool_use',
  'max_tokens',
  'model_context_window_exceeded',
  'stop_sequence',
  'refusal',
] as const

/** Throws at the first frame that breaks a rule of a successful messages stream. */
export function checkMessagesStream(frames: readonly Frame[]): void {
  const events = frames.map(readFrame)
  const [first, second] = events
  ok(first !== undefined && second !== undefined, 'a stream has frames')
  equal(first['type'], 'message_start', 'message_start comes first')
  equal(second['type'], 'ping', 'a ping follows message_start')
  equal(events.at(-1)?.['type'], 'message_stop', 'message_stop comes last')
  equal(events.at(-2)?.['type'], 'message_delta', 'message_delta comes right before message_stop')
  const state: State = { blocks: [], toolUseIds: new Set(), stopReason: null, outputTokens: 0 }
  checkMessageStart(first, state)
  for (const event of events.slice(1, -1)) checkEvent(event, state)
  deepEqual(events.at(-1), { type: 'message_stop' })
  checkInputs(state)
}

function readFrame({ event, data }: Frame): Fields {
  ok(event !== undefined, 'every frame names its event')
  ok(data !== '' && !/[\r\n]/.test(data), 'every frame is one line')
  notEqual(data, '[DONE]', 'this format has no [DONE]')
  const fields = toFields(JSON.parse(data), 'a frame')
  equal(fields['type'], event, 'the event line and the type agree')
  return fields
}

function checkEvent(event: Fields, state: State): void {
  switch (event['type']) {
    case 'ping':
      deepEqual(event, { type: 'ping' })
      return
    case 'content_block_start':
      checkBlockStart(event, state)
      return
    case 'content_block_delta':
      checkBlockDelta(event, state)
      return
    case 'content_block_stop':
      checkBlockStop(event, state)
      return
    case 'message_delta':
      checkMessageDelta(event, state)
      return
    default:
      throw new Error(`${String(event['type'])} must not come here`)
  }
}

function checkMessageStart(event: Fields, state: State): void {
  const { usage, ...message } = toFields(event['message'], 'message')
  match(String(message['id']), /^msg_[A-Za-z0-9_-]{20,}$/, 'the id of a message')
  ok(typeof message['model'] === 'string' && message['model'] !== '', 'a message names its model')
  const { id: _id, model: _model, ...rest } = message
  const empty = { type: 'message', role: 'assistant', content: [], stop_reason: null, stop_sequence: null }
  deepEqual(rest, { ...empty, stop_details: null, container: null, diagnostics: null }, 'a message starts empty')
  checkStartUsage(toFields(usage, 'usage'), state)
}

function checkStartUsage(usage: Fields, state: State): void {
  const inputs = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'].map((key) =>
    toCount(usage, key),
  )
  ok(Math.max(...inputs) > 0, 'the counts of the input are real')
  const creation = toFields(usage['cache_creation'], 'cache_creation')
  equal(
    toCount(creation, 'ephemeral_5m_input_tokens') + toCount(creation, 'ephemeral_1h_input_tokens'),
    inputs[1],
    'the parts of the cache writes add up',
  )
  state.outputTokens = toCount(usage, 'output_tokens')
  for (const key of ['output_tokens_details', 'server_tool_use', 'inference_geo']) equal(usage[key], null, key)
  for (const key of ['service_tier', 'speed']) equal(usage[key], 'standard', key)
}

function checkBlockStart(event: Fields, state: State): void {
  equal(state.stopReason, null, 'no block starts after message_delta')
  equal(event['index'], state.blocks.length, 'indexes count up from 0')
  ok(state.blocks.at(-1)?.isOpen !== true, 'one block is open at a time')
  const content = toFields(event['content_block'], 'content_block')
  const type = String(content['type'])
  if (type === 'tool_use') {
    match(String(content['id']), /^toolu_[A-Za-z0-9_-]{20,}$/, 'the id of a call')
    ok(!state.toolUseIds.has(content['id']), 'ids of calls are unique')
    state.toolUseIds.add(content['id'])
    ok(typeof content['name'] === 'string' && content['name'] !== '', 'a call names its tool')
    deepEqual({ input: content['input'], caller: content['caller'] }, { input: {}, caller: { type: 'direct' } })
  } else {
    const starts: Readonly<Record<string, Fields>> = {
      text: { type, text: '', citations: null },
      thinking: { type, thinking: '', signature: '' },
    }
    ok(starts[type] !== undefined, `${type} is no kind of block`)
    deepEqual(content, starts[type], 'a block starts empty')
  }
  state.blocks.push({ index: state.blocks.length, type, text: '', hasSignature: false, isOpen: true })
}

function checkBlockDelta(event: Fields, state: State): void {
  const block = openBlock(event, state)
  ok(!block.hasSignature, 'a signature comes right before the stop')
  const delta = toFields(event['delta'], 'delta')
  const type = String(delta['type'])
  const keys: Readonly<Record<string, readonly [block: string, key: string]>> = {
    text_delta: ['text', 'text'],
    thinking_delta: ['thinking', 'thinking'],
    input_json_delta: ['tool_use', 'partial_json'],
    signature_delta: ['thinking', 'signature'],
  }
  const [owner, key] = keys[type] ?? []
  ok(key !== undefined, `${type} is no kind of delta`)
  equal(owner, block.type, 'a delta fits its block')
  const value = delta[key]
  ok(typeof value === 'string', 'a delta holds a string')
  if (type !== 'input_json_delta') notEqual(value, '', 'a delta is not empty')
  if (type === 'signature_delta') block.hasSignature = true
  else block.text += value
}

function checkBlockStop(event: Fields, state: State): void {
  const block = openBlock(event, state)
  if (block.type === 'text') match(block.text, /\S/, 'a text block has text')
  if (block.type === 'thinking') ok(block.hasSignature, 'thinking is signed')
  block.isOpen = false
}

function openBlock(event: Fields, { blocks }: State): Block {
  const block = blocks.at(-1)
  ok(block?.isOpen === true, `${String(event['type'])} must not come outside a block`)
  equal(event['index'], block.index, 'the index is that of the open block')
  return block
}

function checkMessageDelta(event: Fields, state: State): void {
  equal(state.stopReason, null, 'message_delta comes once')
  ok(state.blocks.at(-1)?.isOpen !== true, 'message_delta comes after the last block')
  const delta = toFields(event['delta'], 'delta')
  const reason = stopReasons.find((known) => known === delta['stop_reason'])
  ok(reason !== undefined, `${String(delta['stop_reason'])} is no stop_reason`)
  state.stopReason = reason
  equal(typeof delta['stop_sequence'], reason === 'stop_sequence' ? 'string' : 'object', 'stop_sequence')
  if (reason !== 'stop_sequence') equal(delta['stop_sequence'], null, 'stop_sequence is present and null')
  if (reason === 'refusal') equal(toFields(delta['stop_details'], 'stop_details')['type'], 'refusal')
  else equal(delta['stop_details'], null, 'stop_details is present and null')
  equal(delta['container'], null, 'container is present and null')
  if (reason === 'tool_use') ok(state.toolUseIds.size > 0, 'tool_use comes with a call')
  if (reason === 'end_turn') equal(state.toolUseIds.size, 0, 'an answer with a call ends with tool_use')
  const managed = event['context_management']
  if (managed !== undefined) deepEqual(managed, { applied_edits: [] })
  checkFinalUsage(toFields(event['usage'], 'usage'), state)
}

function checkFinalUsage(usage: Fields, state: State): void {
  for (const key of ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens']) toCount(usage, key)
  const output = toCount(usage, 'output_tokens')
  ok(output >= state.outputTokens, 'totals do not shrink')
  const thinking = toCount(toFields(usage['output_tokens_details'], 'output_tokens_details'), 'thinking_tokens')
  ok(thinking <= output, 'thinking is part of the output')
  equal(usage['server_tool_use'], null, 'server_tool_use is present and null')
}

/** Only the last call of an answer that was cut short may be incomplete. */
function checkInputs({ blocks, stopReason }: State): void {
  const isWhole = stopReason === 'tool_use' || stopReason === 'end_turn'
  for (const block of blocks) {
    if (block.type !== 'tool_use' || block.text === '') continue
    if (isWhole || block.index < blocks.length - 1) toFields(JSON.parse(block.text), 'the input of a call')
  }
}

function toFields(value: unknown, name: string): Fields {
  ok(typeof value === 'object' && value !== null && !Array.isArray(value), `${name} is an object`)
  return value as Fields
}

function toCount(fields: Fields, key: string): number {
  const value = fields[key]
  ok(typeof value === 'number' && Number.isInteger(value) && value >= 0, `${key} is a count`)
  return value
}
