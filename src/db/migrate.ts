import { sql } from 'kysely'
import { Migrator, type MigrationInfo, type Migration } from 'kysely/migration'
import { messageOf } from '../lib/message-of.ts'
import type { Database } from './database.ts'
import { foundation } from './migrations/001-foundation.ts'
import { cacheReport } from './migrations/002-cache-report.ts'
import { tenancy } from './migrations/003-tenancy.ts'
import { limits } from './migrations/004-limits.ts'
import { billing } from './migrations/005-billing.ts'
import { audit } from './migrations/006-audit.ts'
import { management } from './migrations/007-management.ts'
import { installation } from './migrations/008-installation.ts'
import { changes } from './migrations/009-changes.ts'
import { immutableLedger } from './migrations/010-immutable-ledger.ts'
import { ledgerIndexes } from './migrations/011-ledger-indexes.ts'
import { tiers } from './migrations/012-tiers.ts'
import { refusals } from './migrations/013-refusals.ts'
import { budgets } from './migrations/014-budgets.ts'
import { exactCosts } from './migrations/015-exact-costs.ts'
import { counterOrigin } from './migrations/016-counter-origin.ts'
import { refusedReplacements } from './migrations/017-refused-replacements.ts'
import { identity } from './migrations/018-identity.ts'
import { auditLog } from './migrations/030-audit-log.ts'
import { suspension } from './migrations/people/031-suspension.ts'
import { limitRequests } from './migrations/people/033-limit-requests.ts'
import { keyMakers } from './migrations/people/040-key-makers.ts'
import { singleSignOn } from './migrations/people/041-single-sign-on.ts'
import { repetitions } from './migrations/billing/055-repetitions.ts'
import { saml } from './migrations/people/042-saml.ts'
import { alerts } from './migrations/alerts/050-alerts.ts'
import { cosignatures } from './migrations/alerts/093-cosignatures.ts'
import { keyNetworks } from './migrations/alerts/103-key-networks.ts'
import { topicStarts } from './migrations/alerts/123-topic-starts.ts'
import { recentMinutes } from './migrations/billing/124-recent-minutes.ts'
import { entryCurrency } from './migrations/billing/122-entry-currency.ts'
import { knownMinutes } from './migrations/billing/121-known-minutes.ts'
import { givenUp } from './migrations/alerts/120-given-up.ts'
import { auditRetention } from './migrations/alerts/104-audit-retention.ts'
import { auditSinks } from './migrations/alerts/092-audit-sinks.ts'
import { organizationSettings } from './migrations/people/065-organization-settings.ts'
import { directories } from './migrations/people/070-directories.ts'
import { serviceAccounts } from './migrations/people/071-service-accounts.ts'
import { customRoles } from './migrations/people/072-custom-roles.ts'
import { availability } from './migrations/billing/080-availability.ts'
import { slaReports } from './migrations/billing/081-sla-reports.ts'
import { invoices } from './migrations/billing/082-invoices.ts'
import { attribution } from './migrations/billing/090-attribution.ts'
import { imports } from './migrations/people/096-imports.ts'
import { countSource } from './migrations/billing/100-count-source.ts'
import { routingReason } from './migrations/billing/101-routing-reason.ts'
import { badMinutes } from './migrations/billing/105-bad-minutes.ts'
import { budgetSetters } from './migrations/billing/106-budget-setters.ts'
import { prioritiesOfKeys } from './migrations/people/102-priorities.ts'
import { agentSignIns } from './migrations/people/110-agent-sign-ins.ts'
import { mappingAnswerers } from './migrations/people/107-mapping-answerers.ts'
import { namedGroups } from './migrations/people/112-named-groups.ts'
import { recordings } from './migrations/people/114-recordings.ts'
import { connectionAnswerers } from './migrations/people/115-connection-answerers.ts'
import { invitationMail } from './migrations/people/116-invitation-mail.ts'
import { domainChecks } from './migrations/people/113-domain-checks.ts'
import { providerSignOuts } from './migrations/people/111-provider-sign-outs.ts'
import { playgroundKeys } from './migrations/people/032-playground-keys.ts'

export type MigrationState = {
  readonly name: string
  /** When it was applied, null while it waits. */
  readonly appliedAt: Date | null
}

/**
 * Brings the schema up to date. Returns the names of the migrations that it applied.
 *
 * Several processes may begin at once: one applies, the others wait for it and
 * find nothing left to do. A migration that fails leaves nothing behind.
 */
export async function migrate(db: Database, schema?: string): Promise<string[]> {
  await refuseNewerSchema(db, schema)
  const { error, results = [] } = await createMigrator(db, schema).migrateToLatest()
  if (error !== undefined)
    throw new Error(`The database could not be brought up to date: ${reasonOf(error)}`, { cause: error })
  return results.map(({ migrationName }) => migrationName)
}

/** Every migration this program knows, the applied ones with their time. Changes nothing. */
export async function listMigrations(db: Database, schema?: string): Promise<MigrationState[]> {
  await refuseNewerSchema(db, schema)
  const known = await createMigrator(db, schema).getMigrations()
  return known.map(({ name, executedAt }: MigrationInfo) => ({ name, appliedAt: executedAt ?? null }))
}

/** A database that a newer program has changed may hold what this one would miscount. */
async function refuseNewerSchema(db: Database, schema: string | undefined): Promise<void> {
  const unknown = (await appliedNames(db, schema)).filter((name) => !Object.hasOwn(migrations, name))
  if (unknown.length === 0) return
  throw new Error(
    `The database was last used by a newer version of Odyssey: this one does not know ${unknown.join(', ')}. ` +
      'Start the newer version, or restore a backup from before it.',
  )
}

async function appliedNames(db: Database, schema: string | undefined): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  const isThere = tables.some(
    (table) => table.name === 'kysely_migration' && (schema === undefined || table.schema === schema),
  )
  if (!isThere) return []
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  return rows.map(({ name }) => name)
}

function createMigrator(db: Database, schema: string | undefined): Migrator {
  return new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(migrations) },
    // Numbers are kept free for areas that grow side by side, so a later one may be there before an earlier one.
    allowUnorderedMigrations: true,
    ...(schema !== undefined && { migrationTableSchema: schema }),
  })
}

function reasonOf(error: unknown): string {
  return messageOf(error)
}

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
  '009-changes': changes,
  '010-immutable-ledger': immutableLedger,
  '011-ledger-indexes': ledgerIndexes,
  '012-tiers': tiers,
  '013-refusals': refusals,
  '014-budgets': budgets,
  '015-exact-costs': exactCosts,
  '016-counter-origin': counterOrigin,
  '017-refused-replacements': refusedReplacements,
  '018-identity': identity,
  '030-audit-log': auditLog,
  '031-suspension': suspension,
  '032-playground-keys': playgroundKeys,
  '033-limit-requests': limitRequests,
  '040-key-makers': keyMakers,
  '041-single-sign-on': singleSignOn,
  '042-saml': saml,
  '050-alerts': alerts,
  '055-repetitions': repetitions,
  '065-organization-settings': organizationSettings,
  '070-directories': directories,
  '071-service-accounts': serviceAccounts,
  '072-custom-roles': customRoles,
  '080-availability': availability,
  '081-sla-reports': slaReports,
  '082-invoices': invoices,
  '090-attribution': attribution,
  '092-audit-sinks': auditSinks,
  '093-cosignatures': cosignatures,
  '096-imports': imports,
  '100-count-source': countSource,
  '101-routing-reason': routingReason,
  '102-priorities': prioritiesOfKeys,
  '103-key-networks': keyNetworks,
  '104-audit-retention': auditRetention,
  '105-bad-minutes': badMinutes,
  '106-budget-setters': budgetSetters,
  '107-mapping-answerers': mappingAnswerers,
  '110-agent-sign-ins': agentSignIns,
  '111-provider-sign-outs': providerSignOuts,
  '112-named-groups': namedGroups,
  '113-domain-checks': domainChecks,
  '114-recordings': recordings,
  '115-connection-answerers': connectionAnswerers,
  '116-invitation-mail': invitationMail,
  '120-given-up': givenUp,
  '121-known-minutes': knownMinutes,
  '122-entry-currency': entryCurrency,
  '123-topic-starts': topicStarts,
  '124-recent-minutes': recentMinutes,
}
