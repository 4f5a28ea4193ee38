import type { ApiKeyTable, OrganizationTable, ProjectTable } from './tables/accounts.ts'
import type { AuditTable } from './tables/audit.ts'
import type { LedgerTable } from './tables/billing.ts'

/** Times are milliseconds since 1970, UTC. A claim is stored as 0 or 1, which both databases count. */
export type Tables = {
  organizations: OrganizationTable
  projects: ProjectTable
  api_keys: ApiKeyTable
  audit: AuditTable
  ledger: LedgerTable
}
