// Speaks HTTP with one replica. Nothing of an answer but its numbers is kept: no header, no cookie and no redirect is
// followed, and only the paths of the dialect are ever asked for.

import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { afterReading, type Clock } from '../../lib/clock.ts'
import { codeOf, messageOf, toError } from '../../lib/message-of.ts'
import { faultOfStatus, malformed, ReplicaFault, type HttpRequest, type ReplicaRecord } from './dialect.ts'
import { ElementsBody, EventSplitter, LineSplitter, WholeBody, type RecordSplitter } from './record-splitters.ts'
import { ReplicaBody } from './replica-body.ts'

export type ReplicaClientOptions = {
  readonly address: URL
  /** Sent as a bearer token; null sends none. */
  readonly key: string | null
  readonly paths: readonly string[]
  readonly clock: Clock
}

export type OpenTerms<Item> = {
  readonly signal: AbortSignal
  /** From the connection to the first piece of the body, and between two of them until output has begun. */
  readonly firstMsMax: number
  readonly betweenMsMax: number
  /** Whether the records so far brought output. Those before only say how far a prompt is computed. */
  hasBegun(): boolean
  /** What the records of a piece bring. Throws a ReplicaFault where they are none of an answer. */
  take(records: readonly ReplicaRecord[]): Item
  /** The body has ended. Throws a ReplicaFault where the answer had not. */
  ended?(): void
  /** Called once: the answer was read to its end, has failed or was left. */
  onOver?(): void
}

type SendTerms = Pick<OpenTerms<unknown>, 'signal' | 'firstMsMax'>

const connectMsMax = 1_000
/** What a replica says of why it failed, for the log. */
const faultCharactersMax = 300

const checkMsMax = 2_000

export class ReplicaClient {
  readonly #options: ReplicaClientOptions
  readonly #agent: HttpAgent | HttpsAgent
  readonly #paths: ReadonlySet<string>

  constructor(options: ReplicaClientOptions) {
    this.#options = options
    this.#paths = new Set(options.paths)
    const Agent = options.address.protocol === 'https:' ? HttpsAgent : HttpAgent
    this.#agent = new Agent({ keepAlive: true, maxFreeSockets: 64, scheduling: 'fifo' })
  }

  /** Asks whether the server is well. Returns what is wrong, null where nothing is. */
  async check(health: HttpRequest): Promise<ReplicaFault | null> {
    try {
      await this.ask(health, checkMsMax)
      return null
    } catch (error) {
      if (!(error instanceof ReplicaFault)) throw error
      const { message, status, cause } = error
      if (status === null || status < 500) return error
      return new ReplicaFault('unwell', `It says that it is not well. ${message}`, { cause, status })
    }
  }

  /** Asks something small. Returns the JSON of the answer, or null where it has no body. */
  async ask(request: HttpRequest, waitMsMax: number): Promise<unknown> {
    const response = await this.#send(request, { signal: new AbortController().signal, firstMsMax: waitMsMax })
    const body = new WholeBody()
    for await (const bytes of pieces(response, this.#options.clock, waitMsMax)) body.push(bytes)
    return isJson(response) ? body.toJson() : null
  }

  /** Asks for an answer, and returns what its records bring, those of each piece of the body together. */
  open<Item>(request: HttpRequest, terms: OpenTerms<Item>): ReplicaBody<Item> {
    let splitter: RecordSplitter = new WholeBody()
    const taken = (records: readonly ReplicaRecord[]) => (records.length > 0 ? terms.take(records) : null)
    const body = new ReplicaBody<Item>({
      clock: this.#options.clock,
      waitMsMax: () => (terms.hasBegun() ? terms.betweenMsMax : terms.firstMsMax),
      take: (bytes) => taken(splitter.push(bytes)),
      end: () => taken(splitter.end()),
      ...(terms.ended !== undefined && { ended: terms.ended }),
      ...(terms.onOver !== undefined && { onOver: terms.onOver }),
    })
    const attach = (response: IncomingMessage) => {
      splitter = splitterFor(response, request)
      body.attach(response)
    }
    this.#send(request, terms)
      .then(attach)
      .catch((error: unknown) => body.fail(toError(error)))
    return body
  }

  close(): void {
    this.#agent.destroy()
  }

  async #send(request: HttpRequest, terms: SendTerms): Promise<IncomingMessage> {
    const [path = ''] = request.path.split('?')
    if (!this.#paths.has(path)) throw new Error(`The path ${path} is none of the dialect's.`)
    const body = request.body === undefined ? null : JSON.stringify(request.body)
    for (let isSecond = false; ; isSecond = true) {
      try {
        return await this.#sendOnce(request, body, isSecond ? false : this.#agent, terms)
      } catch (error) {
        // A connection that was kept open may be closed at the other end just as it is used again, and others with it: the
        // second try has one of its own.
        if (isSecond || !(error instanceof ClosedWhileIdle))
          throw error instanceof ClosedWhileIdle ? refused(error) : error
      }
    }
  }

  #sendOnce(
    { method, path, headers = {} }: HttpRequest,
    body: string | null,
    agent: HttpAgent | HttpsAgent | false,
    { signal, firstMsMax }: SendTerms,
  ): Promise<IncomingMessage> {
    const { address, key, clock } = this.#options
    const send = address.protocol === 'https:' ? httpsRequest : httpRequest
    return new Promise((resolve, reject) => {
      const request = send(new URL(path, address), {
        method,
        agent,
        signal,
        headers: {
          ...headers,
          accept: 'text/event-stream, application/x-ndjson, application/json',
          ...(key !== null && { authorization: `Bearer ${key}` }),
          ...(body !== null && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        },
      })
      const cancelFirst = afterReading(clock, firstMsMax, () =>
        request.destroy(new ReplicaFault('timeout', 'It did not begin to answer.')),
      )
      boundConnecting(request, clock)
      request.once('error', (error) => {
        cancelFirst()
        reject(faultOf(error, request))
      })
      request.once('response', (response) => {
        cancelFirst()
        // What breaks later is heard of by whoever reads the body.
        request.on('error', () => {})
        if (response.statusCode === 200) resolve(response)
        else void readFault(response, path, clock).then(reject)
      })
      // Where nobody listened for it, a connection that is to become another one would be closed and nothing said of it.
      request.once('upgrade', (_, socket: Socket) => {
        cancelFirst()
        socket.destroy()
        reject(new ReplicaFault('status', 'It answered 101.'))
      })
      request.end(body ?? undefined)
    })
  }
}

/** The other end closed a connection that nothing was under way on. */
class ClosedWhileIdle extends Error {
  override readonly name = 'ClosedWhileIdle'
}

function boundConnecting(request: ClientRequest, clock: Clock): void {
  request.once('socket', (socket: Socket) => {
    socket.setNoDelay(true)
    if (!socket.connecting) return
    const cancel = afterReading(clock, connectMsMax, () =>
      request.destroy(new ReplicaFault('unconnected', 'It took no connection within a second.')),
    )
    socket.once('connect', cancel)
    socket.once('close', cancel)
  })
}

function faultOf(error: Error, request: ClientRequest): Error {
  if (error instanceof ReplicaFault || error.name === 'AbortError') return error
  if (request.reusedSocket && codeOf(error) === 'ECONNRESET')
    return new ClosedWhileIdle(messageOf(error), { cause: error })
  return refused(error)
}

function refused(error: Error): ReplicaFault {
  return new ReplicaFault('refused', `It took no connection (${codeOf(error) ?? error.name}).`, { cause: error })
}

/** What became of a request that was not answered with 200. The words of the answer are for the log. */
async function readFault(response: IncomingMessage, path: string, clock: Clock): Promise<ReplicaFault> {
  const status = response.statusCode ?? 0
  let text = ''
  try {
    for await (const bytes of pieces(response, clock, connectMsMax)) {
      text += bytes.toString()
      if (text.length > faultCharactersMax) break
    }
  } catch {
    // The status says enough.
  }
  response.destroy()
  const cause = text.slice(0, faultCharactersMax)
  return faultOfStatus(status, `It answered ${status} to ${path}.`, cause)
}

/** What takes a body apart. Throws a ReplicaFault, and closes the connection, where it is none that an answer has. */
function splitterFor(response: IncomingMessage, { elementsOf }: HttpRequest): RecordSplitter {
  const type = response.headers['content-type'] ?? ''
  if (type.startsWith('text/event-stream')) return new EventSplitter()
  if (type.startsWith('application/x-ndjson')) return new LineSplitter()
  if (isJson(response)) return elementsOf === undefined ? new WholeBody() : new ElementsBody(elementsOf)
  response.destroy()
  throw malformed('It answered with neither events nor JSON.')
}

function isJson({ headers }: IncomingMessage): boolean {
  return headers['content-type']?.startsWith('application/json') === true
}

/** The pieces of a body, of which each must come within a time. */
function pieces(response: IncomingMessage, clock: Clock, waitMsMax: number): ReplicaBody<Buffer> {
  const body = new ReplicaBody<Buffer>({ clock, waitMsMax: () => waitMsMax, take: (bytes) => bytes })
  body.attach(response)
  return body
}
