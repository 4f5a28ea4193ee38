import { CSPProvider } from '@base-ui/react/csp-provider'
import { Dialog as Base } from '@base-ui/react/dialog'
import { Menu as BaseMenu } from '@base-ui/react/menu'
import { useEffect, useRef, type FormEvent } from 'react'
import { IconButton } from './button.tsx'
import { Icon } from './icons.tsx'
import type { LayerLook, LayerProps, MenuEntry, MenuProps } from './layers.tsx'
import { LayerHistory } from '../lib/layer-history.ts'
import { location } from '../lib/location.ts'
import { unsavedForms } from '../lib/unsaved-forms.ts'
import styles from './layers.module.css'

const history = new LayerHistory()
location.keepLayersIn(history)

const looks = { dialog: styles.dialog, wide: `${styles.dialog} ${styles.wide}`, drawer: styles.drawer } as const

/** A layer over the page. Focus goes in, and back when it closes. */
export function Layer({
  title,
  isOpen,
  onClose,
  said,
  children,
  foot,
  onSubmit,
  isHeld = false,
  isPassing = false,
  look,
}: LayerProps & { readonly look: LayerLook }) {
  const body = useRef<HTMLDivElement>(null)
  // Whoever opens a form wants to type, not to close it. What is shown once stands above the fields beneath it, and who
  // hears the page would begin below it.
  const firstField = () => (isHeld ? null : body.current?.querySelector<HTMLElement>('input, select, textarea')) ?? true
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
  // Its own buttons and Escape are meant; the way back and a click beside it may not be.
  const closeUnlessKept = () => {
    if (body.current === null || unsavedForms.mayLeave(body.current)) onClose()
  }
  useBack(isOpen, closeUnlessKept)
  return (
    <CSPProvider disableStyleElements>
      <Base.Root
        open={isOpen}
        onOpenChange={(open, { reason }) => {
          if (open || (isHeld && reason !== 'close-press')) return
          if (reason === 'outside-press') closeUnlessKept()
          else onClose()
        }}
      >
        <Base.Portal>
          <Base.Backdrop className={styles.backdrop} />
          <Base.Popup className={looks[look] ?? ''} initialFocus={firstField}>
            {onSubmit === undefined ? (
              inside
            ) : (
              // A dialog may not itself be a form: readers would be told of one of the two alone.
              <form noValidate data-kept={!isPassing || undefined} className={styles.form} onSubmit={send}>
                {inside}
              </form>
            )}
          </Base.Popup>
        </Base.Portal>
      </Base.Root>
    </CSPProvider>
  )
}

/** The browser's way back closes a layer, the topmost first, before it leads to another page. */
function useBack(isOpen: boolean, onClose: () => void): void {
  const close = useRef(onClose)
  useEffect(() => {
    close.current = onClose
  })
  useEffect(() => (isOpen ? history.open(() => close.current()) : undefined), [isOpen])
}

/** A menu that was asked for, open at first. */
export function OpenedMenu({ trigger, entries, name }: MenuProps) {
  return (
    <CSPProvider disableStyleElements>
      <BaseMenu.Root modal={false} defaultOpen>
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
    </CSPProvider>
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
