import { deepEqual, equal, match, ok } from 'node:assert/strict'

type Fields = Readonly<Record<string, unknown>>

const messageKeys = ['role', 'content', 'refusal', 'annotations', 'reasoning_content', 'reasoning', 'tool_calls']
const finishReasons = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'] as const

/** Throws at the first rule that a whole chat completions answer breaks. */
export function checkChatAnswer(body: Fields): void {
  const { id, object, created, model, choices, usage, service_tier: tier, system_fingerprint: fingerprint } = body
  deepEqual(
    Object.keys(body).sort(),
    ['choices', 'created', 'id', 'model', 'object', 'service_tier', 'system_fingerprint', 'usage'],
    'an answer has these keys and no others',
  )
  ok(typeof id === 'string' && id.length > 'chatcmpl-'.length, 'the id is not empty')
  match(id, /^chatcmpl-/)
  deepEqual([object, tier], ['chat.completion', 'default'])
  ok(Number.isInteger(created), 'created is a number of seconds')
  ok(typeof model === 'string' && model !== '', 'the model is named')
  equal(typeof fingerprint, 'string')
  ok(Array.isArray(choices) && choices.length > 0, 'there is a choice')
  for (const [index, choice] of choices.entries()) checkChoice(toFields(choice, 'a choice'), index)
  checkUsage(toFields(usage, 'usage'))
}

function checkChoice(choice: Fields, index: number): void {
  deepEqual(Object.keys(choice).sort(), ['finish_reason', 'index', 'logprobs', 'message'], 'a choice has its four keys')
  equal(choice['index'], index, 'choices are in order')
  const reason = finishReasons.find((known) => known === choice['finish_reason'])
  ok(reason !== undefined, `${String(choice['finish_reason'])} is no finish reason`)
  const message = toFields(choice['message'], 'message')
  const { role, content, refusal, annotations } = message
  for (const key of Object.keys(message)) {
    ok(messageKeys.includes(key) || key === 'function_call', `a message has no ${key}`)
  }
  deepEqual([role, refusal, annotations], ['assistant', null, []])
  if ('reasoning' in message || 'reasoning_content' in message) {
    ok(typeof message['reasoning'] === 'string' && message['reasoning'] !== '', 'reasoning is text')
    equal(message['reasoning'], message['reasoning_content'], 'reasoning has the same text under both names')
  }
  const isCut = reason === 'length' || reason === 'content_filter'
  const calls = callsOf(message)
  for (const call of calls) checkCall(call, isCut)
  if (content === null) ok(calls.length > 0, 'only an answer with calls may have no content')
  else equal(typeof content, 'string', 'content is text or null')
  if (!isCut) {
    const expected = 'function_call' in message ? 'function_call' : calls.length > 0 ? 'tool_calls' : 'stop'
    equal(reason, expected, 'the finish reason tells of calls')
  }
  if (choice['logprobs'] !== null) {
    const tokens = toFields(choice['logprobs'], 'logprobs')['content']
    ok(Array.isArray(tokens), 'log-probabilities are listed by token')
    const bytes = tokens.flatMap((token) => toFields(token, 'a token')['bytes'] as number[])
    deepEqual(bytes, [...Buffer.from(String(content))], 'bytes are those of the text')
  }
}

function callsOf(message: Fields): Fields[] {
  const { tool_calls: calls, function_call: legacy } = message
  if (calls === undefined) return legacy === undefined ? [] : [{ id: 'legacy', type: 'function', function: legacy }]
  ok(Array.isArray(calls) && calls.length > 0, 'there is no empty list of calls')
  equal(new Set(calls.map((call) => toFields(call, 'a call')['id'])).size, calls.length, 'ids of calls are unique')
  return calls as Fields[]
}

function checkCall(call: Fields, isCut: boolean): void {
  const kind = call['type']
  ok(kind === 'function' || kind === 'custom', `${String(kind)} is no kind of call`)
  deepEqual(Object.keys(call).sort(), [kind, 'id', 'type'].sort(), 'a call has its three keys')
  ok(typeof call['id'] === 'string' && call['id'] !== '', 'a call has an id')
  const body = toFields(call[kind], kind)
  ok(typeof body['name'] === 'string' && body['name'] !== '', 'a call has a name')
  const text = body[kind === 'custom' ? 'input' : 'arguments']
  ok(typeof text === 'string', 'what a call holds is text')
  if (kind === 'function' && !isCut) toFields(JSON.parse(text), 'the arguments of a call')
}

function checkUsage(usage: Fields): void {
  const [prompt, completion] = [toCount(usage['prompt_tokens']), toCount(usage['completion_tokens'])]
  ok(prompt > 0, 'a prompt has tokens')
  equal(toCount(usage['total_tokens']), prompt + completion, 'the total is the sum')
  ok(toCount(toFields(usage['prompt_tokens_details'], 'prompt details')['cached_tokens']) <= prompt)
  ok(toCount(toFields(usage['completion_tokens_details'], 'completion details')['reasoning_tokens']) <= completion)
}

function toFields(value: unknown, name: string): Fields {
  ok(typeof value === 'object' && value !== null && !Array.isArray(value), `${name} is an object`)
  return value as Fields
}

function toCount(value: unknown): number {
  ok(typeof value === 'number' && Number.isInteger(value) && value >= 0, 'a count is a whole number')
  return value
}
