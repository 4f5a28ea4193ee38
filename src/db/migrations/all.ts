import type { Migration } from 'kysely/migration'
import { foundation } from './001-foundation.ts'
import { cacheReport } from './002-cache-report.ts'
import { tenancy } from './003-tenancy.ts'
import { limits } from './004-limits.ts'
import { billing } from './005-billing.ts'
import { audit } from './006-audit.ts'
import { management } from './007-management.ts'
import { installation } from './008-installation.ts'

/** Every migration by its number; one that has been shipped is never changed again. */
export const migrations: Readonly<Record<string, Migration>> = {
  '001-foundation': foundation,
  '002-cache-report': cacheReport,
  '003-tenancy': tenancy,
  '004-limits': limits,
  '005-billing': billing,
  '006-audit': audit,
  '007-management': management,
  '008-installation': installation,
}
