import {
  invalidRequest,
  wordContact,
  type ApiError,
  type ApiErrorReason,
  type ErrorPath,
  type FieldFault,
  type RefusedKey,
} from '../../core/error.ts'
import type { Feature } from '../../core/feature.ts'
import type { RequestId } from '../../core/ids.ts'
import type { ExceededLimit } from '../../core/limit.ts'
import { suggestModel } from '../../core/model-equivalents.ts'
import { errorHeaders } from '../error-headers.ts'
import type { EncodedError, Json, SseMessage } from '../protocol.ts'
import { toFrame } from './encode/encode-stream.ts'

export function encodeError(error: ApiError, requestId: RequestId): EncodedError {
  const { status } = kinds[error.code]
  return { status, headers: errorHeaders(error), body: { type: 'error', ...encodeFields(error, requestId) } }
}

export function encodeStreamError(error: ApiError, requestId: RequestId): SseMessage {
  return toFrame('error', encodeFields(error, requestId))
}

function encodeFields({ reason, message }: ApiError, requestId: RequestId): { readonly [key: string]: Json } {
  const details = encodeDetails(reason)
  const text = wordReason(reason, message) + wordContact(reason)
  return {
    error: { type: kinds[reason.code].type, message: text, ...(details !== null && { details }) },
    request_id: requestId,
  }
}

type Kind = { readonly status: number; readonly type: string }

const invalid: Kind = { status: 400, type: 'invalid_request_error' }
const notFound: Kind = { status: 404, type: 'not_found_error' }
const failed: Kind = { status: 500, type: 'api_error' }

const kinds: Readonly<Record<ApiErrorReason['code'], Kind>> = {
  'invalid-request': invalid,
  'unsupported-feature': invalid,
  'unsupported-encoding': invalid,
  'context-exceeded': invalid,
  unauthenticated: { status: 401, type: 'authentication_error' },
  'permission-denied': { status: 403, type: 'permission_error' },
  'not-found': notFound,
  conflict: { status: 409, type: 'invalid_request_error' },
  'model-not-found': notFound,
  'unsupported-endpoint': notFound,
  'unknown-url': notFound,
  'method-not-allowed': { status: 405, type: 'invalid_request_error' },
  'request-timeout': { status: 408, type: 'timeout_error' },
  'request-too-large': { status: 413, type: 'request_too_large' },
  'rate-limited': { status: 429, type: 'rate_limit_error' },
  'budget-exceeded': { status: 429, type: 'rate_limit_error' },
  overloaded: { status: 529, type: 'overloaded_error' },
  'engine-failed': failed,
  internal: failed,
}

/** Only codes that client libraries know: they choose the class of an error by them. */
function encodeDetails(reason: ApiErrorReason): Json {
  if (reason.code === 'unsupported-encoding') return { error_code: 'request_body_encoding_unsupported' }
  if (reason.code === 'request-too-large' && reason.isUnpacked) {
    return { error_code: 'request_body_too_large_after_decoding' }
  }
  if (reason.code === 'budget-exceeded') return { error_code: 'enforced_spend_limit_reached' }
  if (reason.code !== 'invalid-request') return null
  if (reason.detail === 'thread-unsupported')
    return { error_code: 'thread_unsupported_request', unsupported: ['thread'] }
  return reason.detail === 'tool-name-conflict' ? { error_code: 'tool_name_conflict' } : null
}

/** Agents act on some of these words: they compact at the first, choose another model at the second, drop an image at the third. */
function wordReason(reason: ApiErrorReason, message: string): string {
  switch (reason.code) {
    case 'context-exceeded':
      // One token of the window is left to the answer.
      return `prompt is too long: ${reason.inputTokens} tokens > ${reason.windowTokens - 1} maximum`
    case 'model-not-found':
      return wordModel(reason.model, reason.available)
    case 'unsupported-feature':
      return wordFeature(reason.feature, reason.path)
    case 'unauthenticated':
      return wordKey(reason.key)
    case 'request-too-large':
      return 'Request exceeds the maximum size'
    case 'rate-limited':
      return reason.exceeded === undefined ? message : wordLimit(reason.exceeded)
    case 'method-not-allowed':
      return `Method not allowed. Use ${reason.allowed.join(', ')}.`
    case 'engine-failed':
    case 'internal':
      return 'Internal server error'
    default:
      return message
  }
}

const unitNames = { requests: 'requests', 'input-tokens': 'input tokens', 'output-tokens': 'output tokens' } as const

function wordLimit({ kind, limit }: ExceededLimit): string {
  const number = limit.toLocaleString('en-US')
  return `This request would exceed your rate limit of ${number} ${unitNames[kind]} per minute.`
}

function wordModel(model: string, available: readonly string[]): string {
  const suggestion = suggestModel(model, available)
  const advice = suggestion === null ? '' : `; in its place use ${suggestion}`
  return `model: ${shorten(model)} (available models: ${available.join(', ')}${advice})`
}

function wordKey(key: RefusedKey | null): string {
  if (key === null) return 'Missing API key: send Authorization: Bearer <key> or x-api-key'
  return key.header === 'x-api-key' ? 'invalid x-api-key' : 'Invalid bearer token'
}

function wordFeature(feature: Feature, path: ErrorPath | null): string {
  const refused = 'not supported by this model'
  switch (feature) {
    case 'images':
      return wordFault(
        path ?? ['messages'],
        'unsupported-value',
        'Could not process image: this model accepts text only',
      )
    case 'tools':
      return wordFault(path ?? ['tools'], 'unsupported-field', `tools are ${refused}`)
    case 'json-output':
      return wordFault(path ?? ['output_config', 'format'], 'unsupported-field', `structured output is ${refused}`)
    default:
      // The format has no field that asks for any other feature.
      return path === null ? `The request needs a feature ${refused}.` : wordFault(path, 'unsupported-field', refused)
  }
}

/** Words a fault the way this format does: the dotted path of the field, then what is wrong with it. */
export function wordFault(path: ErrorPath, _fault: FieldFault, text: string): string {
  if (path.length === 0) return 'The request body must be a JSON object.'
  return `${writePath(path, text)}: ${text}`
}

/** The error for a field whose shape is right and whose meaning is not. */
export function fieldError(path: ErrorPath, fault: FieldFault, text: string): ApiError {
  return invalidRequest(path, fault, wordFault(path, fault, text))
}

/** The words for a tagged object whose `type` is none of those known; `wordFault` then names the object. */
export function wordUnknownTag(tag: unknown, expected: readonly string[]): string {
  // Not by its own conversion to a string: a client's object may bring a `toString` that is none.
  const found = shorten(typeof tag === 'string' ? tag : (JSON.stringify(tag) ?? 'nothing'))
  return `${unknownTagStart}'${found}' found using 'type' does not match any of the expected tags: ${listTags(expected)}`
}

export function listTags(tags: readonly string[]): string {
  return tags.map((tag) => `'${tag}'`).join(', ')
}

/** Text of the client's that an error quotes; a long one would only hide the rest of the message. */
export function shorten(text: string): string {
  return text.length <= quotedCharactersMax ? text : `${text.slice(0, quotedCharactersMax).toWellFormed()}...`
}

const quotedCharactersMax = 100
const unknownTagStart = 'Input tag '

function writePath(path: ErrorPath, text: string): string {
  const named = path.at(-1) === 'type' && text.startsWith(unknownTagStart) ? path.slice(0, -1) : path
  // Agents recognise a rejected tool schema by this spelling of its path.
  if (named[0] === 'tools' && named[2] === 'input_schema') return named.toSpliced(2, 0, 'custom').join('.')
  return named.join('.')
}
