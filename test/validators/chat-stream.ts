import { deepEqual, equal, ok } from 'node:assert/strict'

type Frame = { readonly event: string | undefined; readonly data: string }
type Fields = Readonly<Record<string, unknown>>
type Call = { readonly kind: 'function' | 'custom'; texts: string[] }

type Choice = {
  finishReason: string | null
  readonly calls: Call[]
  legacyCall: Call | null
  hasContent: boolean
  readonly contents: string[]
  logprobBytes: number[] | null
}

const deltaKeys = ['role', 'content', 'refusal', 'reasoning_content', 'reasoning', 'tool_calls', 'function_call']
const finishReasons: unknown[] = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call']

/** Throws at the first frame that breaks a rule of a successful chat completions stream. */
export function checkChatStream(frames: readonly Frame[], options: { includeUsage: boolean }): void {
  for (const { event, data } of frames) {
    equal(event, undefined, 'no frame has an event name')
    ok(data !== '' && !/[\r\n]/.test(data), 'every frame is one line')
  }
  equal(frames.at(-1)?.data, '[DONE]', 'the stream ends with [DONE]')
  const chunks = frames.slice(0, -1).map(({ data }) => toFields(JSON.parse(data), 'a chunk'))
  checkHeads(chunks)
  checkUsage(chunks, options.includeUsage)
  const choices = new Map<number, Choice>()
  for (const chunk of chunks) for (const choice of toArray(chunk['choices'], 'choices')) checkChoice(choices, choice)
  ok(choices.size > 0, 'there is a choice')
  for (const [index, choice] of choices) {
    ok(index < choices.size, 'choice indexes are contiguous')
    checkWholeChoice(choice)
  }
}

function checkHeads(chunks: readonly Fields[]): void {
  const [first] = chunks
  ok(first !== undefined, 'there is a chunk')
  for (const chunk of chunks) {
    ok(!('error' in chunk), 'a successful stream holds no error')
    ok(typeof chunk['id'] === 'string' && chunk['id'].length > 'chatcmpl-'.length, 'the id is not empty')
    equal(chunk['object'], 'chat.completion.chunk')
    ok(Number.isInteger(chunk['created']), 'created is a number of seconds')
    ok(typeof chunk['model'] === 'string' && chunk['model'] !== '', 'the model is named')
    for (const key of ['id', 'created', 'model', 'system_fingerprint'])
      equal(chunk[key], first[key], `${key} is constant`)
  }
}

function checkUsage(chunks: readonly Fields[], isIncluded: boolean): void {
  const withChoices = isIncluded ? chunks.slice(0, -1) : chunks
  for (const chunk of withChoices) {
    ok(toArray(chunk['choices'], 'choices').length > 0, 'only the usage chunk has no choices')
    if (isIncluded) equal(chunk['usage'], null, 'usage is null before the usage chunk')
    else ok(!('usage' in chunk), 'usage is absent unless asked for')
  }
  if (!isIncluded) return
  const last = chunks.at(-1) ?? {}
  deepEqual(last['choices'], [], 'the usage chunk has no choices')
  const usage = toFields(last['usage'], 'usage')
  const [prompt, completion] = [toCount(usage['prompt_tokens']), toCount(usage['completion_tokens'])]
  equal(toCount(usage['total_tokens']), prompt + completion, 'the total is the sum')
  ok(toCount(toFields(usage['prompt_tokens_details'], 'prompt details')['cached_tokens']) <= prompt)
  ok(toCount(toFields(usage['completion_tokens_details'], 'completion details')['reasoning_tokens']) <= completion)
}

function checkChoice(choices: Map<number, Choice>, value: unknown): void {
  const wire = toFields(value, 'a choice')
  deepEqual(Object.keys(wire).sort(), ['delta', 'finish_reason', 'index', 'logprobs'], 'a choice has its four keys')
  const index = wire['index']
  ok(typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < 128, 'the choice index is in range')
  const delta = toFields(wire['delta'], 'a delta')
  for (const key of Object.keys(delta)) ok(deltaKeys.includes(key), `a delta has no ${key}`)
  const known = choices.get(index)
  if (known === undefined) {
    choices.set(index, openChoice(wire, delta))
    return
  }
  equal(known.finishReason, null, 'nothing follows the finish chunk')
  ok(!('role' in delta) && !('refusal' in delta), 'the role comes once')
  if (wire['finish_reason'] === null) checkDelta(known, delta)
  else checkFinish(known, wire, delta)
  checkLogprobs(known, wire['logprobs'], delta)
}

function openChoice(wire: Fields, delta: Fields): Choice {
  deepEqual(delta, { role: 'assistant', content: '', refusal: null }, 'a choice opens with its role')
  equal(wire['finish_reason'], null)
  equal(wire['logprobs'], null)
  return { finishReason: null, calls: [], legacyCall: null, hasContent: false, contents: [], logprobBytes: null }
}

function checkFinish(choice: Choice, wire: Fields, delta: Fields): void {
  const reason = wire['finish_reason']
  ok(typeof reason === 'string' && finishReasons.includes(reason), 'the finish reason is known')
  deepEqual(delta, {}, 'the finish chunk has an empty delta')
  choice.finishReason = reason
}

function checkDelta(choice: Choice, delta: Fields): void {
  ok(Object.keys(delta).length > 0, 'only the finish chunk has an empty delta')
  const hasCalls = choice.calls.length > 0 || choice.legacyCall !== null
  if ('reasoning' in delta || 'reasoning_content' in delta) {
    toText(delta['reasoning'])
    equal(delta['reasoning'], delta['reasoning_content'], 'reasoning has the same text under both names')
    ok(!choice.hasContent && !hasCalls, 'reasoning comes before text and calls')
  }
  if ('content' in delta) {
    const text = toText(delta['content'])
    ok(!hasCalls, 'no text follows a call')
    choice.hasContent = true
    choice.contents.push(text)
  }
  if ('tool_calls' in delta) for (const call of toArray(delta['tool_calls'], 'tool_calls')) checkCall(choice, call)
  if ('function_call' in delta) checkLegacyCall(choice, toFields(delta['function_call'], 'function_call'))
}

function checkCall(choice: Choice, value: unknown): void {
  const wire = toFields(value, 'a call')
  const index = wire['index']
  if (index === choice.calls.length) {
    const kind = wire['type'] === 'custom' ? 'custom' : 'function'
    deepEqual(Object.keys(wire).sort(), [kind, 'id', 'index', 'type'].sort(), 'the first delta of a call is complete')
    equal(wire['type'], kind)
    ok(toText(wire['id']) !== '', 'a call has an id')
    const body = toFields(wire[kind], kind)
    ok(toText(body['name']) !== '', 'a call has a name')
    deepEqual(body, { name: body['name'], [kind === 'custom' ? 'input' : 'arguments']: '' }, 'a call starts empty')
    choice.calls.push({ kind, texts: [] })
    ok(choice.calls.length <= 128, 'the call index is in range')
    return
  }
  equal(index, choice.calls.length - 1, 'calls come one after another')
  const call = choice.calls.at(-1)
  ok(call !== undefined)
  deepEqual(Object.keys(wire).sort(), [call.kind, 'index'].sort(), 'a continuation has its index and text only')
  const textKey = call.kind === 'custom' ? 'input' : 'arguments'
  const body = toFields(wire[call.kind], call.kind)
  deepEqual(Object.keys(body), [textKey], 'a continuation has its index and text only')
  call.texts.push(toText(body[textKey]))
}

function checkLegacyCall(choice: Choice, wire: Fields): void {
  if (choice.legacyCall === null) {
    ok(toText(wire['name']) !== '', 'a call has a name')
    deepEqual(wire, { name: wire['name'], arguments: '' }, 'a call starts empty')
    choice.legacyCall = { kind: 'function', texts: [] }
    return
  }
  deepEqual(Object.keys(wire), ['arguments'], 'a continuation has its text only')
  choice.legacyCall.texts.push(toText(wire['arguments']))
}

function checkLogprobs(choice: Choice, value: unknown, delta: Fields): void {
  if (value === null) return
  ok('content' in delta, 'log-probabilities belong to text')
  const logprobs = toFields(value, 'logprobs')
  equal(logprobs['refusal'], null)
  choice.logprobBytes ??= []
  for (const entry of toArray(logprobs['content'], 'logprobs.content')) {
    const token = toFields(entry, 'a token')
    checkToken(token)
    for (const top of toArray(token['top_logprobs'], 'top_logprobs')) checkToken(toFields(top, 'a token'))
    for (const byte of toArray(token['bytes'], 'bytes')) choice.logprobBytes.push(Number(byte))
  }
}

function checkToken(token: Fields): void {
  toText(token['token'])
  const logprob = token['logprob']
  ok(typeof logprob === 'number' && logprob <= 0 && logprob >= -9999, 'a log-probability is finite')
}

function checkWholeChoice(choice: Choice): void {
  const { finishReason, calls, legacyCall, contents, logprobBytes } = choice
  ok(finishReason !== null, 'every choice finishes')
  const isCut = finishReason === 'length' || finishReason === 'content_filter'
  if (!isCut) {
    const expected = legacyCall !== null ? 'function_call' : calls.length > 0 ? 'tool_calls' : 'stop'
    equal(finishReason, expected, 'the finish reason tells of calls')
    for (const { kind, texts } of [...calls, ...(legacyCall === null ? [] : [legacyCall])]) {
      if (kind === 'function') JSON.parse(texts.join(''))
    }
  }
  ok(calls.length === 0 || legacyCall === null, 'an answer has calls of one form')
  if (logprobBytes !== null) deepEqual(logprobBytes, [...Buffer.from(contents.join(''))], 'bytes are those of the text')
}

function toFields(value: unknown, name: string): Fields {
  ok(typeof value === 'object' && value !== null && !Array.isArray(value), `${name} is an object`)
  return value as Fields
}

function toArray(value: unknown, name: string): readonly unknown[] {
  ok(Array.isArray(value), `${name} is an array`)
  return value
}

function toText(value: unknown): string {
  ok(typeof value === 'string', 'text is a string, never null')
  return value
}

function toCount(value: unknown): number {
  ok(typeof value === 'number' && Number.isInteger(value) && value >= 0, 'a count is a whole number')
  return value
}
