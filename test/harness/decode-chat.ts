import type { GenerationRequest } from '../../src/core/generation.ts'
import { createChatCompletionsProtocol } from '../../src/protocols/chat-completions/chat-completions-format.ts'

export const chatCompletions = createChatCompletionsProtocol({ readFingerprint: () => 'fp_test' })

/** What a chat completion is decoded to that says hello, with whatever fields a test wants besides. */
export function decodeChat(fields: Record<string, unknown>): GenerationRequest {
  return chatCompletions.decode({
    model: 'clarke-1.0',
    messages: [{ role: 'user', content: 'Hi' }],
    ...fields,
  }).request
}
