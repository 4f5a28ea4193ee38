import { Select, type Choice } from '../kit/field.tsx'
import styles from './name-filter.module.css'

type Props = {
  readonly label: string
  readonly value: string
  readonly choices: readonly Choice<string>[]
  readonly onChoice: (value: string) => void
}

/** A filter whose choices are names, which come later than it does: it is as wide with them as without. */
export function NameFilter(props: Props) {
  return (
    <span className={styles.names}>
      <Select isInline {...props} />
    </span>
  )
}
