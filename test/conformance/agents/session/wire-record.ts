import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { messageOf } from '../../../../src/lib/message-of.ts'
import { readFrames } from '../../../harness/http/open-stream.ts'
import { watchSent } from '../../../harness/http/watch-sent.ts'
import { checkMessagesStream } from '../../../validators/messages-stream.ts'

/** One call as the service saw it. */
export type Call = {
  readonly request: string
  readonly status: number
  /** Whether the client was gone before the answer's end. */
  readonly isLeft: boolean
  /** What is wrong with its stream, or null. */
  readonly fault: string | null
}

export type WireRecord = {
  /** The calls that are over. */
  readonly calls: readonly Call[]
  /** Waits until bytes that match are on their way to the client. */
  hasSent(text: string): Promise<void>
}

/** Watches what a server is asked and what it answers. */
export function recordWire(server: Server): WireRecord {
  const calls: Call[] = []
  const watchers = new Set<(sent: string) => void>()
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    let sent = ''
    watchSent(response, (piece) => {
      sent += piece
      for (const look of watchers) look(sent)
    })
    response.once('close', () => {
      const isLeft = !response.writableFinished
      const isStream = String(response.getHeader('content-type')).startsWith('text/event-stream')
      const fault = isStream && !isLeft ? faultOf(sent) : null
      calls.push({ request: `${request.method} ${request.url}`, status: response.statusCode, isLeft, fault })
    })
  })
  return {
    calls,
    hasSent: (text) =>
      new Promise((resolve) => {
        const look = (sent: string) => {
          if (!sent.includes(text)) return
          watchers.delete(look)
          resolve()
        }
        watchers.add(look)
      }),
  }
}

function faultOf(sent: string): string | null {
  try {
    checkMessagesStream(readFrames(sent))
    return null
  } catch (error) {
    return messageOf(error)
  }
}
