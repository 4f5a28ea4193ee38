import type { OpenFormat } from '../../protocols/format.ts'
import type { ShapedCount, ShapedRequest } from '../../protocols/protocol.ts'

/** What decodes bodies, here and in a thread of its own. */
export type Decoders = readonly Pick<OpenFormat, 'name' | 'protocol'>[]

/** What a body is for, and what becomes of it. */
export type Decodings = { readonly generation: ShapedRequest; readonly count: ShapedCount }

/** What a body is decoded as: the name of its format, and what it is for. */
export type BodyKind<Use extends keyof Decodings = keyof Decodings> = { readonly format: string; readonly use: Use }

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
