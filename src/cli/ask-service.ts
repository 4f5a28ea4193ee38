import { Agent, request } from 'node:http'
import { rejectUnanswered } from '../lib/network/reject-unanswered.ts'

export type ServiceAnswer = {
  readonly status: number
  /** Null where it is no JSON. */
  readonly body: unknown
}

type Asked = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly msMax: number
}

/**
 * Asks the service of this machine. A proxy that the environment names for the world outside is not asked: it would get the
 * operator's key, and would look for the service on itself.
 */
export function askService(url: string, { method = 'GET', headers = {}, body, msMax }: Asked): Promise<ServiceAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ServiceAnswer>()
  const agent = new Agent()
  const signal = AbortSignal.timeout(msMax)
  const asking = request(url, { method, headers, agent, signal }, (response) => {
    const pieces: Buffer[] = []
    response.on('data', (piece: Buffer) => pieces.push(piece))
    response.once('error', reject)
    response.once('end', () => resolve({ status: response.statusCode ?? 0, body: parse(Buffer.concat(pieces)) }))
  })
  rejectUnanswered(asking, reject)
  asking.end(body)
  return promise.finally(() => agent.destroy())
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return null
  }
}
