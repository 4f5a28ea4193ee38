/** Told that somebody has signed in here, so that whoever keeps a session in memory reads it anew. */
type Hear = () => Promise<unknown>

const listeners = new Set<Hear>()

export function onSignedIn(hear: Hear): void {
  listeners.add(hear)
}

export async function tellSignedIn(): Promise<void> {
  await Promise.all([...listeners].map((hear) => hear()))
}
