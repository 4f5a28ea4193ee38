import { useEffect, useRef, useState } from 'react'
import type { LedgerEntry } from '../../app/queries.ts'

/** The page counts as scrolled from here on: its table has left its place. */
const scrolledPixels = 160

const nameOf = ({ requestId, kind }: LedgerEntry) => `${requestId} ${kind}`

/** Whether somebody is about to do something with a row: then none may move away under their hand. */
function useAttention(frame: React.RefObject<HTMLElement | null>, isWatched: boolean): boolean {
  const [isHeld, setHeld] = useState(false)
  useEffect(() => {
    if (!isWatched) return
    const look = () => {
      const table = frame.current?.querySelector('tbody')
      const isOver = table?.matches(':hover, :focus-within') ?? false
      setHeld(isOver || window.scrollY > scrolledPixels)
    }
    const signs = ['pointerover', 'pointerout', 'focusin', 'focusout', 'scroll'] as const
    for (const sign of signs) document.addEventListener(sign, look, { passive: true })
    return () => {
      for (const sign of signs) document.removeEventListener(sign, look)
      setHeld(false)
    }
  }, [frame, isWatched])
  return isHeld
}

type Held = {
  /** Around the rows, so that it is known who is at them. */
  readonly frame: React.RefObject<HTMLDivElement | null>
  readonly rows: readonly LedgerEntry[]
  /** How many have come since the rows stand still. */
  readonly newRows: number
  release(): void
}

/** Live rows, newest on top, that stand still while somebody points at one, is in one, or has scrolled down. */
export function useHeldRows(rows: readonly LedgerEntry[], isLive: boolean): Held {
  const frame = useRef<HTMLDivElement>(null)
  const isHeld = useAttention(frame, isLive)
  const [kept, setKept] = useState<readonly LedgerEntry[] | null>(null)
  // Kept as they were when they began to stand still.
  if (isHeld && kept === null) setKept(rows)
  if (!isHeld && kept !== null) setKept(null)
  const shown = kept ?? rows
  const first = shown[0]
  const at = first === undefined ? 0 : rows.findIndex((row) => nameOf(row) === nameOf(first))
  const release = () => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    window.scrollTo({ top: 0 })
    setKept(rows)
  }
  return { frame, rows: shown, newRows: at === -1 ? rows.length : at, release }
}
