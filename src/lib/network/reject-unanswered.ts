import type { ClientRequest } from 'node:http'

/**
 * Has a request that no answer comes to fail in every case, so that nobody waits for it for ever.
 *
 * Node tells of most such ends as an error. Of a change of protocols that nobody listens for it closes the connection and
 * says nothing but that, also when the request's time is over later.
 */
export function rejectUnanswered(sent: ClientRequest, reject: (error: Error) => void): void {
  const onClose = () => reject(new Error('The connection was closed before an answer came.'))
  sent.on('error', reject)
  sent.once('upgrade', (_, socket) => {
    socket.destroy()
    reject(new Error('It answered 101, which changes to another protocol.'))
  })
  sent.once('close', onClose)
  // What becomes of the answer's body is its reader's to say: the request may be closed before that was read.
  sent.once('response', () => sent.off('close', onClose))
}
