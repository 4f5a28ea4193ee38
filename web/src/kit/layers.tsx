import { cloneElement, useEffect, useState, useSyncExternalStore, type ReactElement, type ReactNode } from 'react'
import type { IconName } from './icons.tsx'
import type * as LayerParts from './layer-parts.tsx'

export type LayerProps = {
  readonly title: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly said?: ReactNode
  readonly children?: ReactNode
  readonly foot?: ReactNode
  /** Makes the layer one form; its button of type submit sends it. */
  readonly onSubmit?: () => void
  /** Only its own buttons close it: what it shows is shown once. */
  readonly isHeld?: boolean
  /** What is typed into it is worth nothing once it is left, so nobody is asked. */
  readonly isPassing?: boolean
}

export type LayerLook = 'dialog' | 'wide' | 'drawer'

export type MenuEntry =
  | {
      readonly kind: 'action'
      readonly label: string
      readonly icon?: IconName
      readonly isBad?: boolean
      readonly reason?: string | null
      readonly act: () => void
    }
  | { readonly kind: 'rule' }
  | { readonly kind: 'name'; readonly label: string }

export type MenuProps = {
  readonly trigger: ReactElement
  readonly entries: readonly MenuEntry[]
  readonly name: string
}

type Parts = typeof LayerParts

/** What layers are made of is a third of the program, and no page needs it before somebody does something. */
class LazyParts {
  #parts: Parts | null = null
  readonly #listeners = new Set<() => void>()

  readonly current = (): Parts | null => this.#parts

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly load = async (): Promise<void> => {
    if (this.#parts !== null) return
    this.#parts = await import('./layer-parts.tsx')
    for (const listener of this.#listeners) listener()
  }
}

const lazy = new LazyParts()
// Whoever moves a pointer, touches the page or presses a key is about to, and has it by then.
for (const sign of ['pointermove', 'pointerdown', 'keydown'] as const) {
  window.addEventListener(sign, () => void lazy.load().catch(() => {}), { once: true, passive: true })
}

function useParts(isWanted: boolean): Parts | null {
  useEffect(() => {
    if (isWanted) void lazy.load().catch(() => {})
  }, [isWanted])
  return useSyncExternalStore(lazy.subscribe, lazy.current)
}

/** A question or a form before the page, which waits behind it. */
export function Dialog({ isWide = false, ...layer }: LayerProps & { readonly isWide?: boolean }) {
  const parts = useParts(layer.isOpen)
  return parts === null ? null : <parts.Layer {...layer} look={isWide ? 'wide' : 'dialog'} />
}

/** A form or a record beside the page; the whole screen on a phone. */
export function Drawer(layer: LayerProps) {
  const parts = useParts(layer.isOpen)
  return parts === null ? null : <parts.Layer {...layer} look="drawer" />
}

/** A button with what may be done. The menu itself is made when it is asked for: a page of rows has a hundred of them. */
export function Menu({ trigger, entries, name }: MenuProps) {
  const [isAsked, setAsked] = useState(false)
  const parts = useParts(isAsked)
  if (isAsked && parts !== null) return <parts.OpenedMenu trigger={trigger} entries={entries} name={name} />
  return cloneElement(trigger as ReactElement<TriggerProps>, {
    'aria-label': name,
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onClick: () => setAsked(true),
  })
}

type TriggerProps = {
  readonly 'aria-label': string
  readonly 'aria-haspopup': 'menu'
  readonly 'aria-expanded': boolean
  readonly onClick: () => void
}
