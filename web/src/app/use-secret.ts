import { useEffect, useState } from 'react'
import type { Secret } from '../lib/secret.ts'

/**
 * A page that nobody looks at forgets what it shows once after this long: time to fetch a client's settings from another
 * window, and no more than the vaults of passwords give before they lock themselves (one to ten minutes).
 */
const hiddenMsMax = 5 * 60 * 1_000

/** What stands in the place of a secret that was forgotten. */
export const forgotten = 'Nobody looked at this page for five minutes, so what it showed once is gone from it.'

/** The text of a secret for as long as it is shown; the empty text once nobody has looked at the page for too long. */
export function useSecret(secret: Secret | null): string {
  const [, setForgotten] = useState<Secret | null>(null)
  useEffect(() => secret?.hold(), [secret])
  // Begun once: what is drawn anew behind the page's back, by a change elsewhere, does not begin the time anew.
  useEffect(() => {
    if (secret === null) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const forget = () => {
      secret.forget()
      setForgotten(secret)
    }
    const watch = () => {
      clearTimeout(timer)
      if (document.hidden) timer = setTimeout(forget, hiddenMsMax)
    }
    watch()
    document.addEventListener('visibilitychange', watch)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', watch)
    }
  }, [secret])
  return secret?.read() ?? ''
}
