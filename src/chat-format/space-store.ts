/** No marker holds as much white space, so no reader that waits behind so much of it is waiting for more. */
const readLengthMax = 512

/**
 * Keeps white space back from a reader that holds its text until it knows what it is.
 *
 * A reader goes through what it holds with each piece, and a model that writes nothing but white space has all of it held: read
 * at once with the text that follows it, it takes as long as it is and not the square of that.
 */
export function createSpaceStore() {
  let kept: string[] = []
  return {
    /** Whether a piece was kept: it decides nothing where `held`, which the reader has not passed on, ends as it does. */
    keeps(held: string, piece: string): boolean {
      if (piece.trim() !== '' || !endsWithSpaces(held)) return false
      kept.push(piece)
      return true
    },
    /** Gives out what was kept. */
    take(): string {
      const text = kept.join('')
      kept = []
      return text
    },
  }
}

function endsWithSpaces(text: string): boolean {
  return text.length >= readLengthMax && text.slice(-readLengthMax).trim() === ''
}
