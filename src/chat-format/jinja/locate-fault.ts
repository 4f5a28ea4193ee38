/** A part of a parsed template. */
export type Node = { readonly type: string; readonly [part: string]: unknown }

/** More words would only find a place that fewer do not. */
const wordsMax = 8

/** How far words of one expression may stand apart; the nearest that are found count. */
const gapsMax = [4, 16, 80]

/**
 * The line of a template in which a part of it stands, counted from one.
 *
 * The parsed template knows no places, so its words are looked for in the source, one near the other.
 * Null where they are not found.
 */
export function locateFault(source: string, node: Node | null): number | null {
  if (node === null) return null
  const words = wordsOf(node).slice(0, wordsMax)
  if (words.length === 0) return null
  const spelled = words.map((word) => (/^\w+$/u.test(word) ? `\\b${word}\\b` : RegExp.escape(word)))
  for (const gap of gapsMax) {
    const found = new RegExp(spelled.join(`[^]{0,${gap}}?`), 'u').exec(source)
    if (found !== null) return source.slice(0, found.index).split('\n').length
  }
  return null
}

/** Names and texts in the order in which they are written. */
function wordsOf(part: unknown): string[] {
  if (Array.isArray(part)) return part.flatMap(wordsOf)
  if (part instanceof Map) return [...part].flatMap(wordsOf)
  if (typeof part !== 'object' || part === null) return []
  const { type, value } = part as Node
  if (type === 'Identifier' || type === 'StringLiteral') {
    // An escape stands otherwise in the source than in the text.
    return String(value)
      .split(/["'\\\n\t]/u)
      .filter((word) => word.trim() !== '')
  }
  const { operator: _, type: __, ...parts } = part as Node
  return Object.values(parts).flatMap(wordsOf)
}
