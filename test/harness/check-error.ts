import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import type { Answer, Format } from './http/ask.ts'

/** `shared` is the body of routes that belong to neither format. */
export type ErrorShape = Format | 'shared'

export type ExpectedError = {
  readonly status: number
  readonly type: string
  readonly message?: string | RegExp
  /** Not in the messages shape. */
  readonly code?: string | null
  readonly param?: string | null
  /** Only in the messages shape. */
  readonly details?: Readonly<Record<string, unknown>>
  /** The exact `x-should-retry`; null where there must be none. */
  readonly shouldRetry?: 'true' | 'false' | null
}

type Fields = Readonly<Record<string, unknown>>

/** Checks an error answer as a whole: status, headers, envelope, and whatever is expected of its fields. */
export function checkError(answer: Answer, shape: ErrorShape, expected: ExpectedError): void {
  equal(answer.status, expected.status, answer.text)
  const requestId = checkHeaders(answer)
  const body = answer.json()
  const error = body['error'] as Fields
  const message = error['message']
  ok(typeof message === 'string' && message !== '', 'an error says something')
  if (shape === 'chat') deepEqual(Object.keys(body), ['error'])
  else {
    deepEqual(Object.keys(body).sort(), ['error', 'request_id', 'type'])
    deepEqual([body['type'], body['request_id']], ['error', requestId])
  }
  if (shape === 'messages') {
    const keys = expected.details === undefined ? ['message', 'type'] : ['details', 'message', 'type']
    deepEqual(Object.keys(error).sort(), keys)
    deepEqual(error['details'], expected.details)
  } else {
    deepEqual(Object.keys(error).sort(), ['code', 'message', 'param', 'type'])
    for (const key of ['code', 'param']) ok(error[key] === null || typeof error[key] === 'string', key)
    if (expected.code !== undefined) equal(error['code'], expected.code)
    if (expected.param !== undefined) equal(error['param'], expected.param)
  }
  equal(error['type'], expected.type)
  if (typeof expected.message === 'string') equal(message, expected.message)
  else if (expected.message !== undefined) match(message, expected.message)
  if (expected.shouldRetry !== undefined) equal(answer.headers.get('x-should-retry'), expected.shouldRetry)
}

/** The headers that every error carries. Returns the request's id. */
function checkHeaders({ status, headers }: Answer): string {
  match(headers.get('content-type') ?? '', /^application\/json(;|$)/)
  const requestId = headers.get('request-id') ?? ''
  match(requestId, /^req_[A-Za-z0-9_-]{24,}$/)
  equal(headers.get('x-request-id'), requestId)
  equal(headers.get('location'), null)
  equal(headers.get('www-authenticate'), status === 401 ? 'Bearer' : null)
  notEqual(headers.get('allow'), status === 405 ? null : '')
  const mustNotRetry = status === 401 || status === 404
  if (mustNotRetry) equal(headers.get('x-should-retry'), 'false')
  const mayPass = status === 429 || status === 503 || status === 529
  if (mayPass) {
    equal(headers.get('x-should-retry'), 'true')
    match(headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  } else equal(headers.get('retry-after'), null)
  return requestId
}
