import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '../../core/error.ts'
import { networkOf, parseAddressList } from '../../lib/network/address-list.ts'
import type { Clock } from '../../lib/clock.ts'
import type { HttpParts } from '../parts.ts'
import { endGently } from './close-gently.ts'
import type { AnswersUnderWay } from './connection-events.ts'
import { rawError } from './raw-answers.ts'

export type ConnectionBounds = {
  readonly connectionsMax: number
  /** Null does not limit them. */
  readonly connectionsPerAddressMax: number | null
  /** Behind such an address there are many clients. */
  isProxy(address: string): boolean
  readonly clock: Clock
  /** Called for each connection that is ended to make room, or not let in. */
  onFull(address: string): void
}

type Connection = {
  readonly address: string
  readonly network: string
  /** All connections of its network; null for a proxy's. */
  readonly sameNetwork: NetworkSockets | null
  /** Its requests under way, in the order in which they are answered. */
  readonly answers: Set<ServerResponse>
  /** When its last answer was out; before the first one, a time long ago. */
  usedMs: number
}

/** The connections of one network: of an address, or of the 64 bits that one household has of IPv6. */
type NetworkSockets = { readonly open: Set<Socket>; readonly idle: Set<Socket>; readonly leaving: Set<Socket> }

/** Above the bound, so that whoever comes then hears why it is not let in. As many are listened to until they have heard. */
const refusedAtOnceMax = 64
/**
 * As many may be about to go at a time: should all of them be used after all, there are so many above the bound. Where more
 * newcomers than that come at once, others go without a last look.
 */
const leavingMax = 32

/** A client that is busy, or far away, sends its next request within this time. */
const restMsMin = 1_000

/**
 * Knows all connections, which requests each has under way, and lets no one take them all.
 *
 * Where there is no room for a new one, the connection goes that has been without a request for longest; after
 * those without one, the one whose body has been arriving for longest. One that waits for its answer, or gets
 * it, is never ended: then the newcomer is not let in.
 *
 * A request may have come that nobody has read yet, above all where the service is late. So a connection counts as one
 * without a request only when all is read that had come by then, and goes only when nothing more has come since it was
 * chosen. One that was used a moment ago stays, since its client is likely to use it again.
 */
export class OpenConnections implements AnswersUnderWay {
  readonly #bounds: ConnectionBounds
  readonly #connections = new Map<Socket, Connection>()
  /** The connections without a request under way, the longest idle first: sets keep the order. */
  readonly #idle = new Set<Socket>()
  readonly #networks = new Map<string, NetworkSockets>()
  /** Those that go unless they are used at this moment. */
  readonly #leaving = new Set<Socket>()
  /** Those that were not let in and have not gone, the first one first. */
  readonly #refused = new Set<Socket>()

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
    const sameNetwork = this.#sameNetworkAs(address)
    const isRoom = this.#makeRoomInNetwork(sameNetwork) && this.#makeRoom()
    if (isRoom) this.#admit(socket, { address, sameNetwork })
    else this.#refuse(socket, address)
  }

  #sameNetworkAs(address: string): NetworkSockets | null {
    return this.#bounds.isProxy(address) ? null : (this.#networks.get(networkOf(address)) ?? noSockets())
  }

  #admit(socket: Socket, { address, sameNetwork }: Pick<Connection, 'address' | 'sameNetwork'>): void {
    const network = networkOf(address)
    const connection = { address, network, sameNetwork, answers: new Set<ServerResponse>(), usedMs: -Infinity }
    this.#connections.set(socket, connection)
    if (sameNetwork !== null) this.#networks.set(network, sameNetwork)
    sameNetwork?.open.add(socket)
    this.#rest(socket, connection)
    socket.once('close', () => this.#forget(socket))
  }

  #refuse(socket: Socket, address: string): void {
    this.#bounds.onFull(address)
    const failure = new ApiError({ code: 'overloaded', retryAfterMs: 1_000 }, 'Too many connections are open.')
    // The server's parser reads no byte of it, so that no request of it begins. Were its bytes left unread, the
    // system would take the answer back.
    socket.removeAllListeners('data')
    socket.on('data', () => {})
    socket.write(rawError('503 Service Unavailable', failure))
    endGently(socket, this.#bounds.clock)
    this.#refused.add(socket)
    socket.once('close', () => this.#refused.delete(socket))
    const [longest] = this.#refused
    if (this.#refused.size > refusedAtOnceMax) longest?.destroy()
  }

  #begin(socket: Socket, response: ServerResponse): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined) return
    const { sameNetwork, answers } = connection
    answers.add(response)
    this.#idle.delete(socket)
    sameNetwork?.idle.delete(socket)
    response.once('close', () => {
      answers.delete(response)
      connection.usedMs = this.#bounds.clock.monotonicMs()
      this.#rest(socket, connection)
    })
  }

  #rest(socket: Socket, { answers, sameNetwork }: Connection): void {
    whenRead(() => {
      if (answers.size > 0 || !this.#connections.has(socket)) return
      this.#idle.add(socket)
      sameNetwork?.idle.add(socket)
    })
  }

  /** A second call changes nothing. */
  #forget(socket: Socket): void {
    const { network, sameNetwork = null } = this.#connections.get(socket) ?? {}
    this.#connections.delete(socket)
    this.#idle.delete(socket)
    this.#leaving.delete(socket)
    sameNetwork?.idle.delete(socket)
    sameNetwork?.leaving.delete(socket)
    sameNetwork?.open.delete(socket)
    if (network !== undefined && sameNetwork?.open.size === 0) this.#networks.delete(network)
  }

  #makeRoomInNetwork(sameNetwork: NetworkSockets | null): boolean {
    const most = this.#bounds.connectionsPerAddressMax
    if (sameNetwork === null || most === null) return true
    const { open, idle, leaving } = sameNetwork
    return open.size - leaving.size < most || this.#endOne(idle, open)
  }

  #makeRoom(): boolean {
    const staying = this.#connections.size - this.#leaving.size
    return staying < this.#bounds.connectionsMax || this.#endOne(this.#idle, this.#connections.keys())
  }

  #endOne(idle: Iterable<Socket>, open: Iterable<Socket>): boolean {
    const rested = this.#firstRested(idle)
    const found = rested ?? this.#firstReceiving(open)
    const connection = found && this.#connections.get(found)
    if (found === undefined || connection === undefined) return false
    this.#bounds.onFull(connection.address)
    if (found === rested && this.#leaving.size < leavingMax) this.#endUnlessUsed(found, connection)
    else this.#end(found)
    return true
  }

  #firstRested(idle: Iterable<Socket>): Socket | undefined {
    const latestMs = this.#bounds.clock.monotonicMs() - restMsMin
    for (const socket of idle) if ((this.#connections.get(socket)?.usedMs ?? Infinity) <= latestMs) return socket
    return undefined
  }

  #endUnlessUsed(socket: Socket, connection: Connection): void {
    const { answers, sameNetwork, usedMs } = connection
    this.#idle.delete(socket)
    sameNetwork?.idle.delete(socket)
    this.#leaving.add(socket)
    sameNetwork?.leaving.add(socket)
    whenRead(() => {
      this.#leaving.delete(socket)
      sameNetwork?.leaving.delete(socket)
      if (answers.size === 0 && connection.usedMs === usedMs) this.#end(socket)
    })
  }

  #end(socket: Socket): void {
    socket.destroy()
    // Its `close` comes in a later turn, and the next newcomer perhaps in this one.
    this.#forget(socket)
  }

  #firstReceiving(open: Iterable<Socket>): Socket | undefined {
    for (const socket of open) {
      const [first] = this.#connections.get(socket)?.answers ?? []
      if (first !== undefined && !first.headersSent && !first.req.complete) return socket
    }
    return undefined
  }
}

/**
 * Calls when all is read that has come by now. The turn under way may know nothing of it yet, if what it is to read was
 * asked for before.
 */
function whenRead(next: () => void): void {
  setImmediate(() => setImmediate(next))
}

function noSockets(): NetworkSockets {
  return { open: new Set(), idle: new Set(), leaving: new Set() }
}

/** At most one line in this time says that connections are refused: an attack must not fill the log. */
const tellEveryMs = 10_000

/** Watches over the connections of the door, within its bounds. */
export function createConnections({ bounds, trustedProxies, inference: { clock }, log }: HttpParts): OpenConnections {
  const proxies = parseAddressList(trustedProxies)
  let [since, toldMs] = [0, -tellEveryMs]
  const connections = new OpenConnections({
    ...bounds,
    clock,
    isProxy: (address) => 'includes' in proxies && proxies.includes(address),
    onFull(address) {
      since += 1
      const nowMs = clock.monotonicMs()
      if (nowMs - toldMs < tellEveryMs) return
      toldMs = nowMs
      log.warn(
        { connections: connections.size, address, ended: since },
        'connections are ended or refused: too many are open',
      )
      since = 0
    },
  })
  return connections
}
