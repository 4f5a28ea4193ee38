import type { Generation } from '../core/collect.ts'
import type { ApiError } from '../core/error.ts'
import type { Attribution, GenerationEvent, GenerationRequest } from '../core/generation.ts'
import type { RequestId } from '../core/ids.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** One server-sent event; `event` is absent where the format names no events. */
export type SseMessage = { readonly event?: string; readonly data: string }

/** The fields that every answer says about itself. `model` is the id the client asked for. */
export type AnswerMeta = { readonly requestId: RequestId; readonly model: string; readonly createdAtMs: number }

/** Encodes the answers to one request; it remembers what the request said about its answer's shape. */
export interface AnswerEncoder {
  /**
   * Frames for the events, the success terminator included. A failure of
   * `events` is thrown on: the caller writes `encodeStreamError` and cuts the
   * connection, so a broken stream never looks complete.
   */
  encodeStream(events: AsyncIterable<GenerationEvent>, meta: AnswerMeta): AsyncGenerator<SseMessage>
  /** `answers` holds one, or as many as the request asked for. */
  encodeAnswer(answers: readonly Generation[], meta: AnswerMeta): Json
}

export type DecodedRequest = {
  readonly request: GenerationRequest
  readonly attribution: Attribution
  readonly isStream: boolean
  readonly encoder: AnswerEncoder
}

/** A request that was decoded, with what it says about its answer's shape: plain values, which may come from another thread. */
export type ShapedRequest = {
  readonly request: GenerationRequest
  readonly isStream: boolean
  /** For `createEncoder` of the same format. */
  readonly shape: unknown
  readonly attribution: Attribution
}

/** A token count that was decoded: plain values, which may come from another thread. */
export type ShapedCount = { readonly request: GenerationRequest; readonly shape: unknown }

/** The part of a format that asks for the length of a prompt alone. */
export interface CountProtocol {
  decodeShaped(body: unknown): ShapedCount
  encode(inputTokens: number, shape: unknown): Json
}

export type EncodedError = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
}

/** A wire format. Both generation routes are one function over this interface. */
export interface Protocol {
  /** Throws an ApiError (`invalid-request` and its kin) that names the field. */
  decode(body: unknown): DecodedRequest
  /** The first half of `decode`, for another thread. */
  decodeShaped(body: unknown): ShapedRequest
  /** The second half, for the same format's `shape`. */
  createEncoder(shape: unknown): AnswerEncoder
  /** Null where the format knows no counts. */
  readonly count: CountProtocol | null
  encodeError(error: ApiError, requestId: RequestId): EncodedError
  /** The in-band form of an error, for a stream whose status line is already out. */
  encodeStreamError(error: ApiError, requestId: RequestId): SseMessage
  /** Sent when a started stream has been silent; null where the format uses a comment. */
  readonly ping: SseMessage | null
}
