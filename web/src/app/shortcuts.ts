import { useEffect } from 'react'
import { preferences } from './preferences.ts'

/** A letter acts only where nobody is typing, and with no other key held. */
export function isPlainKey(event: KeyboardEvent): boolean {
  const target = event.target
  const isTyping =
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  return !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey && !event.defaultPrevented
}

/** Whether something stands over the page. A layer that is on its way out holds no key back. */
export function isLayerOpen(): boolean {
  return document.querySelector('[role="dialog"][data-open], [role="menu"][data-open]') !== null
}

/** Acts on single keys while a page is shown and no layer is open over it. */
export function useKeys(actions: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const act = (event: KeyboardEvent) => {
      if (!preferences.current().hasShortcuts || !isPlainKey(event)) return
      if (isLayerOpen()) return
      const action = actions[event.key]
      if (action === undefined) return
      event.preventDefault()
      action()
    }
    document.addEventListener('keydown', act)
    return () => document.removeEventListener('keydown', act)
  }, [actions])
}

/** Moves the focus from one row's link to the next. */
export function stepRow(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('tr[data-row]')]
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  const next = rows[at === -1 ? (by === 1 ? 0 : rows.length - 1) : at + by]
  next?.querySelector<HTMLElement>('a, button')?.focus()
}
