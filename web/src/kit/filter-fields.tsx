import { useEffect, useId, useRef } from 'react'
import styles from './field.module.css'

/** A day, beside its name, as in a bar of filters. */
export function DayField({
  label,
  value,
  onText,
}: {
  readonly label: string
  readonly value: string
  readonly onText: (text: string) => void
}) {
  const id = useId()
  return (
    <span className={styles.inline}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        type="date"
        className={styles.input}
        value={value}
        onChange={(event) => onText(event.target.value)}
      />
    </span>
  )
}

type FilterProps = {
  readonly label: string
  readonly value: string
  readonly onText: (text: string) => void
}

/** A text beside its name, as in a bar of filters; what is typed counts when the field is left or Enter is pressed. */
export function TextFilter({ inputMode, size = 12, ...props }: FilterProps & { inputMode?: 'decimal'; size?: number }) {
  const { label, value, onText } = props
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  // It is written into the same field: one that was put in its place would not have the focus any more.
  useEffect(() => {
    if (input.current !== null) input.current.value = value
  }, [value])
  return (
    <span className={styles.inline}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      <input
        ref={input}
        id={id}
        inputMode={inputMode}
        size={size}
        className={styles.input}
        defaultValue={value}
        onBlur={({ currentTarget }) => onText(currentTarget.value.trim())}
        onKeyDown={({ key, currentTarget }) => (key === 'Enter' ? onText(currentTarget.value.trim()) : undefined)}
      />
    </span>
  )
}

/** The same for a number; what is none changes nothing. */
export function NumberFilter({ onText, ...props }: FilterProps) {
  const tell = (text: string) => (/^\d*\.?\d*$/.test(text) ? onText(text) : undefined)
  return <TextFilter {...props} inputMode="decimal" size={6} onText={tell} />
}
