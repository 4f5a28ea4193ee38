/** What may be shown after a piece of text, and the stop sequence that was met, if any. */
export type StopMatch = { readonly text: string; readonly matched: string | null }

/**
 * Watches a stream of text for stop sequences.
 *
 * Text that may turn out to be the beginning of one is held back until it is
 * decided, so no part of a stop sequence ever leaks. After a match nothing
 * more is shown.
 */
export function createStopMatcher(sequences: readonly string[], includesSequence: boolean) {
  let held = ''

  function feed(text: string): StopMatch {
    held += text
    const found = earliest(held, sequences)
    if (found !== null) {
      const end = includesSequence ? found.index + found.sequence.length : found.index
      const shown = held.slice(0, end)
      held = ''
      return { text: shown, matched: found.sequence }
    }
    const keep = longestOpenPrefix(held, sequences)
    const shown = held.slice(0, held.length - keep)
    held = held.slice(held.length - keep)
    return { text: shown, matched: null }
  }

  /** The held text, once nothing more can complete it. */
  function flush(): string {
    const text = held
    held = ''
    return text
  }

  return { feed, flush }
}

/** The match that begins first; of several at one place, the longest. */
function earliest(text: string, sequences: readonly string[]): { index: number; sequence: string } | null {
  let best: { index: number; sequence: string } | null = null
  for (const sequence of sequences) {
    const index = text.indexOf(sequence)
    if (index === -1) continue
    if (best === null || index < best.index || (index === best.index && sequence.length > best.sequence.length)) {
      best = { index, sequence }
    }
  }
  return best
}

/** Length of the longest end of `text` that begins some sequence. */
function longestOpenPrefix(text: string, sequences: readonly string[]): number {
  let longest = 0
  for (const sequence of sequences) {
    for (let length = Math.min(sequence.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(sequence.slice(0, length))) longest = length
    }
  }
  return longest
}
