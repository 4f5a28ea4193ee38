import { hasWholeHours } from '../format/zone.ts'
import type { Field } from '../lib/search-codec.ts'

/** The zone whose days a page counts by. */
export const zoneField: Field<string> = {
  fallback: 'UTC',
  read: (given) => (hasWholeHours(given) ? given : undefined),
  write: (value) => value,
}
