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
  const followers = sequences.map((sequence) => new SequenceFollower(sequence))
  let held = ''

  function feed(text: string): StopMatch {
    const heldBefore = held.length
    held += text
    const found = earliest(followers, text)
    if (found !== null) {
      const start = heldBefore + found.start
      return { text: take(includesSequence ? start + found.sequence.length : start), matched: found.sequence }
    }
    const open = Math.max(0, ...followers.map(({ openLength }) => openLength))
    const shown = held.slice(0, held.length - open)
    held = held.slice(held.length - open)
    return { text: shown, matched: null }
  }

  /** The held text, once nothing more can complete it. */
  function flush(): string {
    return take(held.length)
  }

  /** Begins anew with the next piece. */
  function take(length: number): string {
    const text = held.slice(0, length)
    held = ''
    for (const follower of followers) follower.reset()
    return text
  }

  return { feed, flush }
}

/** Where it begins from the piece that completes it: before that where it came in several. */
type Completed = { readonly sequence: string; readonly start: number }

/** The match that begins first; of several at one place, the longest. */
function earliest(followers: readonly SequenceFollower[], text: string): Completed | null {
  const completed = followers.flatMap((follower): Completed[] => {
    const end = follower.feed(text)
    const { sequence } = follower
    return end === null ? [] : [{ sequence, start: end - sequence.length }]
  })
  const [first = null] = completed.toSorted(
    (one, other) => one.start - other.start || other.sequence.length - one.sequence.length,
  )
  return first
}

/**
 * Follows one sequence through a stream, as Knuth, Morris and Pratt do: what was read is never read again, so that a character
 * costs the same whatever the sequence and the text are.
 */
class SequenceFollower {
  readonly sequence: string
  /** For every beginning of the sequence, how long the longest shorter one is that it ends with. */
  readonly #shorter: Uint32Array
  #length = 0

  constructor(sequence: string) {
    this.sequence = sequence
    this.#shorter = new Uint32Array(sequence.length + 1)
    for (let length = 2, open = 0; length <= sequence.length; length++) {
      open = this.#advance(open, sequence.charCodeAt(length - 1))
      this.#shorter[length] = open
    }
  }

  /** How much of the sequence the text ends with. */
  get openLength(): number {
    return this.#length
  }

  /** Returns where in a piece the sequence ends for the first time, null while it has not. */
  feed(text: string): number | null {
    for (let index = 0; index < text.length; index++) {
      this.#length = this.#advance(this.#length, text.charCodeAt(index))
      if (this.#length === this.sequence.length) return index + 1
    }
    return null
  }

  reset(): void {
    this.#length = 0
  }

  /** How much of the sequence is there after one more character, where so much of it was. */
  #advance(length: number, character: number): number {
    let open = length
    while (open > 0 && this.sequence.charCodeAt(open) !== character) open = this.#shorter[open] ?? 0
    return this.sequence.charCodeAt(open) === character ? open + 1 : open
  }
}
