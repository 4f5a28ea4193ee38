import {
  invalidRequest,
  wordContact,
  type ApiError,
  type ApiErrorCode,
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
import { formatDuration } from '../limit-headers.ts'
import type { EncodedError, SseMessage } from '../protocol.ts'

type ErrorKind = { readonly status: number; readonly type: string; readonly code: string | null }

/** What this format says of a failure. */
export type ErrorDescription = ErrorKind & {
  readonly param: string | null
  readonly message: string
}

const kinds: Readonly<Record<ApiErrorCode, ErrorKind>> = {
  'invalid-request': { status: 400, type: 'invalid_request_error', code: null },
  'unsupported-feature': { status: 400, type: 'invalid_request_error', code: 'unsupported_parameter' },
  'unsupported-encoding': { status: 400, type: 'invalid_request_error', code: 'unsupported_content_encoding' },
  'context-exceeded': { status: 400, type: 'invalid_request_error', code: 'context_length_exceeded' },
  unauthenticated: { status: 401, type: 'invalid_request_error', code: 'invalid_api_key' },
  'permission-denied': { status: 403, type: 'invalid_request_error', code: 'permission_denied' },
  'not-found': { status: 404, type: 'invalid_request_error', code: 'not_found' },
  conflict: { status: 409, type: 'invalid_request_error', code: 'conflict' },
  'model-not-found': { status: 404, type: 'invalid_request_error', code: 'model_not_found' },
  'unsupported-endpoint': { status: 404, type: 'not_found_error', code: 'unsupported_endpoint' },
  'unknown-url': { status: 404, type: 'not_found_error', code: 'unknown_url' },
  'method-not-allowed': { status: 405, type: 'invalid_request_error', code: 'method_not_supported' },
  'request-timeout': { status: 408, type: 'timeout', code: null },
  'request-too-large': { status: 413, type: 'invalid_request_error', code: 'request_too_large' },
  'rate-limited': { status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  'budget-exceeded': { status: 429, type: 'insufficient_quota', code: 'insufficient_quota' },
  'engine-failed': { status: 500, type: 'server_error', code: 'internal_error' },
  internal: { status: 500, type: 'server_error', code: 'internal_error' },
  overloaded: { status: 503, type: 'service_unavailable_error', code: 'server_is_overloaded' },
}

const faultCodes: Readonly<Record<FieldFault, string>> = {
  missing: 'missing_required_parameter',
  type: 'invalid_type',
  value: 'invalid_value',
  'unsupported-field': 'unsupported_parameter',
  'unsupported-value': 'unsupported_value',
}

const featureFields: Readonly<Record<Feature, string>> = {
  tools: 'tools',
  'generic-tools': 'tools',
  'json-output': 'response_format',
  logprobs: 'logprobs',
  'logit-bias': 'logit_bias',
  images: 'messages',
  'output-min': 'min_tokens',
}

/** Clients write the model's name and the answer repeats it; no name on offer is near this long. */
const modelNameLengthMax = 200

/** `messages[2].content` for ['messages', 2, 'content']; null for the body as a whole. */
export function formatPath(path: ErrorPath | null): string | null {
  if (path === null || path.length === 0) return null
  return path.map((key, position) => (typeof key === 'number' ? `[${key}]` : position === 0 ? key : `.${key}`)).join('')
}

export function wordFault(path: ErrorPath, fault: FieldFault, text: string): string {
  const field = formatPath(path)
  if (field === null) return 'The request body must be a JSON object.'
  const reason = text.replace(/^(Invalid (input|option)|Too (small|big)):? ?/, '').replace(/\.$/, '')
  const ending = reason === '' ? '.' : `: ${reason}.`
  switch (fault) {
    case 'missing':
      return `Missing required parameter: '${field}'.`
    case 'type':
      return `Invalid type for '${field}'${ending}`
    case 'value':
      return `Invalid value for '${field}'${ending}`
    case 'unsupported-field':
      return `Unsupported parameter: '${field}'${ending}`
    case 'unsupported-value':
      return `Unsupported value for '${field}'${ending}`
  }
}

export function fieldError(path: ErrorPath, fault: FieldFault, text: string): ApiError {
  return invalidRequest(path, fault, wordFault(path, fault, text))
}

export function encodeError(error: ApiError, requestId: RequestId): EncodedError {
  const { status, message, type, param, code } = describeError(error, requestId)
  return { status, headers: errorHeaders(error), body: { error: { message, type, param, code } } }
}

/** No event name: clients of this format tell an error by its key alone. */
export function encodeStreamError(error: ApiError, requestId: RequestId): SseMessage {
  const { message, type, param, code } = describeError(error, requestId)
  const streamCode = code === 'internal_error' ? 'stream_error' : code
  return { data: JSON.stringify({ error: { message, type, param, code: streamCode } }) }
}

export function describeError(error: ApiError, requestId: RequestId): ErrorDescription {
  const { reason } = error
  const { status, type, code } = kinds[reason.code]
  return {
    status,
    type,
    code: reason.code === 'invalid-request' && reason.fault !== null ? faultCodes[reason.fault] : code,
    param: describeParam(reason),
    message: describeMessage(error, requestId) + wordContact(reason),
  }
}

function describeParam(reason: ApiErrorReason): string | null {
  switch (reason.code) {
    case 'invalid-request':
      return formatPath(reason.path)
    case 'unsupported-feature':
      return formatPath(reason.path) ?? featureFields[reason.feature]
    case 'context-exceeded':
      return 'messages'
    case 'model-not-found':
      return 'model'
    default:
      return null
  }
}

function describeMessage({ reason, message }: ApiError, requestId: RequestId): string {
  switch (reason.code) {
    case 'unsupported-feature':
      if (reason.feature === 'images') return 'this model accepts text only'
      return `'${describeParam(reason)}' is not supported with this model.`
    case 'context-exceeded':
      return wordContext(reason.inputTokens, reason.windowTokens)
    case 'unauthenticated':
      return wordKey(reason.key)
    case 'model-not-found':
      return wordModel(reason.model, reason.available)
    case 'request-too-large':
      return `Request body too large (limit ${reason.bytesMax} bytes).`
    case 'rate-limited':
      return reason.exceeded === undefined ? message : wordLimit(reason.exceeded, reason.retryAfterMs)
    // A message from deep inside may speak of engines and hosts, so it is not repeated.
    case 'engine-failed':
    case 'internal':
      return `The server failed to complete the request (request id ${requestId}).`
    default:
      return message
  }
}

/** Agents look for phrases of this sentence before they shorten a conversation; they must not change. */
function wordContext(inputTokens: number, windowTokens: number): string {
  const cause = inputTokens === windowTokens ? ', which leaves no room for an answer' : ''
  return (
    `This model's maximum context length is ${windowTokens} tokens. However, your messages resulted in ` +
    `${inputTokens} tokens${cause}. Please reduce the length of the messages.`
  )
}

const unitNames = { requests: 'requests', 'input-tokens': 'input tokens', 'output-tokens': 'output tokens' } as const

function wordLimit({ kind, model, limit, remaining, requested }: ExceededLimit, retryAfterMs: number): string {
  const used = limit - remaining
  const advice = Number.isFinite(retryAfterMs)
    ? `Please try again in ${formatDuration(retryAfterMs)}.`
    : 'It is more than the limit ever allows at once.'
  return (
    `Rate limit reached for ${model}: limit ${limit} ${unitNames[kind]}/min, ` +
    `used ${used}, requested ${requested}. ${advice}`
  )
}

function wordKey(key: RefusedKey | null): string {
  if (key === null) return 'Missing API key: send Authorization: Bearer <key> or x-api-key'
  return `Incorrect API key provided: ${key.masked.includes('*') ? key.masked : '***'}.`
}

function wordModel(model: string, available: readonly string[]): string {
  const name = model.slice(0, modelNameLengthMax)
  const suggestion = suggestModel(model, available)
  return (
    `The model \`${name}\` does not exist or you do not have access to it. ` +
    `Available models: ${available.join(', ')}.${suggestion === null ? '' : ` In its place use ${suggestion}.`}`
  )
}
