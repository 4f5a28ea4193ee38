import { ApiError, type ApiErrorCode, type ApiErrorReason } from '../../core/error.ts'
import { modelIds } from '../../core/model.ts'
import type { OpenFormat } from '../../protocols/format.ts'
import type { EncodedError } from '../../protocols/protocol.ts'
import { encodeProblem, problemKinds } from '../api/problem.ts'

export const errorCataloguePath = '/api/v1/errors.json'

type Explained = {
  readonly means: string
  readonly whose: 'yours' | 'the operator’s' | 'ours'
  readonly retry: 'no' | 'after a while' | 'after a change'
  readonly todo: string
}
type Entry = Explained & { readonly sample: ApiErrorReason; readonly message?: string }

const whenFull = 'Wait as long as retry-after says, then twice as long each time, with a little chance in it.'

/** Every failure that a caller may see, with an instance of it: what is shown of each is written by the code that answers. */
const entries: Readonly<Record<ApiErrorCode, Entry>> = {
  'invalid-request': {
    means: 'A field is missing, of another type, or has a value that makes no sense.',
    whose: 'yours',
    retry: 'after a change',
    todo: 'Change the field that is named. Nothing was computed.',
    sample: { code: 'invalid-request', path: ['temperature'], fault: 'type' },
    message: 'temperature must be a number.',
  },
  'unsupported-feature': {
    means: 'The request needs what the weights of this model cannot do.',
    whose: 'yours',
    retry: 'after a change',
    todo: 'Leave the field out or ask another model; GET /v1/models lists what each can do.',
    sample: { code: 'unsupported-feature', feature: 'images', path: ['messages', 0, 'content', 0] },
  },
  'unsupported-encoding': {
    means: 'The body is packed in a way that is not known here.',
    whose: 'yours',
    retry: 'after a change',
    todo: 'Send it as it is, or packed by gzip, deflate, br or zstd.',
    sample: { code: 'unsupported-encoding' },
    message: 'This content encoding is not known.',
  },
  'context-exceeded': {
    means: 'The prompt is longer than the model’s window. Nothing is ever cut off in silence.',
    whose: 'yours',
    retry: 'after a change',
    todo: 'Shorten the conversation, or ask a model with a larger window. The numbers are exact.',
    sample: { code: 'context-exceeded', inputTokens: 126_113, windowTokens: 125_000 },
  },
  unauthenticated: {
    means: 'There is no key, or one that is not valid: mistyped, ended, disabled or revoked.',
    whose: 'yours',
    retry: 'no',
    todo: 'Send the key in Authorization: Bearer or in x-api-key. Many wrong ones from one address are answered slower.',
    sample: { code: 'unauthenticated', key: { masked: 'sk-ody-***x8ee', header: 'authorization' } },
  },
  'permission-denied': {
    means: 'The key is valid and may not do this: another model, format, address or permission.',
    whose: 'yours',
    retry: 'no',
    todo: 'Ask who made the key for one with wider rules.',
    sample: { code: 'permission-denied' },
    message: 'This key may not use this model.',
  },
  'not-found': {
    means: 'What the id names is not there, or belongs to somebody else: both are answered alike.',
    whose: 'yours',
    retry: 'no',
    todo: 'Look the id up in a list.',
    sample: { code: 'not-found' },
    message: 'There is no such thing.',
  },
  conflict: {
    means: 'What was asked for does not go together with what is there, or somebody changed it at the same moment.',
    whose: 'yours',
    retry: 'after a change',
    todo: 'Read it again, then decide.',
    sample: { code: 'conflict' },
    message: 'This Idempotency-Key was given to another request.',
  },
  'model-not-found': {
    means: 'There is no model of this name, or the key may not use it.',
    whose: 'yours',
    retry: 'after a change',
    todo: 'Choose one of the models that are listed; /docs/migrate says which stands for a name from elsewhere.',
    sample: { code: 'model-not-found', model: 'gpt-nine', available: modelIds },
  },
  'unsupported-endpoint': {
    means: 'Others offer this path, and this service does not.',
    whose: 'yours',
    retry: 'no',
    todo: 'The message names the way on.',
    sample: { code: 'unsupported-endpoint' },
    message: 'Embeddings are not offered by this service.',
  },
  'unknown-url': {
    means: 'There is nothing at this address. Mostly the base address has one /v1 too many or too few.',
    whose: 'yours',
    retry: 'no',
    todo: 'Chat-completions clients use the base address with /v1, messages clients the one without.',
    sample: { code: 'unknown-url' },
    message: 'There is nothing at this address.',
  },
  'method-not-allowed': {
    means: 'The address is there, and takes another method.',
    whose: 'yours',
    retry: 'no',
    todo: 'The header allow names the methods.',
    sample: { code: 'method-not-allowed', allowed: ['POST'] },
    message: 'GET is not possible here; use POST.',
  },
  'request-timeout': {
    means: 'The body came too slowly.',
    whose: 'yours',
    retry: 'after a while',
    todo: 'Send it again over a better line.',
    sample: { code: 'request-timeout' },
    message: 'The body of the request came too slowly.',
  },
  'request-too-large': {
    means: 'The body is larger than what is taken, packed or unpacked.',
    whose: 'yours',
    retry: 'after a change',
    todo: 'Send less. The message says how much is taken.',
    sample: { code: 'request-too-large', bytesMax: 33_554_432, isUnpacked: false },
    message: 'The request is too large.',
  },
  'rate-limited': {
    means: 'A limit of requests or of tokens a minute is reached, or as many requests run as may at a time.',
    whose: 'yours',
    retry: 'after a while',
    todo: `${whenFull} The limit headers of every answer say what is left.`,
    sample: {
      code: 'rate-limited',
      retryAfterMs: 7_000,
      exceeded: { kind: 'input-tokens', model: modelIds[0], limit: 40_000, remaining: 1_200, requested: 4_800 },
    },
    message: 'The limit is reached.',
  },
  'budget-exceeded': {
    means: 'A budget with a hard stop is spent.',
    whose: 'the operator’s',
    retry: 'no',
    todo: 'Wait for the next period, or ask for more. The message says when it begins.',
    sample: { code: 'budget-exceeded' },
    message: 'The budget of this month is spent.',
  },
  overloaded: {
    means: 'All slots are taken and enough wait, the model is being loaded, or the service is about to stop.',
    whose: 'ours',
    retry: 'after a while',
    todo: whenFull,
    sample: { code: 'overloaded', retryAfterMs: 3_000 },
    message: 'The service is busy.',
  },
  'engine-failed': {
    means: 'What computes answers failed. A stream that had begun ends with an error event and a cut connection.',
    whose: 'ours',
    retry: 'after a while',
    todo: 'Send it again. If it stays, give the operator the request id.',
    sample: { code: 'engine-failed' },
    message: '',
  },
  internal: {
    means: 'Something failed that should not.',
    whose: 'ours',
    retry: 'after a while',
    todo: 'Send it again. If it stays, give the operator the request id.',
    sample: { code: 'internal' },
    message: '',
  },
}

const requestId = 'req_brPxwmjGdwhr0Xu2B6xb597A'

export type ErrorCatalogue = { readonly errors: readonly CataloguedError[] }
export type CataloguedError = Explained & {
  readonly code: string
  readonly title: string
  /** By format, and as the management API tells it. */
  readonly shapes: readonly (Pick<EncodedError, 'status' | 'body' | 'headers'> & { readonly format: string })[]
}

/** Lists every error with what it means, and how each wire format and the management API tell it. */
export function describeErrors(formats: readonly OpenFormat[]): ErrorCatalogue {
  const errors = Object.entries(entries).map(([code, { sample, message = '', ...explained }]): CataloguedError => {
    const error = new ApiError(sample, message)
    const told = formats.map(({ name, protocol }) => ({ format: name, ...protocol.encodeError(error, requestId) }))
    const shapes = [...told, { format: 'management API', ...encodeProblem(error, requestId) }]
    return { code, title: problemKinds[code as ApiErrorCode].title, ...explained, shapes }
  })
  return { errors }
}
