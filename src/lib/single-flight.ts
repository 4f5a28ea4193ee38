/**
 * Runs one piece of work at a time for all who ask for it.
 *
 * Who asks while it runs waits for another run: the one under way may have
 * looked before what they ask about happened.
 */
export function createSingleFlight(work: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | null = null
  let following: Promise<void> | null = null

  function begin(): Promise<void> {
    const started = work().finally(() => {
      if (current === started) current = null
    })
    current = started
    return started
  }

  return () => {
    if (following !== null) return following
    if (current === null) return begin()
    const next = current
      .catch(() => {})
      .then(() => {
        following = null
        return begin()
      })
    following = next
    return next
  }
}
