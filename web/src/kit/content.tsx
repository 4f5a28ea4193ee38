import { plainName, shortId } from '../format/id.ts'
import { formatAgo, formatInstant, readerZone } from '../format/time.ts'
import { CopyButton } from './copy-button.tsx'
import styles from './page.module.css'

/** A block to copy, as it stands. */
export function Code({
  text,
  label,
  name = label ?? 'Code',
  wraps = false,
  onCopied,
}: {
  readonly text: string
  readonly label?: string
  /** What readers of the screen call it, where the label stands on several. */
  readonly name?: string
  readonly wraps?: boolean
  readonly onCopied?: () => void
}) {
  return (
    <div className={styles.code} data-wraps={wraps || undefined}>
      <div className={styles.codeHead}>
        <span>{label}</span>
        <CopyButton text={text} of={name} {...(onCopied !== undefined && { onCopied })} />
      </div>
      <pre tabIndex={0} role="region" aria-label={name}>
        {text}
      </pre>
    </div>
  )
}

/** An instant in the reader's zone or the page's, with the exact one on hover. */
export function Time({
  at,
  zone = readerZone(),
  isAgo = false,
}: {
  readonly at: string
  readonly zone?: string
  readonly isAgo?: boolean
}) {
  return (
    <time dateTime={at} title={at}>
      {isAgo ? formatAgo(at, { zone }) : formatInstant(at, { zone })}
    </time>
  )
}

/** A name that somebody else has chosen: always text, and with nothing in it that changes the text around it. */
export function Name({ children, isBrief = false }: { readonly children: string; readonly isBrief?: boolean }) {
  const name = plainName(children)
  // In a row of many it takes two lines at most; all of it is there for who points at it or hears it.
  return isBrief ? (
    <bdi className={styles.brief} title={name}>
      {name}
    </bdi>
  ) : (
    <bdi>{name}</bdi>
  )
}

export function Id({ id }: { readonly id: string }) {
  return (
    <span className={styles.id} title={id}>
      {shortId(id)}
    </span>
  )
}
