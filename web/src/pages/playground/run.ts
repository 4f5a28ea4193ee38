import { useEffect, useRef, useState } from 'react'
import { addressOf } from '../../api/client.ts'
import { readEvents, type WireEvent, type WireFormat } from '../../lib/wire.ts'
import { addEvent, noAnswer, type Answer } from './answer.ts'

export type Run = Answer & {
  readonly body: unknown
  readonly status: number | null
  readonly requestId: string | null
  readonly firstMs: number | null
  readonly totalMs: number | null
  readonly events: readonly WireEvent[]
  readonly isOver: boolean
}

/** Under whose name it is asked: the reader's own, in one of their projects. */
export type PlaygroundProject = { readonly organizationId: string; readonly projectId: string }
type Asked = PlaygroundProject & { readonly format: WireFormat; readonly body: unknown; readonly signal: AbortSignal }

const begun: Omit<Run, 'body'> = {
  ...noAnswer,
  status: null,
  requestId: null,
  firstMs: null,
  totalMs: null,
  events: [],
  isOver: false,
}
/** What comes faster than a screen is drawn is shown together. */
const showEveryMs = 33
const above = '/api/v1/organizations/{organizationId}/projects/{projectId}/playground'

/** Sends a body of a wire format by the reader's session; no key is in the browser. */
export function sendWire(path: string, { organizationId, projectId, body, signal }: Omit<Asked, 'format'>) {
  return fetch(addressOf(`${above}/${path}`, { organizationId, projectId }), {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'content-type': 'application/json' },
    signal,
    body: JSON.stringify(body),
  }).catch((error: unknown) => {
    throw signal.aborted ? error : new Error('Odyssey does not answer.', { cause: error })
  })
}

/** Asks, and shows what comes. */
async function runRequest(asked: Asked, show: (run: Run) => void): Promise<void> {
  const { format, body, signal } = asked
  const startedMs = performance.now()
  let run: Run = { ...begun, body }
  let shownMs = 0
  const update = (changes: Partial<Run>, isNow = true) => {
    run = { ...run, ...changes }
    if (!isNow && performance.now() - shownMs < showEveryMs) return
    shownMs = performance.now()
    show(run)
  }
  update({})
  try {
    const response = await sendWire(format, asked)
    update({ status: response.status, requestId: response.headers.get('x-request-id') })
    if (!response.ok || response.body === null) {
      const refused = (await response.json()) as { readonly error?: { readonly message?: string } }
      return update({ fault: refused.error?.message ?? `The service answered with ${response.status}.`, isOver: true })
    }
    for await (const event of readEvents(response.body)) {
      const next = addEvent(run, format, event.text)
      const hasBegun = next.text !== '' || next.thinking !== '' || next.calls.length > 0
      const firstMs = run.firstMs ?? (hasBegun ? performance.now() - startedMs : null)
      update({ ...next, events: [...run.events, event], firstMs }, false)
    }
  } catch (error) {
    if (!signal.aborted) update({ fault: error instanceof Error ? error.message : String(error) })
  }
  update({ totalMs: performance.now() - startedMs, isOver: true, ...(signal.aborted && { end: 'stopped here' }) })
}

export type Column = {
  readonly run: Run | null
  readonly isBusy: boolean
  start(asked: Omit<Asked, 'signal'>): void
  stop(): void
  clear(): void
}

/** One column of the page: what was last asked in it, and the way to end it. */
export function useColumn(): Column {
  const [run, setRun] = useState<Run | null>(null)
  const stop = useRef<AbortController | null>(null)
  useEffect(() => () => stop.current?.abort(), [])
  return {
    run,
    isBusy: run !== null && !run.isOver,
    start(asked) {
      stop.current?.abort()
      const own = new AbortController()
      stop.current = own
      // What was overtaken shows nothing any more.
      void runRequest({ ...asked, signal: own.signal }, (next) => (stop.current === own ? setRun(next) : undefined))
    },
    stop: () => stop.current?.abort(),
    clear() {
      stop.current?.abort()
      stop.current = null
      setRun(null)
    },
  }
}
