import type { MessagesProtocol } from '../../protocols/messages/messages-protocol.ts'
import type { Protocol } from '../../protocols/protocol.ts'

/** What decodes bodies, here and in a thread of its own. */
export type Decoders = {
  readonly chatCompletions: Pick<Protocol, 'decodeShaped'>
  readonly messages: Pick<MessagesProtocol, 'decodeShaped' | 'decodeShapedCount'>
}

/** What a body is decoded as, and what becomes of it. */
export type Decodings = {
  readonly 'chat-completions': ReturnType<Protocol['decodeShaped']>
  readonly messages: ReturnType<Protocol['decodeShaped']>
  readonly count: ReturnType<MessagesProtocol['decodeShapedCount']>
}

export type BodyKind = keyof Decodings

export function decodeBody({ chatCompletions, messages }: Decoders, kind: BodyKind, value: unknown) {
  switch (kind) {
    case 'chat-completions':
      return chatCompletions.decodeShaped(value)
    case 'messages':
      return messages.decodeShaped(value)
    case 'count':
      return messages.decodeShapedCount(value)
  }
}
