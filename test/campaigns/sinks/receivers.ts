// Receivers of the audit as those who buy them have them: one that takes JSON over HTTPS, and one that takes syslog over
// TLS, written from RFC 5424 and RFC 5425. Each can be made to fail, to hang, and to go away and come back.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Server as NetServer, Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'

export type Certificate = { readonly cert: string; readonly key: string }

/** A certificate of this machine alone, which signs for itself. */
export function makeCertificate(folder: string, name = 'localhost'): Certificate {
  const [keyFile, certFile] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)]
  const files = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', keyFile, '-out', certFile]
  const subject = ['-days', '2', '-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  execFileSync('openssl', ['req', '-x509', ...files, ...subject], { stdio: 'ignore' })
  return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
}

/**
 * What becomes of what arrives next:
 *
 *     take      everything is kept
 *     refuse    it is refused, or the connection is cut before anything is kept
 *     leave     the connection is ended politely before anything is read
 *     hang      nothing is kept, and nothing is answered
 *     lose      it is kept, and the answer is lost
 */
export type Mood = 'take' | 'refuse' | 'leave' | 'hang' | 'lose'

/** Keeps what it was given, in the order in which it came. */
abstract class Receiver {
  mood: () => Mood = () => 'take'
  readonly sockets = new Set<Socket>()
  #server: NetServer | null = null
  #port = 0

  protected abstract createServer(): NetServer

  get port(): number {
    return this.#port
  }

  async open(): Promise<this> {
    const server = this.createServer()
    this.#server = server
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket)
      socket.on('error', () => {}).on('close', () => this.sockets.delete(socket))
    })
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve))
    this.#port = (server.address() as AddressInfo).port
    return this
  }

  /** Goes away with what is under way. Opened again it has the same port. */
  async close(): Promise<void> {
    const server = this.#server
    if (server === null) return
    this.#server = null
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of this.sockets) socket.destroy()
    await closed
  }
}

/** Of our own format: a row, or a checkpoint. */
export type ReceivedEvent = {
  readonly id?: string
  readonly sequence?: number
  readonly organization?: string
  readonly action?: string
  readonly checkpoint?: { readonly size: number; readonly note: string }
}

export type Post = { readonly headers: Readonly<Record<string, unknown>>; readonly body: string }

export class HttpsReceiver extends Receiver {
  readonly posts: Post[] = []
  /** What is answered where something is refused. */
  refusal = 503
  /** As `mood`, where it depends on what has come. */
  moodOf: ((post: Post) => Mood) | null = null
  readonly #tls: TlsOptions

  constructor(tls: TlsOptions) {
    super()
    this.#tls = tls
  }

  get address(): string {
    return `https://127.0.0.1:${this.port}/in?token=hidden`
  }

  /** All events, in the order in which they came. */
  get events(): readonly ReceivedEvent[] {
    return this.posts.flatMap(({ body }) => JSON.parse(body) as ReceivedEvent[])
  }

  protected createServer(): NetServer {
    return createHttpsServer(this.#tls, (request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (piece: string) => (body += piece))
      request.on('error', () => {})
      request.on('end', () => {
        const post = { headers: request.headers, body }
        const mood = this.moodOf?.(post) ?? this.mood()
        if (mood === 'take' || mood === 'lose') this.posts.push(post)
        if (mood === 'hang') return
        if (mood === 'take') response.writeHead(204).end()
        else if (mood === 'refuse') response.writeHead(this.refusal).end()
        else response.socket?.destroy()
      })
    })
  }
}

export class SyslogReceiver extends Receiver {
  /** Whole messages, without the count before each. */
  readonly messages: string[] = []
  readonly faults: string[] = []
  readonly #tls: TlsOptions

  constructor(tls: TlsOptions) {
    super()
    this.#tls = tls
  }

  get address(): string {
    return `tls://127.0.0.1:${this.port}`
  }

  get events(): readonly ReceivedEvent[] {
    return this.messages.map((message) => JSON.parse(message.slice(message.indexOf(' {') + 1)) as ReceivedEvent)
  }

  protected createServer(): NetServer {
    return createTlsServer(this.#tls, (socket) => {
      const mood = this.mood()
      socket.on('error', () => {})
      if (mood === 'refuse') return void socket.destroy()
      if (mood === 'leave') return void socket.end()
      if (mood === 'hang') return
      let pending = Buffer.alloc(0)
      socket.on('data', (piece: Buffer) => {
        pending = this.#takeFrames(Buffer.concat([pending, piece]))
        // Everything before is kept, but nobody says so.
        if (mood === 'lose' && pending.length === 0) this.#cut(socket)
      })
      socket.on('end', () => {
        if (pending.length > 0) this.faults.push(`Half a message: ${pending.toString('latin1')}`)
      })
    })
  }

  /** As a process that is killed: no close_notify. */
  #cut(socket: Socket): void {
    for (const raw of this.sockets) raw.destroy()
    socket.destroy()
  }

  /** Returns what is no whole frame yet. */
  #takeFrames(bytes: Buffer): Buffer<ArrayBuffer> {
    let rest = Buffer.from(bytes)
    for (;;) {
      const space = rest.indexOf(' ')
      if (space === -1) return rest
      const count = rest.subarray(0, space).toString('latin1')
      if (!/^[1-9]\d*$/.test(count)) {
        this.faults.push(`No count: ${count}`)
        return Buffer.alloc(0)
      }
      const end = space + 1 + Number(count)
      if (rest.length < end) return rest
      this.messages.push(rest.subarray(space + 1, end).toString('utf8'))
      rest = rest.subarray(end)
    }
  }
}
