import styles from './page.module.css'

/** Rows in the size of those to come. They appear only after 200 ms, so that a quick answer shows none. */
export function Skeleton({ rows = 6 }: { readonly rows?: number }) {
  return (
    <div className={styles.skeleton} role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <div className={styles.bone} key={index} />
      ))}
    </div>
  )
}
