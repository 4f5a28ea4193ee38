import { useId, type InputHTMLAttributes, type ReactNode, type TextareaHTMLAttributes } from 'react'
import styles from './field.module.css'

type Frame = {
  readonly label: string
  readonly hint?: ReactNode
  /** What is wrong with it; it is read out with the field. */
  readonly fault?: string | undefined
}

type Described = { readonly id: string; readonly 'aria-describedby'?: string; readonly 'aria-invalid': boolean }

function FieldFrame({
  label,
  hint,
  fault,
  children,
}: Frame & { readonly children: (described: Described) => ReactNode }) {
  const id = useId()
  const described: Described = {
    id,
    ...((fault !== undefined || hint !== undefined) && { 'aria-describedby': `${id}-said` }),
    // Said also where it is not: browsers hold a field that must be filled, and is not yet, to be a wrong one.
    'aria-invalid': fault !== undefined,
  }
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      {children(described)}
      {fault !== undefined ? (
        <p className={styles.fault} id={`${id}-said`}>
          {fault}
        </p>
      ) : (
        hint !== undefined && (
          <p className={styles.hint} id={`${id}-said`}>
            {hint}
          </p>
        )
      )}
    </div>
  )
}

type TextProps = Frame &
  Omit<InputHTMLAttributes<HTMLInputElement>, 'className' | 'onChange'> & {
    readonly onText: (text: string) => void
    readonly isMono?: boolean
  }

export function TextField({ label, hint, fault, onText, isMono, ...rest }: TextProps) {
  return (
    <FieldFrame label={label} hint={hint} fault={fault}>
      {(described) => (
        <input
          {...described}
          {...rest}
          className={`${styles.input} ${isMono ? styles.mono : ''}`}
          onChange={(event) => onText(event.target.value)}
        />
      )}
    </FieldFrame>
  )
}

type AreaProps = Frame &
  Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'className' | 'onChange'> & {
    readonly onText: (text: string) => void
    readonly isMono?: boolean
  }

export function TextArea({ label, hint, fault, onText, isMono, ...rest }: AreaProps) {
  return (
    <FieldFrame label={label} hint={hint} fault={fault}>
      {(described) => (
        <textarea
          {...described}
          rows={3}
          {...rest}
          className={`${styles.input} ${isMono ? styles.mono : ''}`}
          onChange={(event) => onText(event.target.value)}
        />
      )}
    </FieldFrame>
  )
}

export type Choice<Value extends string> = {
  readonly value: Value
  readonly label: string
  /** Why it cannot be chosen, which stands beside it. */
  readonly reason?: string | null
}
type SelectProps<Value extends string> = Frame & {
  readonly value: Value
  readonly choices: readonly Choice<Value>[]
  readonly onChoice: (value: Value) => void
  /** The label stands beside it, as in a bar of filters. */
  readonly isInline?: boolean
}

/** The system's own list: it works by keyboard, by touch and with every reader, and is never cut off. */
export function Select<Value extends string>({
  label,
  hint,
  fault,
  value,
  choices,
  onChoice,
  isInline,
}: SelectProps<Value>) {
  const id = useId()
  const options = choices.map(({ value: one, label: words, reason = null }) => (
    <option key={one} value={one} disabled={reason !== null}>
      {reason === null ? words : `${words} (${reason})`}
    </option>
  ))
  const choose = (text: string) => {
    const found = choices.find((choice) => choice.value === text)
    if (found !== undefined) onChoice(found.value)
  }
  if (isInline) {
    return (
      <span className={styles.inline}>
        <label className={styles.label} htmlFor={id}>
          {label}
        </label>
        <select
          id={id}
          className={`${styles.input} ${styles.select}`}
          value={value}
          onChange={(event) => choose(event.target.value)}
        >
          {options}
        </select>
      </span>
    )
  }
  return (
    <FieldFrame label={label} hint={hint} fault={fault}>
      {(described) => (
        <select
          {...described}
          className={`${styles.input} ${styles.select}`}
          value={value}
          onChange={(event) => choose(event.target.value)}
        >
          {options}
        </select>
      )}
    </FieldFrame>
  )
}

export function Checkbox({
  label,
  isOn,
  onChange,
  hint,
}: {
  readonly label: ReactNode
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  readonly hint?: string
}) {
  return (
    <label className={styles.check}>
      <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.target.checked)} />
      <span>
        {label}
        {hint !== undefined && <span className={styles.hint}> {hint}</span>}
      </span>
    </label>
  )
}

type GroupProps<Value extends string> = {
  readonly label: string
  readonly choices: readonly Choice<Value>[]
  readonly chosen: readonly Value[]
  readonly onChange: (chosen: readonly Value[]) => void
  /** Many are easier to find in columns than one after the other. */
  readonly isInColumns?: boolean
}

/** None or all of them chosen is for the caller to tell apart. */
export function CheckboxGroup<Value extends string>({
  label,
  choices,
  chosen,
  onChange,
  isInColumns,
}: GroupProps<Value>) {
  const toggle = (value: Value, isOn: boolean) =>
    onChange(choices.map((choice) => choice.value).filter((one) => (one === value ? isOn : chosen.includes(one))))
  return (
    <fieldset className={styles.group}>
      <legend>{label}</legend>
      <div className={styles.choices} data-columns={isInColumns || undefined}>
        {choices.map(({ value, label: text }) => (
          <Checkbox key={value} label={text} isOn={chosen.includes(value)} onChange={(isOn) => toggle(value, isOn)} />
        ))}
      </div>
    </fieldset>
  )
}
