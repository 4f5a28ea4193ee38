import { api } from '../api/client.ts'
import type { Session } from '../api/answers.ts'
import { Problem } from '../api/problem.ts'

let early: Promise<Session | null> | null = null

/** Who has signed in; null for nobody. */
export async function readSession(signal?: AbortSignal): Promise<Session | null> {
  try {
    return await api('GET /api/v1/session', {}, { signal })
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return null
    throw error
  }
}

let isFirst = true

/**
 * Reads it for a page that has just come. One that came to a browser without a session says so itself and is believed, once:
 * the answer would be a refusal, which browsers show as an error.
 */
export function readAtFirst(): Promise<Session | null> {
  const isGuest = isFirst && document.documentElement.hasAttribute('data-guest')
  isFirst = false
  return isGuest ? Promise.resolve(null) : readSession()
}

/** Asks for it while the program's larger part is still on its way. Resolves with undefined where no answer came. */
export function askEarly(): Promise<Session | null | undefined> {
  early = readAtFirst()
  return early.catch(() => undefined)
}

/** What was asked early, once; null where nothing was. */
export function takeEarly(): Promise<Session | null> | null {
  const taken = early
  early = null
  return taken
}
