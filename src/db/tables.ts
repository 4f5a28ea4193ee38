import type { ConnectionCertificateTable, SamlConnectionTable, SsoResultTable } from './tables/saml.ts'
import type {
  ApiKeyTable,
  KeyNetworkTable,
  ImportTable,
  ManagementKeyTable,
  MemberTable,
  OrganizationTable,
  ProjectMemberTable,
  ProjectTable,
  RecordingTable,
  RoleTable,
  ServiceAccountTable,
} from './tables/accounts.ts'
import type { AgentSettingsTable, AgentSignInTable, AgentTokenTable } from './tables/agents.ts'
import type {
  InvitationTable,
  OneTimeLinkTable,
  PasskeyChallengeTable,
  PasskeyTable,
  PasswordTable,
  RecoveryCodeTable,
  SessionTable,
  SignInFailureTable,
  TotpTable,
  UserEmailTable,
  UserTable,
} from './tables/identity.ts'
import type {
  AlertCauseTable,
  AlertChannelTable,
  AlertEventTable,
  AlertSilenceTable,
  AlertSourceTable,
  AlertStreamTable,
  AuditSinkCursorTable,
  AuditSinkTable,
} from './tables/alerts.ts'
import type {
  AuditChainTable,
  AuditCheckpointTable,
  AuditCosignatureTable,
  AuditKeyTable,
  AuditLogTable,
  AuditRowHashTable,
  AuditTable,
  AuditTileTable,
} from './tables/audit.ts'
import type {
  ConnectionTable,
  DomainTable,
  GroupMappingTable,
  IdentityTable,
  LoginAttemptTable,
  SsoFlowTable,
  SsoSignOutTable,
  UsedMessageTable,
} from './tables/single-sign-on.ts'
import type {
  DirectoryConflictTable,
  DirectoryGroupMemberTable,
  DirectoryGroupTable,
  DirectoryMappingTable,
  DirectoryTable,
  DirectoryTokenTable,
  DirectoryUserTable,
} from './tables/directory.ts'
import type {
  AvailabilityMinuteTable,
  CreditTable,
  KnownMinuteTable,
  LifeSpanTable,
  SlaExclusionTable,
  SlaObjectiveTable,
  SlaReportTable,
  UnservedRequestTable,
} from './tables/availability.ts'
import type { AccountEntryTable, InvoiceTable } from './tables/invoices.ts'
import type { ChangeTable } from './tables/changes.ts'
import type {
  DeliveryTable,
  LedgerProgressTable,
  LedgerTable,
  PriceTable,
  ReconciliationTable,
  RefusalTable,
  RepetitionTable,
  RecentMinuteTable,
  UsageTable,
  AttributedHourTable,
  AttributionProgressTable,
  AttributionValueTable,
} from './tables/billing.ts'
import type {
  BudgetAlertTable,
  BudgetTable,
  LimitCounterTable,
  LimitLeaseTable,
  LimitRequestTable,
  LimitTable,
  TierLimitTable,
} from './tables/limits.ts'

/** Times are milliseconds since 1970, UTC. A claim is stored as 0 or 1, which both databases count. */
export type Tables = {
  installation: InstallationTable
  organizations: OrganizationTable
  projects: ProjectTable
  members: MemberTable
  project_members: ProjectMemberTable
  recordings: RecordingTable
  service_accounts: ServiceAccountTable
  roles: RoleTable
  api_keys: ApiKeyTable
  imports: ImportTable
  management_keys: ManagementKeyTable
  users: UserTable
  user_emails: UserEmailTable
  passwords: PasswordTable
  passkeys: PasskeyTable
  totp: TotpTable
  recovery_codes: RecoveryCodeTable
  sign_in_failures: SignInFailureTable
  sessions: SessionTable
  passkey_challenges: PasskeyChallengeTable
  one_time_links: OneTimeLinkTable
  invitations: InvitationTable
  agent_sign_ins: AgentSignInTable
  agent_tokens: AgentTokenTable
  agent_settings: AgentSettingsTable
  connections: ConnectionTable
  group_mappings: GroupMappingTable
  identities: IdentityTable
  sso_flows: SsoFlowTable
  sso_sign_outs: SsoSignOutTable
  used_messages: UsedMessageTable
  login_attempts: LoginAttemptTable
  domains: DomainTable
  saml_connections: SamlConnectionTable
  connection_certificates: ConnectionCertificateTable
  sso_results: SsoResultTable
  directories: DirectoryTable
  directory_tokens: DirectoryTokenTable
  directory_users: DirectoryUserTable
  directory_groups: DirectoryGroupTable
  directory_group_members: DirectoryGroupMemberTable
  directory_mappings: DirectoryMappingTable
  directory_conflicts: DirectoryConflictTable
  changes: ChangeTable
  audit: AuditTable
  audit_chains: AuditChainTable
  audit_logs: AuditLogTable
  audit_row_hashes: AuditRowHashTable
  audit_tiles: AuditTileTable
  audit_checkpoints: AuditCheckpointTable
  audit_cosignatures: AuditCosignatureTable
  audit_keys: AuditKeyTable
  key_networks: KeyNetworkTable
  audit_sinks: AuditSinkTable
  audit_sink_cursors: AuditSinkCursorTable
  ledger: LedgerTable
  deliveries: DeliveryTable
  repetitions: RepetitionTable
  refusals: RefusalTable
  unserved_requests: UnservedRequestTable
  availability_minutes: AvailabilityMinuteTable
  known_minutes: KnownMinuteTable
  life_spans: LifeSpanTable
  sla_objectives: SlaObjectiveTable
  sla_exclusions: SlaExclusionTable
  sla_reports: SlaReportTable
  credits: CreditTable
  invoices: InvoiceTable
  account_entries: AccountEntryTable
  prices: PriceTable
  usage_hours: UsageTable
  usage_days: UsageTable
  recent_minutes: RecentMinuteTable
  attributed_hours: AttributedHourTable
  attribution_values: AttributionValueTable
  attribution_progress: AttributionProgressTable
  ledger_progress: LedgerProgressTable
  reconciliations: ReconciliationTable
  limits: LimitTable
  tier_limits: TierLimitTable
  budgets: BudgetTable
  budget_alerts: BudgetAlertTable
  limit_counters: LimitCounterTable
  limit_leases: LimitLeaseTable
  limit_requests: LimitRequestTable
  stored_answers: StoredAnswerTable
  alert_channels: AlertChannelTable
  alert_streams: AlertStreamTable
  alert_events: AlertEventTable
  alert_causes: AlertCauseTable
  alert_silences: AlertSilenceTable
  alert_sources: AlertSourceTable
}

/** One row at most: what is true of the database as a whole. */
export type InstallationTable = {
  readonly id: 'installation'
  /** Whose `secret.key` the hashes of keys were made under. */
  readonly secret_fingerprint: string
  readonly created_at: number
}

/** Answers to requests that may be sent again, for a day. */
export type StoredAnswerTable = {
  /** A hash of who asked and the key they gave the request. */
  readonly id: string
  /** A hash of what was asked: another request under the same key is refused. */
  readonly fingerprint: string
  /** Null until the transaction that makes the change ends. */
  status: number | null
  /** Sealed: some answers hold a key that can be read nowhere else. */
  body: string | null
  readonly created_at: number
}
