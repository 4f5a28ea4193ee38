import { useEffect, useId, useRef, type CSSProperties, type ReactNode } from 'react'
import { say } from '../lib/voice.ts'
import { Icon, type IconName } from './icons.tsx'
import styles from './page.module.css'

type PageProps = {
  readonly title: ReactNode
  readonly said?: ReactNode
  readonly actions?: ReactNode
  readonly filters?: ReactNode
  readonly isNarrow?: boolean
  readonly children: ReactNode
}

/** A page's frame: one heading, which gets the focus when the page is come to, then what is on it. */
export function Page({ title, said, actions, filters, isNarrow = false, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  return (
    <div className={`${styles.page} ${isNarrow ? styles.narrow : ''}`}>
      <div className={styles.head}>
        <div className={styles.titles}>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {said !== undefined && <p className={styles.said}>{said}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </div>
      {filters !== undefined && (
        <div className={styles.filters} role="search" aria-label="Filters">
          {filters}
        </div>
      )}
      {children}
    </div>
  )
}

export function Card({
  title,
  actions,
  children,
  isFlush = false,
}: {
  readonly title?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  readonly isFlush?: boolean
}) {
  const id = useId()
  return (
    <section className={styles.card} {...(title !== undefined && { 'aria-labelledby': id })}>
      {title !== undefined && (
        <div className={styles.cardHead}>
          <h2 id={id}>{title}</h2>
          {actions}
        </div>
      )}
      <div className={isFlush ? styles.flush : styles.cardBody} data-flush={isFlush || undefined}>
        {children}
      </div>
    </section>
  )
}

/** Equal columns, as many as fit. */
export function Grid({
  least = 280,
  isLevel = false,
  children,
}: {
  readonly least?: number
  /** The feet stand on one line, as of fields whose labels are not equally long. */
  readonly isLevel?: boolean
  readonly children: ReactNode
}) {
  return (
    <div className={styles.grid} data-level={isLevel || undefined} style={{ '--least': `${least}px` } as CSSProperties}>
      {children}
    </div>
  )
}

export function Stack({ children }: { readonly children: ReactNode }) {
  return <div className={styles.stack}>{children}</div>
}

export function Columns({ children }: { readonly children: ReactNode }) {
  return <div className={styles.columns}>{children}</div>
}

export function Row({ children }: { readonly children: ReactNode }) {
  return <div className={styles.row}>{children}</div>
}

export type Mood = 'good' | 'warn' | 'bad' | 'info' | 'off'
const moodIcons: Readonly<Record<Mood, IconName>> = { good: 'good', warn: 'warn', bad: 'bad', info: 'info', off: 'off' }

/** A state by word and outline; its colour says it a third time. */
export function StateTag({
  mood,
  children,
  icon = moodIcons[mood],
}: {
  readonly mood: Mood
  readonly children: ReactNode
  readonly icon?: IconName
}) {
  return (
    <span className={`${styles.tag} ${styles[mood]}`}>
      <Icon name={icon} size={14} />
      {children}
    </span>
  )
}

export function Badge({ children }: { readonly children: ReactNode }) {
  return <span className={styles.badge}>{children}</span>
}

function sayTextOf(text: Element | null): void {
  if (text !== null) say(text.textContent)
}

export function Banner({
  kind = 'info',
  children,
  action,
}: {
  readonly kind?: Exclude<Mood, 'off'>
  readonly children: ReactNode
  readonly action?: ReactNode
}) {
  return (
    <div
      className={styles.banner}
      data-kind={kind}
      role={kind === 'good' ? undefined : kind === 'bad' ? 'alert' : 'status'}
    >
      <Icon name={moodIcons[kind]} />
      <span ref={kind === 'good' ? sayTextOf : null}>{children}</span>
      {action}
    </div>
  )
}

export function KeyValue({ rows }: { readonly rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={styles.keyValue}>
      {rows.map(([name, value]) => (
        <Pair key={name} name={name} value={value} />
      ))}
    </dl>
  )
}

function Pair({ name, value }: { readonly name: string; readonly value: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  )
}

export function Disclosure({
  title,
  children,
  isOpen = false,
}: {
  readonly title: ReactNode
  readonly children: ReactNode
  readonly isOpen?: boolean
}) {
  return (
    <details className={styles.details} open={isOpen}>
      <summary>{title}</summary>
      <div>{children}</div>
    </details>
  )
}
