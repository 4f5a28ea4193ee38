import type { IncomingMessage, Server, ServerResponse } from 'node:http'

const bodyWanted = 'body-wanted'

/** Has clients that ask first wait for their `100 Continue` until their body is wanted: what is refused is never sent. */
export function waitToContinue(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    request.once(bodyWanted, () => response.writeContinue())
    server.emit('request', request, response)
  })
}

/** Said once, before the first byte of a body is read. */
export function wantBody(request: IncomingMessage): void {
  request.emit(bodyWanted)
}
