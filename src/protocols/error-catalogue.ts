// What every error means to whoever gets one: for the documentation, which is made of this table and of what the formats
// really answer.

import {
  ApiError,
  type ApiErrorCode,
  type ApiErrorReason,
  type ErrorDetail,
  type ErrorPath,
  type FieldFault,
} from '../core/error.ts'
import { modelIdsByStrength } from '../core/model.ts'
import * as chatCompletions from './chat-completions/error.ts'
import * as messages from './messages/error.ts'
import type { EncodedError } from './protocol.ts'

/** Who can mend it: who sent the request, who runs the service, or nobody by an act of theirs, since it passes. */
export type ErrorFault = 'caller' | 'operator' | 'load'

export type ErrorExplanation = {
  readonly title: string
  readonly meaning: string
  /** What to do. */
  readonly advice: string
  readonly fault: ErrorFault
  readonly examples: readonly ErrorExample[]
}

type Said = {
  readonly reason: ApiErrorReason
  /** What the service says where the format has no words of its own. */
  readonly text: string
}

/** An error as it comes about in each format; null where that never says it. */
export type ErrorExample = { readonly chatCompletions: Said | null; readonly messages: Said | null }

/** An error as it is explained, with what both formats answer. */
export type CataloguedError = Omit<ErrorExplanation, 'examples'> & {
  readonly code: ApiErrorCode
  /** `wait` obeys `retry-after`, `pause` is at the client's choice. */
  readonly retry: 'no' | 'wait' | 'pause'
  /** Of all that the formats say, in the order of the examples. */
  readonly examples: readonly {
    readonly chatCompletions: EncodedExample | null
    readonly messages: EncodedExample | null
  }[]
}

type EncodedExample = EncodedError & {
  /** In a stream that has begun the status is 200, and this is its last event. */
  readonly inStream: string
}

const path = ['messages', 0, 'content'] as const
const plain = (reason: ApiErrorReason, text: string): ErrorExample => {
  return { chatCompletions: { reason, text }, messages: { reason, text } }
}
const apart = (chatCompletions: Said | null, messages: Said | null): ErrorExample => ({ chatCompletions, messages })
const field = (where: ErrorPath, fault: FieldFault, text: string, detail?: ErrorDetail): Said => {
  return { reason: { code: 'invalid-request', path: where, fault, ...(detail !== undefined && { detail }) }, text }
}
const limited = { kind: 'input-tokens', model: 'clarke-1.0', limit: 1_000_000, remaining: 2_000 } as const

export const errorExplanations: Readonly<Record<ApiErrorCode, ErrorExplanation>> = {
  'invalid-request': {
    title: 'The request is not valid',
    meaning: 'A field is missing, has a wrong type or value, or is not known; or the body is not JSON.',
    advice: 'Correct the field that the message names.',
    fault: 'caller',
    examples: [
      plain({ code: 'invalid-request', path: ['messages'], fault: 'missing' }, 'Field required'),
      apart(
        field(path, 'type', 'expected a string or an array of content parts'),
        field(path, 'type', 'Input should be a string or an array of content blocks'),
      ),
      apart(
        field(['temperature'], 'value', 'expected number to be <=2'),
        field(['temperature'], 'value', 'Input should be less than or equal to 1'),
      ),
      apart(
        field(['grammar'], 'unsupported-field', 'this service does not offer it'),
        field(['mcp_servers'], 'unsupported-field', 'this service does not call other servers'),
      ),
      apart(
        field(['modalities', 1], 'unsupported-value', 'expected "text"'),
        field(['inference_geo'], 'unsupported-value', 'this service cannot pin a request to a region'),
      ),
      plain(
        { code: 'invalid-request', path: null, fault: null, detail: 'invalid-json' },
        'The body is not valid JSON.',
      ),
      apart(
        null,
        field(
          ['thread'],
          'unsupported-field',
          'conversations are not stored here; send the whole conversation',
          'thread-unsupported',
        ),
      ),
      apart(
        field(
          ['tools', 1, 'function', 'name'],
          'value',
          'the name look_up is used more than once',
          'tool-name-conflict',
        ),
        field(['tools', 1, 'name'], 'value', 'Tool names must be unique', 'tool-name-conflict'),
      ),
    ],
  },
  'unsupported-feature': {
    title: 'The model cannot do this',
    meaning: 'The request needs something that the model that was asked lacks, such as looking at images.',
    advice: 'Leave the field out, or ask a model whose capabilities in `GET /v1/models` have it.',
    fault: 'caller',
    examples: [
      apart(
        { reason: { code: 'unsupported-feature', feature: 'images', path: [...path, 0, 'image_url'] }, text: '' },
        { reason: { code: 'unsupported-feature', feature: 'images', path: [...path, 0, 'image'] }, text: '' },
      ),
    ],
  },
  'unsupported-encoding': {
    title: 'The body is packed in a way that is not read',
    meaning: 'The header `content-encoding` names something that the service does not unpack.',
    advice: 'Send the body unpacked, or with gzip.',
    fault: 'caller',
    examples: [
      plain({ code: 'unsupported-encoding' }, 'The content encoding is not supported; send the body plain or as gzip.'),
    ],
  },
  'context-exceeded': {
    title: 'The prompt is too long',
    meaning: "The prompt does not fit into the model's window.",
    advice: 'Shorten the conversation, or take a model with a larger window.',
    fault: 'caller',
    examples: [plain({ code: 'context-exceeded', inputTokens: 131_072, windowTokens: 125_000 }, '')],
  },
  unauthenticated: {
    title: 'There is no valid key',
    meaning: 'The request has no key, or one that is wrong, expired, disabled or revoked.',
    advice: 'Send a valid key as `Authorization: Bearer` or `x-api-key`.',
    fault: 'caller',
    examples: [
      plain({ code: 'unauthenticated', key: null }, ''),
      plain({ code: 'unauthenticated', key: { masked: 'sk-od***9fQ', header: 'x-api-key' } }, ''),
    ],
  },
  'permission-denied': {
    title: 'The key may not do this',
    meaning: 'The key is confined to other models, paths or addresses.',
    advice: 'Use another key, or have the administrator of your organization change what this one may do.',
    fault: 'caller',
    examples: [plain({ code: 'permission-denied' }, 'This API key may not use the model hal-1.0.')],
  },
  'not-found': {
    title: 'There is nothing with this id',
    meaning: 'What was asked for by its id is not there, or belongs to somebody else.',
    advice: 'Look the id up again.',
    fault: 'caller',
    examples: [plain({ code: 'not-found' }, 'There is no such thing.')],
  },
  conflict: {
    title: 'It does not go together with what is there',
    meaning: 'The change contradicts what is there, for instance since somebody else has changed it meanwhile.',
    advice: 'Read it again and decide anew.',
    fault: 'caller',
    examples: [plain({ code: 'conflict' }, 'There is a role with this name already.')],
  },
  'model-not-found': {
    title: 'There is no such model',
    meaning: 'The name is none of a model that the key may use. Names are exact.',
    advice: 'Use one of those that the message lists. For a model of another vendor it says which takes its place.',
    fault: 'caller',
    examples: [plain({ code: 'model-not-found', model: 'gpt-4o', available: modelIdsByStrength }, '')],
  },
  'unsupported-endpoint': {
    title: 'This path of the format is not offered',
    meaning: 'Others offer it in this format; this service does not.',
    advice: 'Do as the message says.',
    fault: 'caller',
    examples: [
      apart(
        {
          reason: { code: 'unsupported-endpoint' },
          text: 'Completions are not stored, so there is none to ask for.',
        },
        {
          reason: { code: 'unsupported-endpoint' },
          text: 'Message batches are not offered; send the requests to POST /v1/messages.',
        },
      ),
    ],
  },
  'unknown-url': {
    title: 'There is nothing at this address',
    meaning: 'The path is not known, most often since the base address has a `/v1` too many or too few.',
    advice: 'Set the base address as the message says.',
    fault: 'caller',
    examples: [
      plain(
        { code: 'unknown-url' },
        'There is nothing at this address. Chat-completions clients use the base address with /v1, messages clients ' +
          'the one without.',
      ),
    ],
  },
  'method-not-allowed': {
    title: 'The path takes another method',
    meaning: 'The path exists, but not for this method; the header `allow` lists those there are.',
    advice: 'Generation is asked for with `POST`.',
    fault: 'caller',
    examples: [plain({ code: 'method-not-allowed', allowed: ['POST'] }, 'GET is not possible here; use POST.')],
  },
  'request-timeout': {
    title: 'The request arrived too slowly',
    meaning: 'The request was not there in the time that it may take to arrive, or came slower than is waited for.',
    advice: 'Send it again after a pause.',
    fault: 'load',
    examples: [plain({ code: 'request-timeout' }, 'The request body arrived too slowly.')],
  },
  'request-too-large': {
    title: 'The request is too large',
    meaning: 'The body has more bytes than are taken, as it comes or once it is unpacked.',
    advice: 'Send less.',
    fault: 'caller',
    examples: [
      plain({ code: 'request-too-large', bytesMax: 33_554_432, isUnpacked: false }, ''),
      plain({ code: 'request-too-large', bytesMax: 33_554_432, isUnpacked: true }, ''),
    ],
  },
  'rate-limited': {
    title: 'A limit is reached',
    meaning: 'A limit per minute or of requests at the same time has no room for this request.',
    advice:
      'Wait as long as `retry-after` says. Where `x-should-retry` is `false` the request is too large for the limit.',
    fault: 'caller',
    examples: [
      plain({ code: 'rate-limited', retryAfterMs: 4_200, exceeded: { ...limited, requested: 70_000 } }, ''),
      plain(
        {
          code: 'rate-limited',
          retryAfterMs: Number.POSITIVE_INFINITY,
          exceeded: { ...limited, requested: 1_200_000 },
        },
        '',
      ),
      plain(
        { code: 'rate-limited', retryAfterMs: 1_000 },
        'The limit of requests under way, 4, is reached. Please retry when one has ended.',
      ),
    ],
  },
  'budget-exceeded': {
    title: 'The budget is spent',
    meaning: 'What may be spent in this period is spent. The next period begins with a new budget.',
    advice: 'Have an administrator raise the budget, or wait for the next period. Trying again does not help.',
    fault: 'caller',
    examples: [
      plain(
        { code: 'budget-exceeded' },
        'The monthly budget of this API key is used up, or too little is left of it for this request. The next one ' +
          'begins at 2026-12-01T00:00:00Z.',
      ),
    ],
  },
  'engine-failed': {
    title: 'The model has failed',
    meaning:
      'The engine that answers for the model has ended or failed in the midst of the request. It is started anew.',
    advice: 'Send the request again after a pause; tell the operator its id if it happens again.',
    fault: 'operator',
    examples: [plain({ code: 'engine-failed' }, 'The model stopped unexpectedly. Please try again.')],
  },
  internal: {
    title: 'The service has failed',
    meaning: "An error in the service. The operator's log has it under the request's id.",
    advice: 'Send the request again after a pause; tell the operator its id if it happens again.',
    fault: 'operator',
    examples: [plain({ code: 'internal' }, 'The server had an internal error.')],
  },
  overloaded: {
    title: 'The service is full',
    meaning: 'More requests wait than the service lets wait, it is about to stop, or its models are not loaded.',
    advice: 'Wait as long as `retry-after` says.',
    fault: 'load',
    examples: [
      plain({ code: 'overloaded', retryAfterMs: 2_000 }, 'The model is at capacity. Please try again shortly.'),
    ],
  },
}

const requestId = 'req_01EXAMPLE'

/** Every error that there is, in the order of the codes, with what the formats answer. */
export function readErrorCatalogue(): readonly CataloguedError[] {
  return Object.entries(errorExplanations).map(([code, { examples, ...explanation }]) => {
    const encoded = examples.map(encodeExample)
    return { code: code as ApiErrorCode, ...explanation, retry: adviceOf(encoded[0]?.messages), examples: encoded }
  })
}

function encodeExample(example: ErrorExample): CataloguedError['examples'][number] {
  return {
    chatCompletions: example.chatCompletions === null ? null : encodeSaid(example.chatCompletions, chatCompletions),
    messages: example.messages === null ? null : encodeSaid(example.messages, messages),
  }
}

type Wording = Pick<typeof messages, 'wordFault' | 'encodeError' | 'encodeStreamError'>

/** Each format words a wrong field in its own way, as it does when it reads a request. */
function encodeSaid({ reason, text }: Said, { wordFault, encodeError, encodeStreamError }: Wording): EncodedExample {
  const isField = reason.code === 'invalid-request' && reason.path !== null && reason.fault !== null
  const error = new ApiError(reason, isField ? wordFault(reason.path, reason.fault, text) : text)
  return { ...encodeError(error, requestId), inStream: encodeStreamError(error, requestId).data }
}

function adviceOf(encoded: EncodedError | null | undefined): CataloguedError['retry'] {
  if (encoded?.headers['x-should-retry'] === 'false') return 'no'
  return encoded?.headers['retry-after'] === undefined ? 'pause' : 'wait'
}
