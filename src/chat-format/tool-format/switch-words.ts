/** Behind it stands which character is to be spelled as an escape. No text needs it: it is spelled as one itself. */
const mark = '\u0003'

/** What a template looks for in a text: `'x' in text`, `text.split('x')` and their like. */
const searches = [
  /(["'])((?:(?!\1).)+)\1\s+(?:not\s+)?in\b/gu,
  /\.(?:replace|split|find|index|count|startswith|endswith)\(\s*(["'])((?:(?!\1).)+)\1/gu,
]

/** Words of letters alone are looked for in what has keys, and stand in too many texts. */
const isSwitch = (word: string) => /[^\w\s.-]/u.test(word)

export type SwitchWords = {
  /** Marks a text of a tool where it has such a word, before it becomes a part of JSON. */
  mark(text: string): string
  /** Spells what is marked in a text with JSON as JSON's escapes: a reader of it has the text as it was. */
  spell(text: string): string
}

/**
 * Words in the system text by which a template is told something, such as `/think`. Where they stand in the description
 * of a tool (`#/$defs/think`) nobody wants to tell it anything, and it might take them out.
 */
export function findSwitchWords(templateSource: string): SwitchWords {
  const found = searches.flatMap((search) => [...templateSource.matchAll(search)].flatMap(([, , word]) => word ?? []))
  const words = [mark, ...new Set(found.filter(isSwitch))]
  return {
    mark: (text) => words.reduce((marked, word) => marked.replaceAll(word, markAll(word)), text),
    spell: (text) => text.replace(/\\u0003([\da-f]{4})/gu, String.raw`\u$1`),
  }
}

function markAll(word: string): string {
  return word.replace(/[^]/g, (unit) => mark + unit.charCodeAt(0).toString(16).padStart(4, '0'))
}
