// What can be said of the length of a prompt that somebody else makes into tokens: bounds by its bytes, and how much of it
// begins like another one. Tokens of ordinary text have between three and six bytes.

import type { EngineRequest } from '../../../core/generation.ts'

const bytesLeast = 3
const bytesMost = 6
/** What templates put around a message, and around all of them. */
const tokensAround = 8
const tokensOfFrame = 32

/** More tokens than a prompt will have, if it is ordinary text: what is reserved for it until the server has counted. */
export function estimateMost({ messages, tools, output }: EngineRequest): number {
  const bytes = Buffer.byteLength(JSON.stringify([messages, tools, output]))
  return Math.ceil(bytes / bytesLeast) + messages.length * tokensAround + tokensOfFrame
}

/** Fewer tokens than it will have: what a request is charged whose server never says what it has counted. */
export function estimateLeast({ messages }: EngineRequest): number {
  let bytes = 0
  for (const { content } of messages)
    for (const block of content) if (block.kind === 'text') bytes += Buffer.byteLength(block.text)
  return Math.max(1, Math.floor(bytes / bytesMost))
}

/** The text of a prompt in words of four bytes, which stand for its tokens where it is placed: two that begin alike do so here. */
export function wordsOf({ messages, tools }: EngineRequest): Uint32Array {
  const bytes = Buffer.from(JSON.stringify(tools) + JSON.stringify(messages))
  const words = new Uint32Array(Math.floor(bytes.length / 4))
  for (let at = 0; at < words.length; at++) words[at] = bytes.readUInt32LE(at * 4)
  return words
}
