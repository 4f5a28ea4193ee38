import { useEffect, useState, useSyncExternalStore } from 'react'
import { addressOf } from '../../api/client.ts'
import type { LedgerEntry, LedgerFilter } from '../../app/queries.ts'
import { readEvents } from '../../lib/wire.ts'

/** After the stream has ended, and after it was refused. */
const retryMs = 2_000
const retryRefusedMs = 15_000

export type Tail = {
  /** Whether new requests come by the stream; otherwise the list is read again. */
  readonly isFollowed: boolean
  /** Those that came since it began, newest first. */
  readonly rows: readonly LedgerEntry[]
  /** How many came at once, of which only the newest were told. */
  readonly passedOver: number
}

const nothing: Tail = { isFollowed: false, rows: [], passedOver: 0 }

function subscribeToSight(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener)
  return () => document.removeEventListener('visibilitychange', listener)
}

type Wanted = {
  readonly organizationId: string
  readonly filter: LedgerFilter
  readonly isOn: boolean
  /** As many rows as are shown. */
  readonly rowsMax: number
  /** What came before is not known, so the list has to be read. */
  readonly onBegin: () => void
}

/**
 * Follows requests as they are settled, while the page can be seen: a browser has six connections to a host, and pages in
 * the background leave theirs to others.
 */
export function useTail({ organizationId, filter, isOn, rowsMax, onBegin }: Wanted): Tail {
  const isSeen = useSyncExternalStore(subscribeToSight, () => !document.hidden)
  const [tail, setTail] = useState(nothing)
  const asked = JSON.stringify(filter)
  useEffect(() => {
    if (!isOn || !isSeen) return
    const stopping = new AbortController()
    const path = '/api/v1/organizations/{organizationId}/requests/tail'
    const address = addressOf(path, { organizationId }, JSON.parse(asked) as LedgerFilter)
    const hear = (told: Told) => {
      if (told === 'begin') onBegin()
      setTail((known) => after(known, told, rowsMax))
    }
    void follow(address, stopping.signal, hear)
    return () => {
      stopping.abort()
      setTail(nothing)
    }
  }, [organizationId, asked, isOn, isSeen, rowsMax, onBegin])
  return { ...tail, isFollowed: isOn && (tail.isFollowed || !isSeen) }
}

type Told = 'begin' | 'end' | { readonly dropped: number } | LedgerEntry

function after(known: Tail, told: Told, rowsMax: number): Tail {
  if (told === 'begin') return { isFollowed: true, rows: [], passedOver: 0 }
  if (told === 'end') return nothing
  if ('dropped' in told) return { ...known, passedOver: known.passedOver + told.dropped }
  return { ...known, rows: [told, ...known.rows].slice(0, rowsMax) }
}

/** Reads one stream after the other, until it is told to stop. */
async function follow(address: string, signal: AbortSignal, hear: (told: Told) => void): Promise<void> {
  while (!signal.aborted) {
    const isRefused = await readTail(address, signal, hear).catch(() => false)
    if (signal.aborted) return
    hear('end')
    await new Promise((resolve) => setTimeout(resolve, isRefused ? retryRefusedMs : retryMs))
  }
}

/** Resolves with whether it was refused, at the end of the stream. */
async function readTail(address: string, signal: AbortSignal, hear: (told: Told) => void): Promise<boolean> {
  const response = await fetch(address, {
    signal,
    credentials: 'same-origin',
    headers: { accept: 'text/event-stream', 'x-odyssey-background': '1' },
  })
  if (!response.ok || response.body === null) {
    await response.body?.cancel()
    return true
  }
  for await (const { name, text } of readEvents(response.body)) {
    if (name === 'begin') hear('begin')
    else hear(JSON.parse(text) as LedgerEntry | { readonly dropped: number })
  }
  return false
}

const nameOf = ({ requestId, kind }: LedgerEntry) => `${requestId} ${kind}`

/** What came since, above what was read; what is in both is shown once. */
export function putTogether(
  { rows }: Pick<Tail, 'rows'>,
  read: readonly LedgerEntry[],
  rowsMax: number,
): readonly LedgerEntry[] {
  if (rows.length === 0) return read
  const told = new Set(rows.map(nameOf))
  return [...rows, ...read.filter((row) => !told.has(nameOf(row)))].slice(0, rowsMax)
}
