import { useEffect, useId, useRef, useState, type ReactNode } from 'react'
import { say } from '../lib/voice.ts'
import styles from './field.module.css'

type FilterProps = {
  readonly label: string
  readonly value: string
  readonly onText: (text: string) => void
}

type Described = { readonly id: string; readonly 'aria-describedby'?: string; readonly 'aria-invalid': boolean }

type NamedProps = {
  readonly label: string
  /** What is wrong with what stands in the field, which filters nothing then. */
  readonly fault: string | undefined
  readonly children: (described: Described) => ReactNode
}

/** A field beside its name. */
function Named({ label, fault, children }: NamedProps) {
  const id = useId()
  const isWrong = fault !== undefined
  return (
    <span className={styles.inline}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      {children({ id, 'aria-invalid': isWrong, ...(isWrong && { 'aria-describedby': `${id}-said` }) })}
      {isWrong && (
        <span className={styles.fault} id={`${id}-said`}>
          {fault}
        </span>
      )}
    </span>
  )
}

/** Keeps in the field what filters, and what is wrong with what was typed there since. */
function useTyped(value: string) {
  const input = useRef<HTMLInputElement>(null)
  const [wrong, setWrong] = useState<{ readonly fault: string; readonly value: string } | null>(null)
  // It is written into the same field: one that was put in its place would not have the focus any more.
  useEffect(() => {
    if (input.current !== null && input.current.value !== value) input.current.value = value
  }, [value])
  const tell = (fault: string | undefined) => {
    setWrong(fault === undefined ? null : { fault, value })
    if (fault !== undefined) say(fault)
  }
  // Another value comes from elsewhere, and takes the place of what was typed.
  return { input, fault: wrong?.value === value ? wrong.fault : undefined, tell }
}

/** What date fields can be set to: nothing that is counted here is older. */
const [firstDay, lastDay] = ['2000-01-01', '9998-12-31']

type DayProps = FilterProps & { readonly fault?: string | undefined }

/** A day, beside its name, as in a bar of filters. A year that is being typed is none yet; it is looked at when the field is left. */
export function DayField({ label, value, fault, onText }: DayProps) {
  const typed = useTyped(value)
  const take = ({ validity, value: given }: HTMLInputElement, hasLeft: boolean) => {
    if (!validity.valid && !hasLeft) return
    typed.tell(validity.valid ? undefined : 'A day from the year 2000 on.')
    if (validity.valid && given !== value) onText(given)
  }
  return (
    <Named label={label} fault={typed.fault ?? fault}>
      {(described) => (
        <input
          {...described}
          ref={typed.input}
          type="date"
          min={firstDay}
          max={lastDay}
          className={styles.input}
          defaultValue={value}
          onChange={({ currentTarget }) => take(currentTarget, false)}
          onBlur={({ currentTarget }) => take(currentTarget, true)}
        />
      )}
    </Named>
  )
}

type TextProps = FilterProps & {
  readonly inputMode?: 'decimal'
  readonly size?: number
  /** What it has to be, said where it is not; empty is always right. */
  readonly rule?: { readonly isKept: (text: string) => boolean; readonly words: string }
}

/** A text beside its name, as in a bar of filters; what is typed counts when the field is left or Enter is pressed. */
export function TextFilter({ inputMode, size = 12, label, value, rule, onText }: TextProps) {
  const typed = useTyped(value)
  const take = (given: string) => {
    const text = given.trim()
    const isWrong = text !== '' && rule?.isKept(text) === false
    typed.tell(isWrong ? rule.words : undefined)
    if (!isWrong && text !== value) onText(text)
  }
  return (
    <Named label={label} fault={typed.fault}>
      {(described) => (
        <input
          {...described}
          ref={typed.input}
          inputMode={inputMode}
          size={size}
          className={styles.input}
          defaultValue={value}
          onBlur={({ currentTarget }) => take(currentTarget.value)}
          onKeyDown={({ key, currentTarget }) => (key === 'Enter' ? take(currentTarget.value) : undefined)}
        />
      )}
    </Named>
  )
}

/** The same for a number. */
export function NumberFilter(props: FilterProps & { readonly rule: NonNullable<TextProps['rule']> }) {
  return <TextFilter {...props} inputMode="decimal" size={6} />
}
