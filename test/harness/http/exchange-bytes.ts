import { connect } from 'node:net'
import type { Service } from '../start-service.ts'

export type Exchange = {
  /** Every byte that came back, head included. */
  readonly bytes: string
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Sends bytes on a connection of their own and reads until the service closes it. */
export function exchangeBytes(service: Service, sent: string | readonly (string | Uint8Array)[]): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service.address)
    const socket = connect(Number(port), hostname)
    const received: Buffer[] = []
    socket.setTimeout(60_000, () => socket.destroy(new Error('The service neither answered nor closed.')))
    socket.on('connect', () => {
      for (const piece of typeof sent === 'string' ? [sent] : sent) socket.write(piece)
    })
    socket.on('data', (piece: Buffer) => received.push(piece))
    socket.on('error', reject)
    socket.on('close', () => {
      const bytes = Buffer.concat(received).toString('utf8')
      const [head = '', ...rest] = bytes.split('\r\n\r\n')
      resolve({ bytes, head, body: rest.join('\r\n\r\n'), status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0) })
    })
  })
}

/** A request as bytes that asks for the connection to be closed after the answer. */
export function requestBytes(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body = '',
): string {
  const length: Record<string, string> = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const all = { host: 'odyssey.test', connection: 'close', ...headers, ...length }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}
