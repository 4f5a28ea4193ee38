/**
 * Whether an SPDX expression, such as `(MIT OR GPL-2.0-only) AND ISC`, can be kept with these licences alone.
 *
 * `WITH` and everything that is no expression, such as `SEE LICENSE IN …`, is not allowed by any.
 */
export function isAllowed(expression: string, allowed: ReadonlySet<string>): boolean {
  const words = expression.match(/[()]|[^\s()]+/g) ?? []
  let place = 0
  const term = (): boolean => {
    if (words[place] !== '(') return allowed.has(words[place++] ?? '')
    place += 1
    const inside = either()
    return words[place++] === ')' && inside
  }
  const both = (): boolean => {
    let result = term()
    while (words[place] === 'AND') {
      place += 1
      result = term() && result
    }
    return result
  }
  const either = (): boolean => {
    let result = both()
    while (words[place] === 'OR') {
      place += 1
      result = both() || result
    }
    return result
  }
  const result = either()
  return result && place === words.length
}
