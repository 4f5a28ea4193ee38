/** Words that stand in every section and say of none what it is about. */
const smallWords = new Set(
  'a an and are at be by can do does for from how i in is it me my of on or our the to we what where with you your'.split(
    ' ',
  ),
)

/** A stem of three letters at least, with a vowel among its first ones, and a common ending. */
const ending = /^((?:[aeiouy].|[^aeiouy]+[aeiouy])..*?)(?:ings?|ions?|ed|ers?|es|s|e)$/

/**
 * What the forms of an English word have in common: of streaming, streams and streamed it is stream. Null for a word that
 * says nothing.
 *
 * It is compared with nothing but other stems, so it need be no word.
 */
export function stemOf(word: string): string | null {
  const lower = word.toLowerCase()
  if (smallWords.has(lower)) return null
  const stem = ending.exec(lower)?.[1] ?? lower
  return stem.replace(/([^aeiouy])\1$/, '$1').replace(/(?<=[^aeiouy])y$/, 'i')
}
