import type { IncomingMessage } from 'node:http'

const bytesMax = 65_536

/** Reads one field of a form that is sent; null where it is missing, is there twice, or the form is too large. */
export async function readForm(message: IncomingMessage, field: string): Promise<string | null> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of message as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > bytesMax) return null
    parts.push(part)
  }
  const [value, ...others] = new URLSearchParams(Buffer.concat(parts).toString('utf8')).getAll(field)
  return value === undefined || others.length > 0 ? null : value
}
