// Every answer is the same text: the asker finds its beginning and counts its tokens by these words.

// Each is one token of the placeholder's vocabulary.
export const firstWord = ' first'
export const nextWord = ' word'

/** The tokens of one tick, each a piece of text of its own. */
export function wordsOf({ tokens, isFirst }: { readonly tokens: number; readonly isFirst: boolean }): string[] {
  return Array.from({ length: tokens }, (_, index) => (isFirst && index === 0 ? firstWord : nextWord))
}

/** What both mocks say that a prompt holds. */
export function promptTokensOf(bytes: number): number {
  return Math.ceil(bytes / 4)
}
