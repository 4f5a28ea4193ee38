import type { FormatSettings } from '../format.ts'
import type { CountProtocol, Protocol } from '../protocol.ts'
import { createEncoder, decodeCount, decodeGeneration, encodeCount } from './decode/decode.ts'
import { ping } from './encode/encode-stream.ts'
import { encodeError, encodeStreamError } from './error.ts'
import { createThinkingSignature } from './thinking-signature.ts'

export type MessagesProtocol = Protocol & { readonly count: CountProtocol }

export function createMessagesProtocol({ signatureKey }: Pick<FormatSettings, 'signatureKey'>): MessagesProtocol {
  const signature = createThinkingSignature(signatureKey)
  return {
    decode(body) {
      const { shape, ...decoded } = decodeGeneration(body, signature)
      return { ...decoded, encoder: createEncoder(shape, signature) }
    },
    decodeShaped: (body) => decodeGeneration(body, signature),
    createEncoder: (shape) => createEncoder(shape, signature),
    count: { decodeShaped: (body) => decodeCount(body, signature), encode: encodeCount },
    encodeError,
    encodeStreamError,
    ping,
  }
}
