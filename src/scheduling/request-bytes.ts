/** The bytes of all text and binary content in a request: what it costs to keep it waiting. */
export function requestBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (value instanceof Uint8Array) return value.byteLength
  if (typeof value !== 'object' || value === null) return 0
  let bytes = 0
  for (const name of Object.keys(value)) bytes += name.length + requestBytes((value as Record<string, unknown>)[name])
  return bytes
}
