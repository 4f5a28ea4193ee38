// What a connection and whoever handles its requests tell each other: that a body is wanted, that it is broken, that its
// sender has ended its side.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { invalidRequest, type ApiError } from '../../core/error.ts'

const sendingEnded = 'sending-ended'
const brokenBody = 'broken-body'
const bodyWanted = 'body-wanted'

/** Knows which requests of a connection have answers that are not out, the first one first. */
export type AnswersUnderWay = { answersOf(socket: Socket): readonly ServerResponse[] }

/**
 * Takes care of clients that end their side of a connection while an answer to it is still to come.
 *
 * One that leaves and one that merely has nothing more to send look the same until the next byte is sent to them. What
 * is nearly done is answered; an engine works for nobody who may be gone, so a generation ends, and whoever still
 * listens is told why.
 */
export function watchHalfClosed(server: Server, connections: AnswersUnderWay): void {
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

/** A body may be found to be broken before anybody reads it: in one packet with its head. */
const failures = new WeakMap<IncomingMessage, ApiError>()

/** Tells whoever reads a body, or will, that the rest of it never comes; its request is the last one of its connection. */
export function breakBody(response: ServerResponse, failure: ApiError): void {
  response.shouldKeepAlive = false
  failures.set(response.req, failure)
  response.req.emit(brokenBody)
}

/** Returns how a body is broken; null where nothing is wrong so far. */
export function failureOf(request: IncomingMessage): ApiError | null {
  return failures.get(request) ?? null
}

/** Calls when a body turns out to be broken. Returns the way to stop listening. */
export function whenBroken(request: IncomingMessage, onBroken: () => void): () => void {
  request.once(brokenBody, onBroken)
  return () => request.off(brokenBody, onBroken)
}

/** Answers that were ended early on this side, and why. */
const breakOffs = new WeakMap<ServerResponse, string>()

/** Notes why an answer is ended early, for the log: it is cut off, or told so instead of what was made of it. */
export function noteBreakOff(response: ServerResponse, reason: string): void {
  breakOffs.set(response, reason)
}

/** Returns why an answer was ended early on this side; null where it was not. */
export function breakOffOf(response: ServerResponse): string | null {
  return breakOffs.get(response) ?? null
}

/** Has clients that ask first wait for their `100 Continue` until their body is wanted: what is refused is never sent. */
export function waitToContinue(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    request.once(bodyWanted, () => response.writeContinue())
    server.emit('request', request, response)
  })
}

/** Tells the connection, before the first byte of a body is read, that it is wanted. */
export function wantBody(request: IncomingMessage): void {
  request.emit(bodyWanted)
}
