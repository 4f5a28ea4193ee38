import type { IncomingMessage } from 'node:http'

/** By far more than a token has. */
const usualBytesMax = 65_536

/** Reads one field of a form that is sent; null where it is missing, is there twice, or the form is too large. */
export async function readForm(message: IncomingMessage, field: string): Promise<string | null> {
  const fields = await readFields(message, usualBytesMax)
  return fields === null ? null : oneOf(fields, field)
}

/** Reads a form that is sent; null where it is too large. */
export async function readFields(message: IncomingMessage, bytesMax: number): Promise<URLSearchParams | null> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of message as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > bytesMax) return null
    parts.push(part)
  }
  return new URLSearchParams(Buffer.concat(parts).toString('utf8'))
}

/** A field that is there exactly once. */
export function oneOf(fields: URLSearchParams, name: string): string | null {
  const [value, ...others] = fields.getAll(name)
  return value === undefined || others.length > 0 ? null : value
}
