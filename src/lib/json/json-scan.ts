export type JsonScanLimits = { readonly depthMax: number; readonly tokensMax: number }

const quote = 0x22
const backslash = 0x5c

/**
 * Looks over JSON bytes before they are parsed and says what is too much, or null.
 *
 * One linear pass that skips strings: a parser spends up to 190 ms on a megabyte
 * of brackets, this pass gives up on it at once. It does not check the syntax.
 */
export function scanJson(bytes: Buffer, { depthMax, tokensMax }: JsonScanLimits): 'depth' | 'tokens' | null {
  let depth = 0
  let tokens = 0
  for (let index = 0; index < bytes.length; index++) {
    switch (bytes[index]) {
      case quote:
        index = endOfString(bytes, index + 1)
        break
      case 0x7b: // {
      case 0x5b: // [
        depth += 1
        tokens += 1
        if (depth > depthMax) return 'depth'
        break
      case 0x7d: // }
      case 0x5d: // ]
        depth -= 1
        break
      case 0x2c: // ,
      case 0x3a: // :
        tokens += 1
        break
      default:
        break
    }
    if (tokens > tokensMax) return 'tokens'
  }
  return null
}

/** Index of the quote that ends a string; the native search makes long texts cheap. */
function endOfString(bytes: Buffer, start: number): number {
  const end = bytes.indexOf(quote, start)
  if (end === -1) return bytes.length
  if (bytes[end - 1] !== backslash) return end
  // A search costs as much as a hundred bytes, and such a string may have a quote in every second one.
  for (let index = start; index < bytes.length; index++) {
    if (bytes[index] === backslash) index += 1
    else if (bytes[index] === quote) return index
  }
  return bytes.length
}
