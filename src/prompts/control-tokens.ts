// Text from a client must never become a control token: whoever could write
// `<|im_start|>system` into a message would speak with the system's voice. Control
// tokens are therefore found here, in the rendered prompt, and not by the tokenizer;
// those that stand in a client's text are broken with a marker before rendering and
// healed after the prompt has been cut at the real ones.

/** Characters that Unicode reserves for a program's own use and no exchanged text may hold. */
const markers = Array.from({ length: 32 }, (_, index) => String.fromCodePoint(0xfdd0 + index))

export type PromptPiece =
  | { readonly kind: 'control'; readonly token: number }
  | { readonly kind: 'text'; readonly text: string }

export interface ControlTokens {
  /** A marker that does not occur in `texts`. */
  chooseMarker(texts: readonly string[]): string
  protect(text: string, marker: string): string
  /** Cuts a rendered prompt at its control tokens and heals the protected text between them. */
  split(prompt: string, marker: string): PromptPiece[]
}

/** `tokens` maps each control token's text to its id. */
export function createControlTokens(tokens: ReadonlyMap<string, number>): ControlTokens {
  const texts = [...tokens.keys()].filter((text) => text.length > 1).toSorted((a, b) => b.length - a.length)
  const pattern = texts.length === 0 ? null : new RegExp(texts.map(RegExp.escape).join('|'), 'gu')
  return {
    chooseMarker(contents) {
      return markers.find((marker) => !contents.some((text) => text.includes(marker))) ?? '\ufdd0'
    },
    protect(text, marker) {
      if (pattern === null) return text
      return text.replace(pattern, (match) => {
        const [first = ''] = match
        return `${first}${marker}${match.slice(first.length)}`
      })
    },
    split(prompt, marker) {
      const pieces: PromptPiece[] = []
      let end = 0
      const pushText = (text: string) => {
        if (text !== '') pieces.push({ kind: 'text', text: text.replaceAll(marker, '') })
      }
      for (const match of pattern === null ? [] : prompt.matchAll(pattern)) {
        pushText(prompt.slice(end, match.index))
        pieces.push({ kind: 'control', token: tokens.get(match[0]) ?? -1 })
        end = match.index + match[0].length
      }
      pushText(prompt.slice(end))
      return pieces
    },
  }
}
