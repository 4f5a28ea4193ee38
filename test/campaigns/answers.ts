import { equal, match, ok } from 'node:assert/strict'
import { checkChatAnswer } from '../validators/chat-answer.ts'
import { checkChatStream } from '../validators/chat-stream.ts'
import { checkMessagesAnswer } from '../validators/messages-answer.ts'
import { checkMessagesStream } from '../validators/messages-stream.ts'
import type { Shape } from './bodies/error-bodies.ts'
import type { RawResponse } from './response-reader.ts'
import { readFrames } from './sse-frames.ts'

type Fields = Readonly<Record<string, unknown>>

/** Throws unless an answer with status 200 is a whole and right one for its path. */
export function checkAnswer(response: RawResponse, path: string, shape: Shape): void {
  equal(response.fault, null, response.fault ?? '')
  ok(response.isComplete, 'the answer is whole')
  match(response.headers.get('x-request-id') ?? '', /^req_[0-9A-Za-z]{20,}$/, 'an answer names its request')
  if (isStream(response)) return checkStream(response.text, shape)
  const body = JSON.parse(response.text) as Fields
  if (path.startsWith('/v1/messages/count_tokens')) checkCount(body['input_tokens'])
  else if (shape === 'chat') checkChatAnswer(body)
  else if (shape === 'messages') checkMessagesAnswer(body)
}

export function isStream(response: RawResponse): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') === true
}

function checkStream(text: string, shape: Shape): void {
  ok(text.endsWith('\n\n'), 'a stream ends with a whole frame')
  const frames = readFrames(text)
  if (shape === 'messages') checkMessagesStream(frames)
  // Whether usage was asked for is not known of a mutated request, but the stream must be of one mind.
  else checkChatStream(frames, { includeUsage: frames[0]?.data.includes('"usage":null') === true })
}

/** What an answer says it cost, in output tokens; null where it does not say. */
export function outputTokensOf(response: RawResponse): number | null {
  const numbers = [...response.text.matchAll(/"(?:completion_tokens|output_tokens)":(\d+)/g)]
  const last = numbers.at(-1)?.[1]
  return last === undefined ? null : Number(last)
}

/** The whole prompt. One format counts apart what it took from its cache or put there. */
export function inputTokensOf(response: RawResponse): number | null {
  const counts = ['prompt_tokens', 'input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens']
  const found = counts.flatMap((name) => new RegExp(`"${name}":(\\d+)`).exec(response.text)?.[1] ?? [])
  return found.length === 0 ? null : found.reduce((sum, number) => sum + Number(number), 0)
}

function checkCount(value: unknown): void {
  ok(typeof value === 'number' && Number.isInteger(value) && value >= 0, 'a count is a whole number')
}
