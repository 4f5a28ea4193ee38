import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { rejectUnanswered } from '../../lib/network/reject-unanswered.ts'
import { DownloadError, Interruption } from './download-error.ts'

/** A file on a server. */
export type Remote = {
  /** Asked anew by every try, since it may lead on to an address that expires. */
  readonly url: URL
  /** Sent to this origin and to no other that a redirect leads to. */
  readonly credentials: { readonly origin: string; readonly token: string } | null
}

export type RemoteAnswer = HttpAnswer & {
  /** Where the redirects ended. */
  readonly url: URL
  /** What the first server said of the file, before it sent the client elsewhere. */
  readonly announced: Headers
}

export type RemoteRequest = Pick<HttpRequest, 'method' | 'signal'> & {
  readonly headers?: Readonly<Record<string, string>>
}

const redirectsMax = 10

/**
 * Asks for a remote file and follows redirects.
 *
 * A HEAD stays with the first server: those it leads to often sign their
 * addresses for a GET alone, and the first one has said what there is to know.
 */
export async function openRemote(
  remote: Remote,
  { method, headers = {}, signal }: RemoteRequest,
): Promise<RemoteAnswer> {
  let url = remote.url
  const announced = new Headers()
  for (let redirects = 0; redirects <= redirectsMax; redirects++) {
    const answer = await send(url, {
      method,
      headers: { 'user-agent': 'odyssey', 'accept-encoding': 'identity', ...headers, ...authorize(url, remote) },
      signal,
    })
    if (url.origin === remote.url.origin) for (const [name, value] of answer.headers) announced.set(name, value)
    const location = answer.headers.get('location')
    if (!isRedirect(answer.status) || location === null) return { ...answer, url, announced }
    answer.discard()
    const next = nextUrl(location, url)
    if (method === 'HEAD' && next.origin !== remote.url.origin) return { ...answer, url, announced }
    url = next
  }
  throw new DownloadError({ kind: 'refused' }, `${remote.url.host} redirects more than ${redirectsMax} times.`)
}

function authorize(url: URL, { credentials }: Remote): Record<string, string> {
  return credentials?.origin === url.origin ? { authorization: `Bearer ${credentials.token}` } : {}
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status)
}

function nextUrl(location: string, from: URL): URL {
  const next = URL.parse(location, from.href)
  const isKept = next?.protocol === 'https:' || (next?.protocol === 'http:' && from.protocol === 'http:')
  if (next !== null && isKept) return next
  throw new DownloadError({ kind: 'refused' }, `${from.host} redirects to an address that is not safe to follow.`)
}

async function send(url: URL, request: HttpRequest): Promise<HttpAnswer> {
  try {
    return await sendHttp(url, request)
  } catch (error) {
    throw describeFailure(error, url)
  }
}

/** Codes of a connection that never came about: this machine is offline, or the name or the port is wrong. */
const unreachableCodes: ReadonlySet<string> = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ETIMEDOUT',
])

/** What a failed request or body throws, told apart by whether another try may help. */
export function describeFailure(error: unknown, url: URL): Error {
  if (error instanceof DownloadError || error instanceof Interruption) return error
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
  if (code !== null && unreachableCodes.has(code)) {
    return new Interruption(`${url.host} cannot be reached (${code}).`, { unreachableHost: url.host, cause: error })
  }
  if (code !== null && /CERT|SIGNED|TLS|SSL|ISSUER|VERIFY/.test(code)) {
    const message = `The connection to ${url.host} is not safe (${code}).`
    return new DownloadError({ kind: 'refused' }, message, { cause: error })
  }
  return new Interruption(`The connection was cut${code === null ? '' : ` (${code})`}.`, { cause: error })
}

const retryAfterMsMax = 60_000

/** What an answer without the file means: that it is in vain, or that another try may help. */
export function refuseStatus({ status, headers, url: { host } }: RemoteAnswer): Error {
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    const seconds = Number(headers.get('retry-after') ?? 0)
    const waitMs = Number.isFinite(seconds) ? Math.min(retryAfterMsMax, Math.max(0, seconds * 1_000)) : 0
    return new Interruption(`The server answers with ${status}.`, { waitMs })
  }
  const reason = headers.get('x-error-message')?.slice(0, 200) ?? meanings[status] ?? null
  return new DownloadError(
    { kind: 'status', host, status },
    `${host} answers with ${status}${reason === null ? '' : `: ${printable(reason)}`}.`,
  )
}

const meanings: Readonly<Record<number, string>> = {
  401: 'it wants a token',
  403: 'it refuses access',
  404: 'there is no such file',
  410: 'the file is gone',
  451: 'the file is withheld for legal reasons',
}

/** A server's words go to a terminal, where control characters do things. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').replace(/\.$/, '')
}

export type HttpRequest = {
  readonly method: 'GET' | 'HEAD'
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** The head of an answer, and its body as it comes. */
export type HttpAnswer = {
  readonly status: number
  readonly headers: Headers
  /** Ends with the body; throws when the connection ends before, after all that had come until then. */
  pieces(): AsyncGenerator<Uint8Array>
  /** Takes no more of the body. */
  discard(): void
}

/**
 * Sends a request and resolves with the answer's head; redirects are answers like any other.
 *
 * By hand, because the streams that `fetch` gives throw away what they hold when
 * a connection is cut: of many short-lived connections nothing would be left.
 */
export function sendHttp(url: URL, { method, headers, signal }: HttpRequest): Promise<HttpAnswer> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const sent = send(url, { method, headers, signal })
    // A failure behind the answer's head is the body's, and changes nothing of this.
    rejectUnanswered(sent, reject)
    sent.once('response', (message) => {
      const body = new HeldBody(message)
      resolve({
        status: message.statusCode ?? 0,
        headers: toHeaders(message),
        pieces: () => body.pieces(),
        discard: () => message.destroy(),
      })
    })
    sent.end()
  })
}

function toHeaders({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  return headers
}

/** The bytes that are held while the disk is slower than the network; then the connection is paused. */
const heldBytesMax = 4 * 1024 * 1024

/** Collects a body from the moment it begins, so that nothing is lost to whoever reads it later. */
class HeldBody {
  readonly #message: IncomingMessage
  readonly #held: Buffer[] = []
  #heldBytes = 0
  #isOver = false
  #wake = () => {}

  constructor(message: IncomingMessage) {
    this.#message = message
    message.on('data', (piece: Buffer) => {
      this.#held.push(piece)
      this.#heldBytes += piece.length
      if (this.#heldBytes > heldBytesMax) message.pause()
      this.#wake()
    })
    message.on('error', () => {})
    message.once('close', () => {
      this.#isOver = true
      this.#wake()
    })
  }

  async *pieces(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const piece = this.#held.shift()
        if (piece !== undefined) {
          this.#heldBytes -= piece.length
          yield piece
        } else if (this.#isOver) {
          break
        } else {
          this.#message.resume()
          await new Promise<void>((resolve) => (this.#wake = resolve))
        }
      }
    } finally {
      this.#message.destroy()
    }
    if (!this.#message.complete) throw this.#message.errored ?? new Error('The connection was closed early.')
  }
}
