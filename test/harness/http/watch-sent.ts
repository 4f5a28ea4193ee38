import type { ServerResponse } from 'node:http'

/** A stream is written as chunks that are made already; what is in them is what the client reads. */
const chunk = /^[0-9a-f]+\r\n([^]*)\r\n$/

/** Reads along with what an answer sends in pieces. */
export function watchSent(response: ServerResponse, onText: (text: string) => void): void {
  const write = response.write.bind(response) as (piece: unknown, ...rest: unknown[]) => boolean
  response.write = (piece: unknown, ...rest: unknown[]) => {
    const text = String(piece)
    onText(chunk.exec(text)?.[1] ?? text)
    return write(piece, ...rest)
  }
}
