import type { EngineRequest, Message } from '../../core/generation.ts'

/** A text up to this length is made into tokens in a few milliseconds, between two steps of the engine. */
const shortCharactersMax = 8_000

/**
 * Whether the engine child can prepare a request itself without holding up the answers it decodes. A pattern of a few
 * characters may take 30 ms to be made into a grammar, or to be found too large for one.
 */
export function isShort({ messages, tools, output }: EngineRequest): boolean {
  const isLong = charactersOf([messages, tools, output], shortCharactersMax) > shortCharactersMax
  return !isLong && !hasPattern([tools, output])
}

function hasPattern(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const members = Object.entries(value)
  return members.some(([name, member]) => isPattern(name, member) || hasPattern(member))
}

function isPattern(name: string, value: unknown): boolean {
  return name === 'patternProperties' || (name === 'pattern' && typeof value === 'string')
}

/** The characters of everything that a prompt is made of. */
export function promptCharacters({ messages, tools }: Pick<EngineRequest, 'messages' | 'tools'>): number {
  return charactersOf([messages, tools])
}

/** The characters of all text in a value, names included; no more of them are looked at than it takes to pass `most`. */
export function charactersOf(value: unknown, most = Infinity): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 1
  if (ArrayBuffer.isView(value)) return value.byteLength
  let characters = 0
  for (const name of Object.keys(value)) {
    if (!Array.isArray(value)) characters += name.length
    characters += charactersOf((value as Record<string, unknown>)[name], most - characters)
    if (characters > most) break
  }
  return characters
}

/**
 * The tokens that a prompt has at the least, by the bytes of its text alone.
 *
 * Thinking is left out, because most templates leave it out, and so is white space around a text.
 */
export function leastPromptTokens({ messages }: EngineRequest, tokenBytesMax: number): number {
  let bytes = 0
  for (const { content } of messages) for (const block of content) bytes += bytesOfBlock(block)
  return Math.ceil(bytes / tokenBytesMax)
}

function bytesOfBlock(block: Message['content'][number]): number {
  if (block.kind === 'text') return Buffer.byteLength(block.text.trim())
  if (block.kind !== 'tool-result') return 0
  return block.content.reduce((sum, part) => sum + (part.kind === 'text' ? Buffer.byteLength(part.text.trim()) : 0), 0)
}

/** Longer prompts take long enough to prepare that a word to the service and back is not noticed. */
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
