import { request, type IncomingHttpHeaders } from 'node:http'
import { checkChatStream } from '../../validators/chat-stream.ts'
import { checkMessagesStream } from '../../validators/messages-stream.ts'
import { paths, type Format } from './ask.ts'
import type { Service } from '../start-service.ts'

export type Frame = { readonly event: string | undefined; readonly data: string }

export type StreamEnd = {
  readonly text: string
  /** False when the connection was cut before the body's own end. */
  readonly isWhole: boolean
}

export type LiveStream = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** What has arrived so far. */
  text(): string
  /** Waits until what has arrived matches; false when the stream ended before. */
  has(pattern: RegExp): Promise<boolean>
  readonly ended: Promise<StreamEnd>
  /** Destroys the connection. */
  leave(): void
}

/** A request on a connection of its own whose answer is read as it comes. Resolves with the head of the answer. */
export function openStream(service: Service, path: string, body: unknown): Promise<LiveStream> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' }
    const sent = request(`${service.address}${path}`, { method: 'POST', agent: false, headers })
    sent.once('error', reject)
    sent.once('response', (response) => {
      let text = ''
      const watchers = new Set<() => void>()
      const wake = () => {
        for (const watcher of watchers) watcher()
      }
      const { promise: ended, resolve: end } = Promise.withResolvers<StreamEnd>()
      let isOver = false
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
        wake()
      })
      response.on('error', () => {})
      response.once('close', () => {
        isOver = true
        end({ text, isWhole: response.complete })
        wake()
      })
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: () => text,
        has: (pattern) =>
          new Promise((found) => {
            const look = () => {
              if (!pattern.test(text) && !isOver) return
              watchers.delete(look)
              found(pattern.test(text))
            }
            watchers.add(look)
            look()
          }),
        ended,
        leave: () => sent.destroy(),
      })
    })
    sent.end(JSON.stringify(body))
  })
}

export function openFormatStream(service: Service, format: Format, body: Record<string, unknown>): Promise<LiveStream> {
  return openStream(service, paths[format], { ...body, stream: true })
}

/** Splits a body into its frames and leaves comments out. Throws at anything that is neither. */
export function readFrames(text: string): Frame[] {
  if (text !== '' && !text.endsWith('\n\n')) throw new Error(`The stream ends within a frame: ${text.slice(-200)}`)
  const blocks = text.split('\n\n').slice(0, -1)
  return blocks.flatMap((block) => {
    if (block === ': keep-alive') return []
    const parts = /^(?:event: (\w+)\n)?data: ([^\n]+)$/.exec(block)
    if (parts === null) throw new Error(`This is no frame: ${block}`)
    return [{ event: parts[1], data: parts[2] ?? '' }]
  })
}

/** Throws unless this is the whole stream of an answer that ended well. */
export function checkStream(format: Format, text: string, options: { readonly includeUsage?: boolean } = {}): void {
  const frames = readFrames(text)
  if (format === 'chat') checkChatStream(frames, { includeUsage: options.includeUsage ?? false })
  else checkMessagesStream(frames)
}
