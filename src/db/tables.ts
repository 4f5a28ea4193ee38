import type {
  AccessChangeTable,
  ApiKeyTable,
  ManagementKeyTable,
  MemberTable,
  OrganizationTable,
  ProjectMemberTable,
  ProjectTable,
} from './tables/accounts.ts'
import type { AuditChainTable, AuditTable } from './tables/audit.ts'
import type {
  DeliveryTable,
  LedgerProgressTable,
  LedgerTable,
  PriceTable,
  ReconciliationTable,
  UsageTable,
} from './tables/billing.ts'
import type {
  BudgetAlertTable,
  BudgetTable,
  LimitChangeTable,
  LimitCounterTable,
  LimitLeaseTable,
  LimitTable,
} from './tables/limits.ts'
import type { InstallationTable } from './tables/installation.ts'
import type { StoredAnswerTable } from './tables/management.ts'

/** Times are milliseconds since 1970, UTC. A claim is stored as 0 or 1, which both databases count. */
export type Tables = {
  installation: InstallationTable
  organizations: OrganizationTable
  projects: ProjectTable
  members: MemberTable
  project_members: ProjectMemberTable
  api_keys: ApiKeyTable
  management_keys: ManagementKeyTable
  access_changes: AccessChangeTable
  audit: AuditTable
  audit_chains: AuditChainTable
  ledger: LedgerTable
  deliveries: DeliveryTable
  prices: PriceTable
  usage_hours: UsageTable
  usage_days: UsageTable
  ledger_progress: LedgerProgressTable
  reconciliations: ReconciliationTable
  limits: LimitTable
  budgets: BudgetTable
  budget_alerts: BudgetAlertTable
  limit_changes: LimitChangeTable
  limit_counters: LimitCounterTable
  limit_leases: LimitLeaseTable
  stored_answers: StoredAnswerTable
}
