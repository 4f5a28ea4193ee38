import type { ReplicaFault } from '../dialect.ts'

/** A prompt that a server refuses for its length: its tokens, and those of the window; null where it does not say. */
export type WindowFault = { readonly inputTokens: number | null; readonly windowTokens: number | null }

const windowNumbers = [/n_ctx\\?":\s*(\d+)/u, /context (?:length|size|window)\D{0,24}?(\d+)/iu]
const inputNumbers = [
  /n_prompt_tokens\\?":\s*(\d+)/u,
  /(\d+) (?:tokens )?(?:in|from) the (?:input )?messages/iu,
  /contains (?:at least )?(\d+) input tokens/iu,
  /(?:input|request|prompt) \((\d+) tokens\)/iu,
]

/** Reads in a server's own words that a prompt, or the answer asked for with it, does not fit. Nothing but the numbers is kept. */
export function readWindowFault({ kind, cause }: ReplicaFault): WindowFault | null {
  if (kind !== 'rejected' || typeof cause !== 'string') return null
  if (!/context (?:length|size|window)|n_ctx|exceed_context/iu.test(cause)) return null
  return { inputTokens: numberIn(cause, inputNumbers), windowTokens: numberIn(cause, windowNumbers) }
}

function numberIn(text: string, patterns: readonly RegExp[]): number | null {
  for (const pattern of patterns) {
    const found = pattern.exec(text)?.[1]
    if (found !== undefined) return Number(found)
  }
  return null
}
