/** One field of what stands after the question mark. */
export type Field<Value> = {
  readonly fallback: Value
  /** Undefined for a text that means nothing here. */
  read(text: string): Value | undefined
  write(value: Value): string
}

export const text = (fallback = ''): Field<string> => ({
  fallback,
  read: (given) => given.slice(0, 500),
  write: (value) => value,
})

export const oneOf = <const Value extends string>(values: readonly Value[], fallback: Value): Field<Value> => ({
  fallback,
  read: (given) => values.find((value) => value === given),
  write: (value) => value,
})

export const flag: Field<boolean> = {
  fallback: false,
  read: (given) => (given === '1' ? true : given === '0' ? false : undefined),
  write: (value) => (value ? '1' : '0'),
}

/** A text of some form as it stands; the empty text is none. */
export function textThat(isKept: (given: string) => boolean): Field<string> {
  return { fallback: '', read: (given) => (isKept(given) ? given : undefined), write: (value) => value }
}

/** Of a year that calendars and the service count alike. */
function isDate(given: string): boolean {
  return /^(?!9999)[2-9]\d{3}-/.test(given) && !Number.isNaN(Date.parse(given))
}

/** A day as ISO writes it. */
export const day = textThat((given) => /^\d{4}-\d{2}-\d{2}$/.test(given) && isDate(given))

/** A day, or an instant of UTC to the minute or finer. */
export const moment = textThat(
  (given) => /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z)?$/.test(given) && isDate(given),
)

/** A whole number as text. */
export const wholeNumber = textThat((given) => /^\d{1,12}$/.test(given))

type Fields = Readonly<Record<string, Field<never>>>
export type StateOf<Given> = {
  readonly [Name in keyof Given]: Given[Name] extends Field<infer Value> ? Value : never
}

export type SearchCodec<State> = {
  /** What cannot be read falls back, and is named, so that the page can say so. */
  read(search: string): { readonly state: State; readonly unread: readonly string[] }
  /** Only what differs from the fallback is written, in the order of the fields. */
  write(state: State): string
}

/** Reads and writes a page's state in the address, so that a link shows what its sender saw. */
export function searchCodec<const Given extends Readonly<Record<string, unknown>>>(
  given: Given,
): SearchCodec<StateOf<Given>> {
  const fields = given as unknown as Fields
  return {
    read(search) {
      const parameters = new URLSearchParams(search)
      const unread: string[] = []
      const state = Object.fromEntries(
        Object.entries(fields).map(([name, field]) => {
          const found = parameters.get(name)
          const value = found === null ? field.fallback : (field.read(found) as unknown)
          if (value === undefined) unread.push(name)
          return [name, value ?? field.fallback]
        }),
      )
      return { state: state as StateOf<Given>, unread }
    },
    write(state) {
      const parameters = new URLSearchParams()
      for (const [name, field] of Object.entries(fields)) {
        const value = (state as Readonly<Record<string, unknown>>)[name] as never
        if (value !== field.fallback) parameters.set(name, field.write(value))
      }
      const written = parameters.toString()
      return written === '' ? '' : `?${written}`
    },
  }
}
