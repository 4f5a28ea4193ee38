// A client that knows nothing but sockets: it can leave in the middle of anything, send
// what no library would, and tell an answer that ended from one that was cut.

import { connect, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { createResponseReader, type RawResponse } from './response-reader.ts'

export type RawRequest = {
  readonly method?: string
  readonly path: string
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body: string | Buffer
}

/** The bytes of a request; a header given replaces the one that would be sent otherwise, and so does chunking the length. */
export function toBytes({ method = 'POST', path, headers = [], body }: RawRequest): Buffer {
  const bytes = Buffer.from(body)
  const given = new Set(headers.map(([name]) => name.toLowerCase()))
  if (given.has('transfer-encoding')) given.add('content-length')
  const standard = [
    ['host', 'localhost'],
    ['content-type', 'application/json'],
    ['content-length', String(bytes.length)],
  ] as const
  const all = [...standard.filter(([name]) => !given.has(name)), ...headers]
  const head = `${method} ${path} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes])
}

export type Leaving = 'fin' | 'rst'

/** One socket, and what has come back on it. */
export class RawConnection {
  readonly #socket: Socket
  readonly #reader = createResponseReader()
  #onChange = () => {}
  #isClosed = false

  constructor(address: string) {
    const { hostname, port, protocol } = new URL(address)
    const place = { host: hostname, port: Number(port), allowHalfOpen: false }
    // A campaign that speaks TLS does so with a certificate that it made itself.
    if (protocol === 'https:') this.#socket = connectSecurely({ ...place, rejectUnauthorized: false })
    else this.#socket = connect({ ...place, noDelay: true })
    this.#socket.on('data', (bytes: Buffer) => {
      this.#reader.feed(bytes)
      this.#onChange()
    })
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => {
      this.#isClosed = true
      this.#reader.close()
      this.#onChange()
    })
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** The answer under way. */
  get response(): RawResponse {
    return this.#reader.response
  }

  /** Resolves when the bytes have been handed to the system, or the connection is gone. */
  send(bytes: Buffer): Promise<void> {
    // A write that fails calls back as well.
    return new Promise((resolve) => {
      if (this.#isClosed) resolve()
      else this.#socket.write(bytes, () => resolve())
    })
  }

  /** Waits until the answer has come so far, the connection has ended, or the time is up. Whether it came so far. */
  async until(isFar: (response: RawResponse) => boolean, waitMs = 60_000): Promise<boolean> {
    const deadlineMs = performance.now() + waitMs
    while (!isFar(this.response)) {
      const leftMs = deadlineMs - performance.now()
      if (this.#isClosed || leftMs <= 0) return false
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs)
        this.#onChange = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    return true
  }

  /** Sends a request and waits for the end of its answer, whatever that is. */
  async roundTrip(bytes: Buffer, waitMs?: number): Promise<RawResponse> {
    this.#reader.startNext()
    void this.send(bytes)
    await this.until(({ isComplete }) => isComplete, waitMs)
    return this.response
  }

  /** `fin` closes the way a program does that ends; `rst` the way of one that is killed with unread answers. */
  leave(how: Leaving): void {
    if (how === 'fin') this.#socket.destroy()
    else this.#socket.resetAndDestroy()
  }
}

/** One request on a connection of its own. */
export async function exchange(address: string, request: RawRequest, waitMs?: number): Promise<RawResponse> {
  const connection = new RawConnection(address)
  const response = await connection.roundTrip(toBytes(request), waitMs)
  connection.leave('fin')
  return response
}

export function authorize(key: string): readonly (readonly [string, string])[] {
  return [['authorization', `Bearer ${key}`]]
}
