import { deepEqual, equal, match, ok } from 'node:assert/strict'
import type { RawResponse } from '../response-reader.ts'
import type { Frame } from '../sse-frames.ts'

export type Shape = 'chat' | 'messages' | 'shared'

type Fields = Readonly<Record<string, unknown>>

/** Whose error body a path answers with. */
export function shapeOf(path: string): Shape {
  const [bare = ''] = path.split('?')
  if (bare === '/v1/messages' || bare.startsWith('/v1/messages/')) return 'messages'
  return bare.startsWith('/v1/chat/') ? 'chat' : 'shared'
}

/** Every pair of status and type that a client may meet; clients of both formats choose by these. */
const typesByStatus: Readonly<Record<number, Readonly<Record<Shape, readonly string[]>>>> = {
  400: same('invalid_request_error'),
  401: {
    chat: ['invalid_request_error'],
    messages: ['authentication_error'],
    shared: ['authentication_error', 'invalid_request_error'],
  },
  404: {
    chat: ['invalid_request_error', 'not_found_error'],
    messages: ['not_found_error'],
    shared: ['not_found_error'],
  },
  405: same('invalid_request_error'),
  408: { chat: ['timeout'], messages: ['timeout_error'], shared: ['timeout_error', 'timeout'] },
  413: {
    chat: ['invalid_request_error'],
    messages: ['request_too_large'],
    shared: ['request_too_large', 'invalid_request_error'],
  },
  417: same('invalid_request_error'),
  429: same('rate_limit_error'),
  431: same('invalid_request_error'),
  500: { chat: ['server_error'], messages: ['api_error'], shared: ['api_error'] },
  503: { chat: ['service_unavailable_error'], messages: [], shared: ['overloaded_error', 'service_unavailable_error'] },
  529: { chat: [], messages: ['overloaded_error'], shared: [] },
}

/** A body need not say more than this; one that does repeats what the client sent. */
const bodyLengthMax = 2_048

/** Throws unless an answer is an error in the form of its path. */
export function checkErrorResponse(response: RawResponse, shape: Shape): void {
  equal(response.fault, null, response.fault ?? '')
  ok(response.isComplete, 'an error is whole')
  const { status } = response
  ok(status !== null && status >= 400, `${status} is no error`)
  match(response.headers.get('content-type') ?? '', /^application\/json/, 'an error is JSON')
  const requestId = response.headers.get('x-request-id') ?? ''
  match(requestId, /^req_[0-9A-Za-z]{20,}$/, 'an error names its request')
  equal(response.headers.get('request-id'), requestId, 'both headers name the same request')
  ok(response.text !== '', `the body of a ${status} is empty`)
  ok(response.text.length <= bodyLengthMax, `the body has ${response.text.length} characters`)
  const body = toFields(JSON.parse(response.text))
  if (shape !== 'chat') equal(body['request_id'], requestId, 'the body names the same request')
  const type = checkErrorBody(body, shape)
  const types = typesByStatus[status]?.[shape] ?? []
  ok(types.includes(type), `${type} is no type of a ${status}`)
  if (status < 500 && status !== 408 && status !== 429) {
    equal(response.headers.get('x-should-retry'), 'false', `a ${status} is not to be sent again`)
  }
}

/** Throws unless a body is an error of this shape. Returns its type. */
export function checkErrorBody(body: Fields, shape: Shape): string {
  const error = toFields(body['error'])
  ok(typeof error['message'] === 'string' && error['message'] !== '', 'an error has a message')
  ok(typeof error['type'] === 'string' && error['type'] !== '', 'an error has a type')
  if (shape === 'messages') {
    deepEqual(keysOf(body), ['error', 'request_id', 'type'])
    deepEqual(keysOf(error), 'details' in error ? ['details', 'message', 'type'] : ['message', 'type'])
    if ('details' in error) equal(typeof toFields(error['details'])['error_code'], 'string')
  } else {
    deepEqual(keysOf(body), shape === 'chat' ? ['error'] : ['error', 'request_id', 'type'])
    deepEqual(keysOf(error), ['code', 'message', 'param', 'type'])
    for (const key of ['param', 'code']) ok(error[key] === null || typeof error[key] === 'string', `${key} is text`)
  }
  if (shape !== 'chat') equal(body['type'], 'error')
  return error['type']
}

/** Throws unless a broken stream says so: one error at its end, no terminator, and the connection cut. */
export function checkBrokenStream(response: RawResponse, frames: readonly Frame[], shape: Shape): void {
  ok(!response.isComplete, 'a broken stream is cut')
  equal(response.fault, null, response.fault ?? '')
  ok(response.text.endsWith('\n\n'), 'the last frame is whole')
  const last = frames.at(-1)
  ok(last !== undefined, 'a broken stream says why')
  equal(last.event, shape === 'messages' ? 'error' : undefined, 'the event name of an error')
  checkErrorBody(toFields(JSON.parse(last.data)), shape)
  for (const { event, data } of frames.slice(0, -1)) {
    ok(data !== '[DONE]' && event !== 'message_stop', 'a broken stream has no terminator')
    ok(event !== 'error' && !data.startsWith('{"error"'), 'a stream has one error')
  }
}

function same(type: string): Readonly<Record<Shape, readonly string[]>> {
  return { chat: [type], messages: [type], shared: [type] }
}

function keysOf(fields: Fields): string[] {
  return Object.keys(fields).sort()
}

function toFields(value: unknown): Fields {
  ok(typeof value === 'object' && value !== null && !Array.isArray(value), 'an object is expected')
  return value as Fields
}
