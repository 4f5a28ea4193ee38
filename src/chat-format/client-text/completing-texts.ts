import { tokenize } from '@huggingface/jinja'

/**
 * What a client could write between two texts of the template to make a token of the three.
 *
 * A template that writes `'<' + key + '>'` would make `<think>` of a parameter named `think`,
 * though neither side wrote the token. All are in lower case: a filter may change the case.
 */
export function findCompletingTexts(tokens: readonly string[], templateSource: string): ReadonlySet<string> {
  const literals = literalsOf(templateSource)
  const isOpening = touches(literals, { reach: 'end' })
  const isClosing = touches(literals, { reach: 'start' })
  return new Set(
    tokens.flatMap((token) => {
      const cuts = Array.from({ length: Math.max(0, token.length - 1) }, (_, index) => index + 1)
      const ends = cuts.filter((cut) => isClosing(token.slice(cut)))
      const starts = ends.length === 0 ? [] : cuts.filter((cut) => isOpening(token.slice(0, cut)))
      return starts.flatMap((start) =>
        ends.filter((end) => end > start).map((end) => token.slice(start, end).toLowerCase()),
      )
    }),
  )
}

/** What a template writes on its own account, in pieces as they stand in its source. */
function literalsOf(templateSource: string): string[] {
  const lexed: readonly { readonly type: string; readonly value: string }[] = tokenize(templateSource, {
    lstrip_blocks: true,
    trim_blocks: true,
  })
  return lexed
    .filter(({ type }) => type === 'Text' || type === 'StringLiteral')
    .flatMap(({ value }) => [value, value.trim()])
    .filter((value) => value !== '')
}

/** Whether a text is the end (or start) of a literal, or ends (or starts) with a whole one. */
function touches(literals: readonly string[], { reach }: { readonly reach: 'start' | 'end' }) {
  const whole = new Set(literals)
  const parts = new Set<string>()
  const edge = (text: string, length: number) => (reach === 'end' ? text.slice(-length) : text.slice(0, length))
  for (const literal of literals) {
    for (let length = 1; length <= Math.min(literal.length, tokenLengthMax); length++) parts.add(edge(literal, length))
  }
  return (text: string) => {
    if (parts.has(text)) return true
    for (let length = 1; length <= text.length; length++) if (whole.has(edge(text, length))) return true
    return false
  }
}

/** No control token of a known model is longer than 50 characters. */
const tokenLengthMax = 128
