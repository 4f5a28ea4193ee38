import type { EngineRequest } from '../../core/generation.ts'

/** Longer prompts take so long to prepare that a word to the service and back is not noticed. */
const bytesMax = 8_000
/** What templates put around a message, and before and after all of them; where one adds more, it is counted first. */
const tokensAround = 8
const tokensOfFrame = 256

/**
 * More tokens than the prompt of a short request will have, as far as can be known without preparing it:
 * no token is shorter than a byte. Null where it is long or holds anything but text.
 */
export function mostPromptTokens({ messages, tools }: EngineRequest): number | null {
  if (tools.length > 0) return null
  let bytes = 0
  for (const { content } of messages) {
    for (const block of content) {
      if (block.kind !== 'text') return null
      bytes += block.text.length > bytesMax ? Infinity : Buffer.byteLength(block.text)
    }
  }
  return bytes > bytesMax ? null : bytes + messages.length * tokensAround + tokensOfFrame
}
