import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { isIPv6, type Socket } from 'node:net'
import { ApiError } from '../../core/error.ts'
import { rawError } from './raw-error.ts'

export type ConnectionBounds = {
  readonly connectionsMax: number
  /** Null does not limit them. */
  readonly connectionsPerAddressMax: number | null
  /** Behind such an address there are many clients. */
  isProxy(address: string): boolean
  /** Called for each connection that is ended to make room, or not let in. */
  onFull(address: string): void
}

type Connection = {
  readonly address: string
  readonly network: string
  /** Null for a proxy's. */
  readonly place: Place | null
  /** Its requests under way, in the order in which they are answered. */
  readonly answers: Set<ServerResponse>
}

/** What comes from one address. */
type Place = { readonly open: Set<Socket>; readonly idle: Set<Socket> }

/** Above the bound, so that whoever comes then hears why it is not let in. */
const refusedAtOnceMax = 64

/**
 * Knows all connections, which requests each has under way, and lets no one take them all.
 *
 * Where there is no room for a new one, the connection goes that has been without a request for longest; after
 * those without one, the one whose body has been arriving for longest. One that waits for its answer, or gets
 * it, is never ended: then the newcomer is not let in.
 */
export class OpenConnections {
  readonly #bounds: ConnectionBounds
  readonly #connections = new Map<Socket, Connection>()
  /** Those without a request under way, the longest first: sets keep the order. */
  readonly #idle = new Set<Socket>()
  readonly #places = new Map<string, Place>()

  constructor(bounds: ConnectionBounds) {
    this.#bounds = bounds
  }

  get size(): number {
    return this.#connections.size
  }

  watch(server: Server): void {
    server.maxConnections = this.#bounds.connectionsMax + refusedAtOnceMax
    server.on('connection', (socket: Socket) => this.#open(socket))
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#begin(request.socket, response)
    })
  }

  /** The requests of a connection whose answers are not out, the first one first. */
  answersOf(socket: Socket): ServerResponse[] {
    return [...(this.#connections.get(socket)?.answers ?? [])]
  }

  #open(socket: Socket): void {
    const address = socket.remoteAddress ?? ''
    const network = networkOf(address)
    const place = this.#bounds.isProxy(address) ? null : (this.#places.get(network) ?? newPlace())
    if (!this.#makeRoomAt(place) || !this.#makeRoom()) {
      this.#bounds.onFull(address)
      const failure = new ApiError({ code: 'overloaded', retryAfterMs: 1_000 }, 'Too many connections are open.')
      // It ends before a byte of it is read, so that no request of it begins.
      socket.end(rawError('503 Service Unavailable', failure))
      socket.destroySoon()
      return
    }
    this.#connections.set(socket, { address, network, place, answers: new Set() })
    if (place !== null) this.#places.set(network, place)
    place?.open.add(socket)
    this.#rest(socket, place)
    socket.once('close', () => this.#forget(socket))
  }

  #begin(socket: Socket, response: ServerResponse): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined) return
    const { place, answers } = connection
    answers.add(response)
    this.#idle.delete(socket)
    place?.idle.delete(socket)
    response.once('close', () => {
      answers.delete(response)
      if (answers.size === 0 && this.#connections.has(socket)) this.#rest(socket, place)
    })
  }

  #rest(socket: Socket, place: Place | null): void {
    this.#idle.add(socket)
    place?.idle.add(socket)
  }

  /** A second call changes nothing. */
  #forget(socket: Socket): void {
    const { network, place = null } = this.#connections.get(socket) ?? {}
    this.#connections.delete(socket)
    this.#idle.delete(socket)
    place?.idle.delete(socket)
    place?.open.delete(socket)
    if (network !== undefined && place?.open.size === 0) this.#places.delete(network)
  }

  #makeRoomAt(place: Place | null): boolean {
    const most = this.#bounds.connectionsPerAddressMax
    if (place === null || most === null || place.open.size < most) return true
    return this.#endOne(place.idle, place.open)
  }

  #makeRoom(): boolean {
    if (this.#connections.size < this.#bounds.connectionsMax) return true
    return this.#endOne(this.#idle, this.#connections.keys())
  }

  #endOne(idle: Iterable<Socket>, open: Iterable<Socket>): boolean {
    const [found = this.#firstReceiving(open)] = idle
    if (found === undefined) return false
    this.#bounds.onFull(this.#connections.get(found)?.address ?? '')
    found.destroy()
    // Its `close` comes in a later turn, and the next newcomer perhaps in this one.
    this.#forget(found)
    return true
  }

  #firstReceiving(open: Iterable<Socket>): Socket | undefined {
    for (const socket of open) {
      const [first] = this.#connections.get(socket)?.answers ?? []
      if (first !== undefined && !first.headersSent && !first.req.complete) return socket
    }
    return undefined
  }
}

function newPlace(): Place {
  return { open: new Set(), idle: new Set() }
}

/** Whoever has one address of IPv6 has its whole network of 64 bits. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').split('%', 1)[0] ?? ''
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = tail === undefined ? 0 : 8 - first.length - last.length
  return [...first, ...Array.from({ length: missing }, () => '0'), ...last].slice(0, 4).join(':')
}
