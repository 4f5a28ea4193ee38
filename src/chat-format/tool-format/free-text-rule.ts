/** GBNF for any text up to and including a marker, so that a grammar cannot run past it. */
export function textThrough(marker: string): string {
  const first = marker[0] ?? ''
  // A marker that repeats its first character would need a larger automaton; its beginning forbids enough.
  const repeat = marker.indexOf(first, 1)
  const stop = [...(repeat === -1 ? marker : marker.slice(0, repeat))]
  const rest = repeat === -1 ? '' : marker.slice(repeat)
  const [head = '', ...tail] = stop
  const begin = `${except([head])}* ${quoted(head)}`
  // After the first character: either it comes again, or the marker goes on and then breaks off.
  const again = tail.map((_, index) => `${quoted(tail.slice(0, index).join(''))} ${quoted(head)}`)
  const broken = tail.map((next, index) => `${quoted(tail.slice(0, index).join(''))} ${except([next, head])}`)
  const end = quoted(tail.join('') + rest)
  if (tail.length === 0) return `${begin} ${end}`
  return `${begin} (${again.join(' | ')})* ((${broken.join(' | ')}) ${begin} (${again.join(' | ')})*)* ${end}`
}

function quoted(text: string): string {
  return `"${Array.from(text, escapeCharacter).join('')}"`
}

function except(characters: readonly string[]): string {
  return `[^${[...new Set(characters)].map(escapeCharacter).join('')}]`
}

/** Everything but plain letters is written by its number, which needs no quoting anywhere in a grammar. */
function escapeCharacter(character: string): string {
  if (/[A-Za-z0-9]/u.test(character)) return character
  const code = character.codePointAt(0) ?? 0
  const hex = code.toString(16).toUpperCase()
  if (code < 0x100) return `\\x${hex.padStart(2, '0')}`
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}
