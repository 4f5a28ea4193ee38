import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { invalidRequest, type ApiError } from '../../core/error.ts'
import type { OpenConnections } from './open-connections.ts'

const sendingEnded = 'sending-ended'

/**
 * Takes care of clients that end their side of a connection while an answer to it is still to come.
 *
 * One that leaves and one that merely has nothing more to send look the same until the next byte is sent to them. What
 * is nearly done is answered; an engine works for nobody who may be gone, so a generation ends, and whoever still
 * listens is told why.
 */
export function watchHalfClosed(server: Server, connections: OpenConnections): void {
  // Otherwise the server would close its own side at once, and no answer could be sent.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('connection', (socket: Socket) => {
    socket.once('end', () => {
      for (const response of connections.answersOf(socket)) {
        if (!response.headersSent) response.emit(sendingEnded)
        else if (!response.writableEnded) socket.destroy()
      }
    })
  })
}

/** Calls, with what to answer, when the client has ended its side before any of the answer was sent. */
export function whenClientEndsSending(response: ServerResponse, onEnd: (reason: ApiError) => void): void {
  const end = () => {
    const message = 'The connection was closed for sending before the answer had begun; keep it open until then.'
    onEnd(invalidRequest(null, null, message))
  }
  if (response.socket?.readableEnded === true) end()
  else response.once(sendingEnded, end)
}
