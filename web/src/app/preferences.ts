import { useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'
export type Preferences = {
  readonly theme: Theme
  /** Null is the zone of the reader's machine. */
  readonly zone: string | null
  readonly rows: 'normal' | 'compact'
  readonly hasShortcuts: boolean
  /** The organization whose pages were looked at last. */
  readonly organizationId: string | null
  readonly dismissed: readonly string[]
}

const storedAs = 'odyssey-preferences-1'
const initial: Preferences = {
  theme: 'system',
  zone: null,
  rows: 'normal',
  hasShortcuts: true,
  organizationId: null,
  dismissed: [],
}

/** What this browser keeps: how things look. Data, keys and prompts are never part of it. */
class PreferenceStore {
  #current: Preferences = read()
  readonly #listeners = new Set<() => void>()

  readonly current = (): Preferences => this.#current

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  change(changes: Partial<Preferences>): void {
    this.#current = { ...this.#current, ...changes }
    try {
      localStorage.setItem(storedAs, JSON.stringify(this.#current))
    } catch {
      // A browser that keeps nothing shows what was chosen until the page is closed.
    }
    this.apply()
    for (const listener of this.#listeners) listener()
  }

  apply(): void {
    const { theme, rows } = this.#current
    const { dataset } = document.documentElement
    if (theme === 'system') delete dataset['theme']
    else dataset['theme'] = theme
    dataset['rows'] = rows
    // The service reads it, so that the next page comes in this theme.
    document.cookie =
      theme === 'system'
        ? 'odyssey-theme=; path=/; max-age=0; samesite=strict'
        : `odyssey-theme=${theme}; path=/; max-age=31536000; samesite=strict`
  }
}

function read(): Preferences {
  try {
    return { ...initial, ...(JSON.parse(localStorage.getItem(storedAs) ?? '{}') as Partial<Preferences>) }
  } catch {
    return initial
  }
}

export const preferences = new PreferenceStore()

export function usePreferences(): Preferences {
  return useSyncExternalStore(preferences.subscribe, preferences.current)
}
