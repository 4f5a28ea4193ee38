import { Dialog as Base } from '@base-ui/react/dialog'
import { Menu as BaseMenu } from '@base-ui/react/menu'
import { useEffect, useRef, type FormEvent, type ReactElement, type ReactNode } from 'react'
import { IconButton } from './button.tsx'
import { Icon, type IconName } from './icons.tsx'
import { location } from '../lib/location.ts'
import styles from './layers.module.css'

type LayerProps = {
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
}

/** A question or a form before the page, which waits behind it. Focus goes in, and back when it closes. */
export function Dialog({ isWide = false, ...layer }: LayerProps & { readonly isWide?: boolean }) {
  return <Layer {...layer} className={`${styles.dialog} ${isWide ? styles.wide : ''}`} />
}

/** A form or a record beside the page; the whole screen on a phone. */
export function Drawer(layer: LayerProps) {
  return <Layer {...layer} className={styles.drawer ?? ''} />
}

function Layer({
  title,
  isOpen,
  onClose,
  said,
  children,
  foot,
  onSubmit,
  isHeld = false,
  className,
}: LayerProps & { readonly className: string }) {
  const body = useRef<HTMLDivElement>(null)
  // Whoever opens a form wants to type, not to close it.
  const firstField = () => body.current?.querySelector<HTMLElement>('input, select, textarea') ?? true
  const inside = (
    <>
      <div className={styles.head}>
        <Base.Title className={styles.title}>{title}</Base.Title>
        {!isHeld && <IconButton icon="close" name="Close" onClick={onClose} />}
      </div>
      {said !== undefined && <Base.Description className={styles.said}>{said}</Base.Description>}
      <div className={styles.body} ref={body}>
        {children}
      </div>
      {foot !== undefined && <div className={styles.foot}>{foot}</div>}
    </>
  )
  const send = (event: FormEvent) => {
    event.preventDefault()
    onSubmit?.()
  }
  useBack(isOpen, onClose)
  return (
    <Base.Root
      open={isOpen}
      onOpenChange={(open, { reason }) => (open || (isHeld && reason !== 'close-press') ? undefined : onClose())}
    >
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup className={className} initialFocus={firstField}>
          {onSubmit === undefined ? (
            inside
          ) : (
            // A dialog may not itself be a form: readers would be told of one of the two alone.
            <form noValidate className={styles.form} onSubmit={send}>
              {inside}
            </form>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

/** The browser's way back closes a layer, the topmost first, before it leads to another page. */
function useBack(isOpen: boolean, onClose: () => void): void {
  const close = useRef(onClose)
  useEffect(() => {
    close.current = onClose
  })
  useEffect(() => (isOpen ? location.openLayer(() => close.current()) : undefined), [isOpen])
}

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

export function Menu({
  trigger,
  entries,
  name,
}: {
  readonly trigger: ReactElement
  readonly entries: readonly MenuEntry[]
  readonly name: string
}) {
  return (
    <BaseMenu.Root modal={false}>
      <BaseMenu.Trigger render={trigger} aria-label={name} />
      <BaseMenu.Portal>
        <BaseMenu.Positioner className={styles.positioner} sideOffset={4} align="end">
          <BaseMenu.Popup className={styles.popup}>
            {entries.map((entry, index) => (
              <Entry key={index} entry={entry} />
            ))}
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  )
}

function Entry({ entry }: { readonly entry: MenuEntry }) {
  if (entry.kind === 'rule') return <BaseMenu.Separator className={styles.rule} />
  if (entry.kind === 'name') return <div className={styles.groupName}>{entry.label}</div>
  const isOff = typeof entry.reason === 'string'
  return (
    <BaseMenu.Item
      className={`${styles.item} ${entry.isBad && !isOff ? styles.bad : ''}`}
      disabled={isOff}
      title={entry.reason ?? undefined}
      onClick={() => entry.act()}
    >
      {entry.icon && <Icon name={entry.icon} />}
      {entry.label}
    </BaseMenu.Item>
  )
}
