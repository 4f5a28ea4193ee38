import { useEffect, useId, useRef, type ReactNode } from 'react'
import styles from './field.module.css'

type FilterProps = {
  readonly label: string
  readonly value: string
  readonly onText: (text: string) => void
}

/** A field beside its name. */
function Named({ id, label, children }: { readonly id: string; readonly label: string; readonly children: ReactNode }) {
  return (
    <span className={styles.inline}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      {children}
    </span>
  )
}

/** A day, beside its name, as in a bar of filters. */
export function DayField({ label, value, onText }: FilterProps) {
  const id = useId()
  return (
    <Named id={id} label={label}>
      <input
        id={id}
        type="date"
        className={styles.input}
        value={value}
        onChange={(event) => onText(event.target.value)}
      />
    </Named>
  )
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
    <Named id={id} label={label}>
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
    </Named>
  )
}

/** The same for a number; what is none changes nothing. */
export function NumberFilter({ onText, ...props }: FilterProps) {
  const tell = (text: string) => (/^\d*\.?\d*$/.test(text) ? onText(text) : undefined)
  return <TextFilter {...props} inputMode="decimal" size={6} onText={tell} />
}
