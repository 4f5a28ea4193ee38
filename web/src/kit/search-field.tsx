import { useEffect, useState } from 'react'
import { Icon } from './icons.tsx'
import styles from './search-field.module.css'

/** Typing rests this long before it counts. */
const restMs = 150

/** A field to search by. What is typed is shown at once and told a little later. */
export function SearchField({
  label,
  value,
  onText,
}: {
  readonly label: string
  readonly value: string
  readonly onText: (text: string) => void
}) {
  const [typed, setTyped] = useState(value)
  const [told, setTold] = useState(value)
  // The address was changed from elsewhere, as by "Clear filters".
  if (value !== told) {
    setTold(value)
    setTyped(value)
  }
  useEffect(() => {
    if (typed === told) return
    const timer = setTimeout(() => {
      setTold(typed)
      onText(typed)
    }, restMs)
    return () => clearTimeout(timer)
  }, [typed, told, onText])
  return (
    <span className={styles.search}>
      <Icon name="search" size={14} />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
    </span>
  )
}
