import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { Icon, type IconName } from './icons.tsx'
import { Link } from './link.tsx'
import styles from './button.module.css'

export type ButtonLook = 'plain' | 'primary' | 'quiet' | 'danger'

type Props = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'className' | 'disabled'> & {
  readonly look?: ButtonLook
  readonly icon?: IconName
  readonly isSmall?: boolean
  readonly isBusy?: boolean
  /** Why it cannot be used now. It stays reachable, so that whoever asks is told. */
  readonly reason?: string | null
  /** The key that does the same. */
  readonly shortcut?: string
}

export function Button({ look = 'plain', icon, isSmall, isBusy, reason, shortcut, onClick, children, ...rest }: Props) {
  const isOff = isBusy === true || typeof reason === 'string'
  return (
    <button
      type="button"
      {...rest}
      className={[styles.button, styles[look], isSmall && styles.small].filter(Boolean).join(' ')}
      aria-disabled={isOff || undefined}
      aria-busy={isBusy || undefined}
      title={reason ?? rest.title}
      onClick={(event) => {
        if (!isOff) return onClick?.(event)
        // A form would be sent all the same. Who pressed Enter in one of its fields is led to what says why it is not.
        event.preventDefault()
        event.currentTarget.focus()
      }}
    >
      {icon && <Icon name={icon} />}
      {children}
      {shortcut !== undefined && (
        <kbd className={styles.key} aria-hidden="true">
          {shortcut}
        </kbd>
      )}
    </button>
  )
}

type IconButtonProps = Omit<Props, 'icon' | 'children'> & { readonly icon: IconName; readonly name: string }

/** A button of one outline, which always has a name; what it opens may give it a longer one. */
export function IconButton({ icon, name, look = 'quiet', isSmall, reason, isBusy, onClick, ...rest }: IconButtonProps) {
  const { 'aria-label': label = name } = rest
  const isOff = isBusy === true || typeof reason === 'string'
  return (
    <button
      type="button"
      {...rest}
      className={[styles.button, styles[look], styles.icon, isSmall && styles.small].filter(Boolean).join(' ')}
      aria-label={label}
      aria-disabled={isOff || undefined}
      title={reason ?? name}
      onClick={isOff ? undefined : onClick}
    >
      <Icon name={icon} size={isSmall ? 14 : 16} />
    </button>
  )
}

type LinkButtonProps = {
  readonly href: string
  readonly look?: ButtonLook
  readonly icon?: IconName
  readonly isSmall?: boolean
  readonly children: ReactNode
}

export function LinkButton({ href, look = 'plain', icon, isSmall, children }: LinkButtonProps) {
  return (
    <Link href={href} className={[styles.button, styles[look], isSmall && styles.small].filter(Boolean).join(' ')}>
      {icon && <Icon name={icon} />}
      {children}
    </Link>
  )
}
