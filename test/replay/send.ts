import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { RawRequest } from '../campaigns/raw-http.ts'
import type { RawResponse } from '../campaigns/response-reader.ts'

/** Large prompts on small machines take long; a server that says nothing for this long is no server. */
const patienceMs = 300_000

/** Sends one request on a connection of its own and waits for the end of its answer, whatever that is. */
export function send(address: string, { method = 'POST', path, headers = [], body }: RawRequest): Promise<RawResponse> {
  const open = address.startsWith('https:') ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const sent = open(`${address}${path}`, { method, agent: false, headers: Object.fromEntries(headers) })
    sent.setTimeout(patienceMs, () => sent.destroy(new Error(`Nothing came for ${patienceMs / 1_000} seconds.`)))
    sent.once('error', reject)
    sent.once('response', (response) => void read(response).then(resolve, reject))
    sent.end(body)
  })
}

async function read(response: IncomingMessage): Promise<RawResponse> {
  const pieces: Buffer[] = []
  try {
    for await (const piece of response) pieces.push(piece as Buffer)
  } catch {
    // A cut answer is judged like any other, by what has come of it.
  }
  const bytes = Buffer.concat(pieces)
  const headers = new Map(Object.entries(response.headers).map(([name, value]) => [name, String(value)]))
  const status = response.statusCode ?? null
  const { complete: isComplete } = response
  return { status, interim: 0, headers, text: bytes.toString(), bytes: bytes.length, isComplete, fault: null }
}
