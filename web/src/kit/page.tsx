import { useEffect, useId, useRef, type CSSProperties, type ReactNode } from 'react'
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

export type Figure = { readonly name: string; readonly value: ReactNode; readonly said?: ReactNode }

export function Stats({ figures, name }: { readonly figures: readonly Figure[]; readonly name: string }) {
  return (
    <dl className={styles.stats} aria-label={name}>
      {figures.map(({ name: term, value, said }) => (
        <div className={styles.stat} key={term}>
          <dt>{term}</dt>
          <dd>
            {value}
            {said !== undefined && <small>{said}</small>}
          </dd>
        </div>
      ))}
    </dl>
  )
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
    <div className={styles.banner} data-kind={kind} role="status">
      <Icon name={moodIcons[kind]} />
      <span>{children}</span>
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

type TabsProps<Value extends string> = {
  readonly name: string
  readonly tabs: readonly { readonly value: Value; readonly label: ReactNode }[]
  readonly chosen: Value
  readonly onChoice: (value: Value) => void
}

/** A few ways to look at the same thing, of which one is pressed. */
export function Segments<Value extends string>({ name, tabs, chosen, onChoice }: TabsProps<Value>) {
  return (
    <div className={styles.segments} role="group" aria-label={name}>
      {tabs.map(({ value, label }) => (
        <button
          key={value}
          type="button"
          className={styles.segment}
          aria-pressed={value === chosen}
          onClick={() => onChoice(value)}
        >
          {label}
        </button>
      ))}
    </div>
  )
}

/** Tabs over one panel, by arrow keys as the pattern has it. */
export function Tabs<Value extends string>({
  name,
  tabs,
  chosen,
  onChoice,
  children,
}: TabsProps<Value> & { readonly children: ReactNode }) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const step = (by: number) => {
    const at = tabs.findIndex(({ value }) => value === chosen)
    const next = tabs[(at + by + tabs.length) % tabs.length]
    if (next === undefined) return
    onChoice(next.value)
    list.current?.querySelectorAll('button')[tabs.indexOf(next)]?.focus()
  }
  const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 }
  return (
    <div className={styles.stack}>
      <div
        className={styles.tabs}
        role="tablist"
        tabIndex={-1}
        aria-label={name}
        ref={list}
        onKeyDown={(event) => {
          const by = steps[event.key]
          if (by !== undefined) step(by)
        }}
      >
        {tabs.map(({ value, label }) => (
          <button
            key={value}
            id={`${id}-${value}`}
            type="button"
            role="tab"
            className={styles.tab}
            aria-selected={value === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={value === chosen ? 0 : -1}
            onClick={() => onChoice(value)}
          >
            {label}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${chosen}`} className={styles.stack}>
        {children}
      </div>
    </div>
  )
}

/** How full something is, in up to two parts. The words beside it say the same. */
export function Bar({ share, second = 0 }: { readonly share: number; readonly second?: number }) {
  const kind = share >= 1 ? 'full' : share >= 0.8 ? 'near' : 'fine'
  const width = (part: number) => `${Math.min(100, Math.max(0, part * 100))}%`
  return (
    <span className={styles.bar} aria-hidden="true">
      <span data-kind={kind} style={{ width: width(share) }} />
      {second > 0 && <span data-kind="second" style={{ width: width(Math.min(second, 1 - share)) }} />}
    </span>
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
