import type { Protocol } from '../protocol.ts'
import { decodeCount, decodeGeneration, type DecodedCount } from './decode/decode.ts'
import { ping } from './encode/encode-stream.ts'
import { encodeError, encodeStreamError } from './error.ts'
import { createThinkingSignature } from './thinking-signature.ts'

export type MessagesProtocol = Protocol & {
  /** Decodes the body of a token count: the prompt of a generation request and nothing of its answer. */
  decodeCount(body: unknown): DecodedCount
}

/** The key lets a later turn tell this service's thinking from any other; every replica needs the same one. */
export function createMessagesProtocol({ signatureKey }: { readonly signatureKey: Uint8Array }): MessagesProtocol {
  const signature = createThinkingSignature(signatureKey)
  return {
    decode: (body) => decodeGeneration(body, signature),
    decodeCount: (body) => decodeCount(body, signature),
    encodeError,
    encodeStreamError,
    ping,
  }
}
