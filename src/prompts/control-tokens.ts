// Text from a client must never become a control token: whoever could write
// `<|im_start|>system` into a message would speak with the system's voice. Special
// tokens are therefore found here, in the rendered prompt, and not by the tokenizer;
// those that stand in a client's text are broken with a marker before rendering and
// stay broken. It also keeps the cost in proportion: the native tokenizer takes time
// that grows with the square of the special tokens in a text.

/** Characters that Unicode reserves for a program's own use and no exchanged text may hold. */
const markers = Array.from({ length: 32 }, (_, index) => String.fromCodePoint(0xfdd0 + index))

export type SpecialToken = {
  readonly text: string
  readonly token: number
  /** A client may not write it: it is a control token, or the template gives it a meaning. */
  readonly isReserved: boolean
}

export type PromptPiece =
  | { readonly kind: 'special'; readonly token: number }
  | { readonly kind: 'text'; readonly text: string }

export interface ControlTokens {
  /** A marker that does not occur in `texts`. */
  chooseMarker(texts: readonly string[]): string
  /** Breaks the reserved tokens in a client's text. */
  protect(text: string, marker: string): string
  /** Cuts a rendered prompt at its special tokens and at the markers, which are taken out. */
  split(prompt: string, marker: string): PromptPiece[]
}

export function createControlTokens(tokens: readonly SpecialToken[]): ControlTokens {
  const ids = new Map(tokens.map(({ text, token }) => [text, token]))
  const reserved = toPattern(tokens.filter(({ isReserved }) => isReserved))
  const special = toPattern(tokens)
  return {
    chooseMarker(contents) {
      return markers.find((marker) => !contents.some((text) => text.includes(marker))) ?? '\ufdd0'
    },
    protect(text, marker) {
      if (reserved === null) return text
      return text.replace(reserved, (match) => {
        const [first = ''] = match
        return `${first}${marker}${match.slice(first.length)}`
      })
    },
    split(prompt, marker) {
      const pieces: PromptPiece[] = []
      let end = 0
      const pushText = (text: string) => {
        for (const part of text.split(marker)) if (part !== '') pieces.push({ kind: 'text', text: part })
      }
      for (const match of special === null ? [] : prompt.matchAll(special)) {
        pushText(prompt.slice(end, match.index))
        pieces.push({ kind: 'special', token: ids.get(match[0]) ?? -1 })
        end = match.index + match[0].length
      }
      pushText(prompt.slice(end))
      return pieces
    },
  }
}

/** Matches the longest token that begins at a place. One character alone is no marker. */
function toPattern(tokens: readonly SpecialToken[]): RegExp | null {
  const texts = tokens.map(({ text }) => text).filter((text) => text.length > 1)
  if (texts.length === 0) return null
  return new RegExp(
    texts
      .toSorted((a, b) => b.length - a.length)
      .map(RegExp.escape)
      .join('|'),
    'gu',
  )
}
