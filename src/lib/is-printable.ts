/**
 * These characters show nothing, or change how those around them are shown: controls, those that turn the direction of
 * writing around (U+061C, U+200E to U+202E, U+2066 to U+2069), separators of lines, fillers and other invisible ones,
 * and what is no character at all: half a surrogate pair, a code point that never will be one, and U+FFFD, which stands
 * where one was lost on the way. The blank braille pattern is a space in all but name.
 */
const unprintable =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\ufffd]/u

/**
 * What some scripts and emoji cannot be written without. A joiner counts only between characters that it joins, a
 * selector only after a character that has two shapes; anywhere else they are invisible.
 */
const joined =
  /(?<=[\p{Script=Arabic}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])[\u200c\u200d](?=[\p{L}\p{Extended_Pictographic}])|(?<=[\p{Extended_Pictographic}\d#*])\ufe0f/gu

/** Tells whether a text looks like what it is, on a page as on a terminal: nothing in it is invisible or moves the rest. */
export function isPrintable(text: string): boolean {
  return !unprintable.test(text.replace(joined, ''))
}
