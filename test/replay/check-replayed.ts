import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { checkErrorResponse, shapeOf } from '../campaigns/bodies/error-bodies.ts'
import type { RawResponse } from '../campaigns/response-reader.ts'
import { readFrames } from '../harness/http/open-stream.ts'
import { checkChatAnswer } from '../validators/chat-answer.ts'
import { checkChatStream } from '../validators/chat-stream.ts'
import { checkMessagesAnswer } from '../validators/messages-answer.ts'
import { checkMessagesStream } from '../validators/messages-stream.ts'
import { expectedStatus, type Recording } from './recording.ts'

type Fields = Readonly<Record<string, unknown>>

/** Throws unless a recorded request was answered as its client needs it. */
export function checkReplayed(recording: Recording, response: RawResponse): void {
  const { method, url, body } = recording
  const [path = ''] = url.split('?')
  equal(response.status, expectedStatus(recording), `the status; ${response.text.slice(0, 300)}`)
  ok(response.isComplete && response.fault === null, response.fault ?? 'the answer is cut')
  if (method === 'HEAD') return equal(response.text, '', 'the answer to HEAD has no body')
  if (response.status !== 200) return checkErrorResponse(response, shapeOf(path))
  match(response.headers.get('x-request-id') ?? '', /^req_/, 'an answer names its request')
  if (path === '/v1/models') return checkModels(parse(response))
  if (path.startsWith('/v1/models/')) return equal(parse(response)['id'], path.slice('/v1/models/'.length))
  if (path.endsWith('/count_tokens')) return ok(Number(parse(response)['input_tokens']) > 0, 'a prompt has tokens')
  const isChat = path === '/v1/chat/completions'
  if (body?.['stream'] === true) checkStream(response, isChat, body)
  else checkWhole(parse(response), isChat, body ?? {})
}

const tooLong = [
  /prompt is too long: (?<counted>\d+) tokens > (?<room>\d+) maximum/,
  /maximum context length is (?<room>\d+) tokens\. However, your messages resulted in (?<counted>\d+) tokens/,
]

/** Whether a prompt was refused for its length, in the words and with the numbers that clients act upon. */
export function isTooLong({ status, text }: RawResponse): boolean {
  const { counted, room } = tooLong.map((words) => words.exec(text)?.groups).find((groups) => groups) ?? {}
  return status === 400 && Number(counted) > Number(room)
}

function checkStream(response: RawResponse, isChat: boolean, body: Fields): void {
  match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
  const frames = readFrames(response.text)
  const options = body['stream_options'] as { include_usage?: boolean } | undefined
  if (isChat) checkChatStream(frames, { includeUsage: options?.include_usage === true })
  else checkMessagesStream(frames)
}

function checkWhole(answer: Fields, isChat: boolean, body: Fields): void {
  if (isChat) checkChatAnswer(answer)
  else checkMessagesAnswer(answer)
  equal(answer['model'], body['model'], 'the model is the one that was asked for')
}

function checkModels(list: Fields): void {
  equal(list['object'], 'list')
  const models = list['data'] as readonly Fields[]
  for (const { id, object, type } of models) {
    ok(typeof id === 'string' && id !== '')
    deepEqual([object, type], ['model', 'model'])
  }
  deepEqual([list['first_id'], list['last_id']], [models[0]?.['id'], models.at(-1)?.['id']])
}

function parse({ headers, text }: RawResponse): Fields {
  match(headers.get('content-type') ?? '', /^application\/json/)
  return JSON.parse(text) as Fields
}
