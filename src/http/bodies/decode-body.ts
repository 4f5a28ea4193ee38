import { isUtf8 } from 'node:buffer'
import { scanJson } from '../../lib/json/json-scan.ts'
import type { OpenFormat } from '../../protocols/format.ts'
import type { ShapedCount, ShapedRequest } from '../../protocols/protocol.ts'
import { invalidJson } from './body-faults.ts'

/** Deep nesting exhausts the stack of everything that walks a value; no client nests beyond 20. */
const depthMax = 64
/** Brackets, commas and colons: each becomes objects in memory. The largest recorded client request has 5,000. */
const tokensMax = 200_000
/** Half a character cannot stand in valid UTF-8; only an escape can bring one. */
const surrogateEscape = /\\u[dD][89a-fA-F]/

/** Looks a body over for depth and size, and parses it. */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw invalidJson('The body is not valid UTF-8.')
  const excess = scanJson(bytes, { depthMax, tokensMax })
  if (excess === 'depth') throw invalidJson(`The body is nested deeper than ${depthMax} levels.`)
  if (excess === 'tokens') throw invalidJson(`The body has more than ${tokensMax} elements.`)
  try {
    const text = bytes.toString('utf8')
    const value: unknown = JSON.parse(text)
    return surrogateEscape.test(text) ? makeWellFormed(value) : value
  } catch {
    throw invalidJson('The body is not valid JSON.')
  }
}

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

/** The formats that decode bodies, here and in a thread of its own. */
export type Decoders = readonly Pick<OpenFormat, 'name' | 'protocol'>[]

/** What a body is for, and what becomes of it. */
export type Decodings = { readonly generation: ShapedRequest; readonly count: ShapedCount }

/** What a body is decoded as: the name of its format, and what it is for. */
export type BodyKind<Use extends keyof Decodings = keyof Decodings> = { readonly format: string; readonly use: Use }

/** Decodes a parsed body as what its format and its route make of it. */
export function decodeBody<Use extends keyof Decodings>(
  decoders: Decoders,
  { format, use }: BodyKind<Use>,
  value: unknown,
): Decodings[Use] {
  const protocol = decoders.find(({ name }) => name === format)?.protocol
  const decoder = use === 'generation' ? protocol : protocol?.count
  if (decoder === undefined || decoder === null) throw new Error(`The format ${format} knows no ${use}.`)
  return decoder.decodeShaped(value) as Decodings[Use]
}
