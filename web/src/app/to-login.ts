import { location, type PageAddress } from '../lib/location.ts'

/** Leads to the sign-in, and from there back to where somebody wanted to be. */
export function toLogin({ path, search }: PageAddress): Promise<void> {
  const next = path + search
  return location.go(next === '/' ? '/login' : `/login?next=${encodeURIComponent(next)}`, { replace: true })
}
