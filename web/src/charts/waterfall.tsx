import { formatDuration } from '../format/figures.ts'
import styles from './waterfall.module.css'

export type Span = { readonly name: string; readonly fromMs: number; readonly toMs: number; readonly said: string }

/** Where a request's time went, one row a part. The words have every figure; the bars only show them. */
export function Waterfall({ totalMs, spans }: { readonly totalMs: number; readonly spans: readonly Span[] }) {
  const share = (ms: number) => `${totalMs > 0 ? Math.min(100, (ms / totalMs) * 100) : 0}%`
  return (
    <dl className={styles.rows}>
      {spans.map(({ name, fromMs, toMs, said }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <span className={styles.track} aria-hidden="true">
              <span style={{ left: share(fromMs), width: share(toMs - fromMs) }} />
            </span>
            <span>
              <strong>{formatDuration(toMs - fromMs)}</strong> {said}
            </span>
          </dd>
        </div>
      ))}
    </dl>
  )
}
