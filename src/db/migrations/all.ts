import type { Migration } from 'kysely/migration'
import { foundation } from './001-foundation.ts'
import { cacheReport } from './002-cache-report.ts'

/** Every migration by its number; one that has been shipped is never changed again. */
export const migrations: Readonly<Record<string, Migration>> = {
  '001-foundation': foundation,
  '002-cache-report': cacheReport,
}
