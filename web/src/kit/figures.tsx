import type { ReactNode } from 'react'
import styles from './figures.module.css'

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
