import { useEffect, useRef } from 'react'
import type { Secret } from '../lib/secret.ts'

/** A page that nobody looks at forgets what it shows once after this long. */
const hiddenMsMax = 10 * 60 * 1_000

/** The text of a secret for as long as it is shown; `onForget` is told when nobody has looked at the page for too long. */
export function useSecret(secret: Secret, onForget: () => void): string {
  const forget = useRef(onForget)
  useEffect(() => {
    forget.current = onForget
  })
  useEffect(() => secret.hold(), [secret])
  // Begun once: what is drawn anew behind the page's back, by a change elsewhere, does not begin the time anew.
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const watch = () => {
      clearTimeout(timer)
      if (document.hidden) timer = setTimeout(() => forget.current(), hiddenMsMax)
    }
    watch()
    document.addEventListener('visibilitychange', watch)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', watch)
    }
  }, [])
  return secret.read()
}
