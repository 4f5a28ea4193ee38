import { useEffect, useRef, type ReactNode } from 'react'
import { Link } from '../kit/link.tsx'
import styles from './shell.module.css'

/** The frame of what is shown to who has not signed in: a heading, one thing to do, and the way to what can be read about it. */
export function FrontPage({
  title,
  said,
  isWide = false,
  children,
}: {
  readonly title: string
  readonly said?: ReactNode
  readonly isWide?: boolean
  readonly children?: ReactNode
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [title])
  return (
    <div className={styles.center}>
      <header className={styles.boxMark}>
        <svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="7" fill="var(--accent)" />
          <circle cx="16" cy="16" r="8.5" fill="none" stroke="var(--on-accent)" strokeWidth="2.6" />
          <path d="M16 7.5a8.5 8.5 0 0 1 0 17z" fill="var(--on-accent)" />
        </svg>
        Odyssey
      </header>
      <main className={styles.box} data-wide={isWide || undefined}>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {said !== undefined && <p>{said}</p>}
        {children}
        <Link href="/docs">Documentation</Link>
      </main>
    </div>
  )
}
