import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../lib/clock.ts'

/** A client reads its answer within this time; whoever goes on sending is cut off after it. */
const lingerMs = 2_000

/**
 * Has an answer end its connection, although its request has not been read to the end.
 *
 * Closing at once while bytes still arrive would make the system take the answer back: the client would see a
 * connection reset and never learn why. So only the sending side is closed, what comes is thrown away, and after
 * a moment the connection is cut.
 */
export function closeGently(response: ServerResponse, clock: Clock): void {
  const { socket, req: request } = response
  request.resume()
  // The server calls this once the answer is out.
  if (socket !== null) socket.destroySoon = () => endGently(socket, clock)
}

/** Ends a connection whose last bytes have been written. */
export function endGently(socket: Socket, clock: Clock): void {
  if (socket.destroyed) return
  socket.end()
  const cancel = clock.after(lingerMs, () => socket.destroy())
  socket.once('close', cancel)
}
