export class PatternError extends Error {
  override readonly name: string = 'PatternError'
}

/** A pattern that was not read because it is not in a notation known here; nothing is wrong with its size. */
export class UnreadablePattern extends PatternError {
  override readonly name = 'UnreadablePattern'
}

export type PatternReader = ReturnType<typeof createPatternReader>

/** Walks through the source of a pattern. */
export function createPatternReader(source: string) {
  let position = 0

  function isDone(): boolean {
    return position >= source.length
  }

  function isAt(text: string): boolean {
    return source.startsWith(text, position)
  }

  function take(text: string): boolean {
    const found = isAt(text)
    if (found) position += text.length
    return found
  }

  /** Passes over what a sticky expression matches here. The expressions given are our own, and linear. */
  function takeMatch(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = position
    const match = expression.exec(source)
    if (match !== null) position += match[0].length
    return match
  }

  /** The next character, a surrogate pair as one. */
  function next(): string {
    const point = source.codePointAt(position)
    if (point === undefined) throw error('it ends too early')
    const character = String.fromCodePoint(point)
    position += character.length
    return character
  }

  function expect(text: string): void {
    if (!take(text)) throw error(`expected "${text}"`)
  }

  function error(reason: string): PatternError {
    return new UnreadablePattern(word(reason))
  }

  function tooLarge(reason: string): PatternError {
    return new PatternError(word(reason))
  }

  function word(reason: string): string {
    return `unsupported pattern: ${reason}, at character ${position + 1}`
  }

  return { isDone, isAt, take, takeMatch, next, expect, error, tooLarge }
}
