import type { IncomingMessage } from 'node:http'
import { parseJson } from './parse-json.ts'
import { receiveBody, type Receiving } from './receive-body.ts'

export type JsonBody = {
  readonly value: unknown
  /** What was sent, unpacked. */
  readonly bytes: Uint8Array
}

/** Reads and parses a request's body. The content type is not asked: what parses as JSON is taken as JSON. */
export async function readJsonBody(request: IncomingMessage, receiving: Receiving): Promise<JsonBody> {
  const blocks = await receiveBody(request, receiving)
  const [first] = blocks
  const bytes = blocks.length === 1 && first !== undefined ? first : Buffer.concat(blocks)
  return { value: parseJson(bytes), bytes }
}
