type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown

/** What the language has and TypeScript's library does not know yet. */
const json = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown
  rawJSON(text: string): object
}

/** Only such a number may be another than a double holds, or be written in another way. */
const mayBeChanged = /\d{16}|\.0{6}|\.\d*0(?!\d)|\d[eE]|-0(?!\d)/

/**
 * What a JSON text says, with numbers that `JSON.stringify` writes as they stood, however many digits they have.
 *
 * A number that would be changed becomes an object (`JSON.rawJSON`) that can be written and nothing else. Throws for a text that
 * is no JSON.
 */
export function parseKeepingNumbers(text: string): unknown {
  if (!mayBeChanged.test(text)) return JSON.parse(text) as unknown
  return json.parse(text, (_, value, { source }) => {
    const isKept = typeof value !== 'number' || source === undefined || String(value) === source
    return isKept ? value : json.rawJSON(source)
  })
}
