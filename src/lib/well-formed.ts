/**
 * Replaces lone surrogates in every string of a parsed JSON value.
 *
 * JSON can escape half a character; no tokenizer and no database can hold one,
 * so each becomes U+FFFD, always the same way. The depth is bounded beforehand.
 */
export function makeWellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed()
  if (Array.isArray(value)) return value.map(makeWellFormed)
  if (typeof value !== 'object' || value === null) return value
  const result: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) {
    // Defined and not assigned: a key named `__proto__` must stay a key.
    Object.defineProperty(result, key.toWellFormed(), {
      value: makeWellFormed(member),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return result
}
