import type { Protocol } from '../protocol.ts'
import {
  createCount,
  createEncoder,
  decodeCount,
  decodeGeneration,
  type DecodedCount,
  type ShapedCount,
} from './decode/decode.ts'
import { ping } from './encode/encode-stream.ts'
import { encodeError, encodeStreamError } from './error.ts'
import { createThinkingSignature } from './thinking-signature.ts'

export type MessagesProtocol = Protocol & {
  /** Decodes the body of a token count: the prompt of a generation request and nothing of its answer. */
  decodeCount(body: unknown): DecodedCount
  /** The first half of `decodeCount`, for another thread. */
  decodeShapedCount(body: unknown): ShapedCount
  createCount(shaped: ShapedCount): DecodedCount
}

/** The key lets a later turn tell this service's thinking from any other; every replica needs the same one. */
export function createMessagesProtocol({ signatureKey }: { readonly signatureKey: Uint8Array }): MessagesProtocol {
  const signature = createThinkingSignature(signatureKey)
  return {
    decode(body) {
      const { shape, ...decoded } = decodeGeneration(body, signature)
      return { ...decoded, encoder: createEncoder(shape, signature) }
    },
    decodeShaped: (body) => decodeGeneration(body, signature),
    createEncoder: (shape) => createEncoder(shape, signature),
    decodeCount: (body) => createCount(decodeCount(body, signature)),
    decodeShapedCount: (body) => decodeCount(body, signature),
    createCount,
    encodeError,
    encodeStreamError,
    ping,
  }
}
