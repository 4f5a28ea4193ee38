import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { ApiError } from '../../core/error.ts'
import type { Clock } from '../../lib/clock.ts'
import { scanJson } from '../../lib/json-scan.ts'
import { makeWellFormed } from '../../lib/well-formed.ts'

export const bodyBytesMax = 32 * 1024 * 1024
/** A body may pause this long; its total time is bounded by the server's own timeout. */
const pauseMsMax = 15_000
/** Deep nesting exhausts the stack of everything that walks a value; no client nests beyond 20. */
const depthMax = 64
/** Brackets, commas and colons: each becomes objects in memory. The largest recorded client request has 5,000. */
const tokensMax = 200_000
/** Half a character cannot stand in valid UTF-8; only an escape can bring one. */
const surrogateEscape = /\\u[dD][89a-fA-F]/

/** Reads and parses a request's body. The content type is not asked: what parses as JSON is taken as JSON. */
export async function readJson(request: IncomingMessage, clock: Clock, bytesMax = bodyBytesMax): Promise<unknown> {
  return (await readJsonBody(request, clock, bytesMax)).value
}

/** As `readJson`, with the bytes that were sent, unpacked. */
export async function readJsonBody(
  request: IncomingMessage,
  clock: Clock,
  bytesMax = bodyBytesMax,
): Promise<{ readonly value: unknown; readonly bytes: Uint8Array }> {
  const reading = { stream: decoded(request, bytesMax), bytesMax, clock }
  const bytes = await readBody(request, reading)
  if (!isUtf8(bytes)) throw invalidJson('The body is not valid UTF-8.')
  const excess = scanJson(bytes, { depthMax, tokensMax })
  if (excess === 'depth') throw invalidJson(`The body is nested deeper than ${depthMax} levels.`)
  if (excess === 'tokens') throw invalidJson(`The body has more than ${tokensMax} elements.`)
  try {
    const text = bytes.toString('utf8')
    const value: unknown = JSON.parse(text)
    return { value: surrogateEscape.test(text) ? makeWellFormed(value) : value, bytes }
  } catch {
    throw invalidJson('The body is not valid JSON.')
  }
}

function decoded(request: IncomingMessage, bytesMax: number): Readable {
  const length = Number(request.headers['content-length'] ?? 0)
  if (length > bytesMax) throw tooLarge(bytesMax, false)
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity' || encoding === '') return request
  if (encoding !== 'gzip') {
    throw new ApiError(
      { code: 'unsupported-encoding' },
      'The content encoding is not supported; send the body plain or as gzip.',
    )
  }
  const gunzip = createGunzip()
  request.once('error', (error) => gunzip.destroy(error))
  request.once('close', () => request.complete || gunzip.destroy())
  return request.pipe(gunzip)
}

type Reading = { readonly stream: Readable; readonly bytesMax: number; readonly clock: Clock }

/** `request` is what the client sends, `stream` what it means once unpacked. */
function readBody(request: IncomingMessage, { stream, bytesMax, clock }: Reading): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const fail = (error: ApiError) => {
      cancelPause()
      // A client that is still sending hears the answer only if someone goes on listening.
      request.unpipe()
      stream.removeAllListeners('data')
      request.resume()
      reject(error)
    }
    const startPause = () => clock.after(pauseMsMax, () => fail(tooSlow()))
    let cancelPause = startPause()
    stream.on('data', (chunk: Buffer) => {
      cancelPause()
      size += chunk.length
      if (size > bytesMax) return fail(tooLarge(bytesMax, stream !== request))
      chunks.push(chunk)
      cancelPause = startPause()
    })
    stream.once('end', () => {
      cancelPause()
      resolve(Buffer.concat(chunks))
    })
    stream.once('error', () => fail(invalidJson('The body could not be read.')))
    stream.once('close', () => stream.readableEnded || fail(invalidJson('The body ended early.')))
  })
}

function invalidJson(message: string): ApiError {
  return new ApiError({ code: 'invalid-request', path: null, fault: null, detail: 'invalid-json' }, message)
}

function tooLarge(bytesMax: number, isUnpacked: boolean): ApiError {
  const reason = { code: 'request-too-large', bytesMax, isUnpacked } as const
  return new ApiError(reason, `Request body too large (limit ${bytesMax} bytes).`)
}

function tooSlow(): ApiError {
  return new ApiError({ code: 'request-timeout' }, 'The request body arrived too slowly.')
}
