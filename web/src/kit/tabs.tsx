import { useId, useRef, type ReactNode } from 'react'
import styles from './tabs.module.css'
import { Stack } from './page.tsx'

type TabsProps<Value extends string> = {
  readonly name: string
  readonly tabs: readonly { readonly value: Value; readonly label: ReactNode }[]
  readonly chosen: Value
  readonly onChoice: (value: Value) => void
}

/** A few ways to look at the same thing, of which one is pressed. */
export function Segments<Value extends string>({ name, tabs, chosen, onChoice }: TabsProps<Value>) {
  return (
    <div className={styles.segments} role="group" aria-label={name}>
      {tabs.map(({ value, label }) => (
        <button
          key={value}
          type="button"
          className={styles.segment}
          aria-pressed={value === chosen}
          onClick={() => onChoice(value)}
        >
          {label}
        </button>
      ))}
    </div>
  )
}

/** Tabs over one panel, by arrow keys as the pattern has it. */
export function Tabs<Value extends string>({
  name,
  tabs,
  chosen,
  onChoice,
  children,
}: TabsProps<Value> & { readonly children: ReactNode }) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const step = (by: number) => {
    const at = tabs.findIndex(({ value }) => value === chosen)
    const next = tabs[(at + by + tabs.length) % tabs.length]
    if (next === undefined) return
    onChoice(next.value)
    list.current?.querySelectorAll('button')[tabs.indexOf(next)]?.focus()
  }
  const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 }
  return (
    <Stack>
      <div
        className={styles.tabs}
        role="tablist"
        tabIndex={-1}
        aria-label={name}
        ref={list}
        onKeyDown={(event) => {
          const by = steps[event.key]
          if (by !== undefined) step(by)
        }}
      >
        {tabs.map(({ value, label }) => (
          <button
            key={value}
            id={`${id}-${value}`}
            type="button"
            role="tab"
            className={styles.tab}
            aria-selected={value === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={value === chosen ? 0 : -1}
            onClick={() => onChoice(value)}
          >
            {label}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${chosen}`}>
        <Stack>{children}</Stack>
      </div>
    </Stack>
  )
}
