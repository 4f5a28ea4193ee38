import type { Server, ServerResponse } from 'node:http'
import { ApiError, type ApiErrorReason } from '../../../src/core/error.ts'
import type { FakeStep } from '../../../src/engines/fake/fake-engine.ts'
import { watchSent } from '../../harness/http/watch-sent.ts'
import { startFakeService, type FakeService } from '../../harness/fake-service.ts'

/** What becomes of one request; it may also throw, which refuses the request. */
export type Fault = (service: FaultyService) => readonly FakeStep[]

export type FaultyService = FakeService & {
  /** When each request for an answer came, in milliseconds. */
  readonly arrivalsMs: readonly number[]
  /** Waits until bytes that match are on their way to the client. */
  hasSent(pattern: RegExp): Promise<void>
}

export type Faults = {
  /** For the first requests, one each; those after them are answered. */
  readonly first?: readonly Fault[]
  /** For every request there is. */
  readonly always?: Fault
  /** The engine begins with a request once bytes that match were sent. */
  readonly startsOnce?: RegExp
}

export const answer = 'All is well.'
export const beginning = 'All is'

const wait: FakeStep = { kind: 'wait', ms: 60_000 }
const moment: FakeStep = { kind: 'wait', ms: 50 }
const begun: FakeStep = { kind: 'block', block: { kind: 'text' }, texts: ['All ', 'is'], isLeftOpen: true }
const lost: FakeStep = { kind: 'fail', error: new ApiError({ code: 'engine-failed' }, 'The engine was lost.') }

export const whole: Fault = () => [
  { kind: 'block', block: { kind: 'text' }, texts: ['All ', 'is ', 'well.'] },
  { kind: 'end', reason: { kind: 'end' } },
]

/** An answer that pauses between its thinking and its text until bytes that match were sent. */
export function pausedUntil(pattern: RegExp): Fault {
  return (service) => [
    { kind: 'block', block: { kind: 'thinking' }, texts: ['Let me ', 'see.'] },
    { kind: 'wait-for', event: service.hasSent(pattern) },
    ...whole(service),
  ]
}

/** An answer whose prompt takes so long that its first token comes late. */
export function slowlyBegun(ms: number): Fault {
  return (service) => [{ kind: 'wait', ms }, ...whole(service)]
}

export function refused(reason: ApiErrorReason): Fault {
  return () => {
    throw new ApiError(reason, 'The request is refused.')
  }
}

/** The head is out and the engine is lost: the stream says so and is cut. */
export const brokenAtOnce: Fault = () => [moment, lost]

export const brokenInText: Fault = () => [begun, moment, lost]

/** A call whose arguments stop in their midst. */
export const brokenInCall: Fault = () => [
  {
    kind: 'block',
    block: { kind: 'tool-call', id: 'cut', name: 'get_weather' },
    texts: ['{"city":', '"Kö'],
    isLeftOpen: true,
  },
  moment,
  lost,
]

/** The service goes without a word, as one that is killed does, before it has answered anything. */
export const gone: Fault = (service) => {
  service.app.server.closeAllConnections()
  return [wait]
}

export const goneInText: Fault = (service) => {
  setTimeout(() => service.app.server.closeAllConnections(), 50)
  return [begun, wait]
}

/** One service for one client, so that what it counts is that client's. */
export async function startFaultyService({ first = [], always, startsOnce }: Faults): Promise<FaultyService> {
  const coming = [...first]
  const arrivalsMs: number[] = []
  const started = await startFakeService({
    script: () => (always ?? coming.shift() ?? whole)(service),
    ...(startsOnce !== undefined && { startsAfter: () => service.hasSent(startsOnce) }),
    features: new Set(['tools', 'json-output']),
  })
  const sent = tapSent(started.app.server)
  const service = { ...started, arrivalsMs, hasSent: sent.has }
  started.app.server.on('request', ({ method }) => {
    if (method === 'POST') arrivalsMs.push(performance.now())
  })
  return service
}

/** Reads along with what a server sends in pieces. */
function tapSent(server: Server): { has(pattern: RegExp): Promise<void> } {
  let text = ''
  const watchers = new Set<() => void>()
  server.prependListener('request', (_request, response: ServerResponse) => {
    watchSent(response, (piece) => {
      text += piece
      for (const look of watchers) look()
    })
  })
  return {
    has: (pattern) =>
      new Promise((resolve) => {
        const look = () => {
          if (!pattern.test(text)) return
          watchers.delete(look)
          resolve()
        }
        watchers.add(look)
        look()
      }),
  }
}
