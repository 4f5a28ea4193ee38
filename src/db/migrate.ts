import { sql } from 'kysely'
import { Migrator, type Migration } from 'kysely/migration'
import { messageOf } from '../lib/message-of.ts'
import type { Database } from './database.ts'
import { isPostgres } from './is-postgres.ts'

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
  const applied = await readApplied(db, schema)
  if (Object.keys(migrations).every((name) => applied.has(name))) return []
  const { error, results = [] } = await createMigrator(db, schema).migrateToLatest()
  if (error !== undefined)
    throw new Error(`The database could not be brought up to date: ${messageOf(error)}`, { cause: error })
  return results.map(({ migrationName }) => migrationName)
}

/** Every migration this program knows, the applied ones with their time. Changes nothing. */
export async function listMigrations(db: Database, schema?: string): Promise<MigrationState[]> {
  const applied = await readApplied(db, schema)
  return Object.keys(migrations)
    .toSorted()
    .map((name) => ({ name, appliedAt: applied.get(name) ?? null }))
}

/** When each one was applied. Refuses a database that a newer program has changed: it may hold what this one would miscount. */
async function readApplied(db: Database, schema: string | undefined): Promise<ReadonlyMap<string, Date>> {
  const applied = await readTable(db, schema)
  const unknown = [...applied.keys()].filter((name) => !Object.hasOwn(migrations, name))
  if (unknown.length === 0) return applied
  throw new Error(
    `The database was last used by a newer version of Odyssey: this one does not know ${unknown.join(', ')}. ` +
      'Start the newer version, or restore a backup from before it.',
  )
}

const table = 'kysely_migration'

async function readTable(db: Database, schema: string | undefined): Promise<ReadonlyMap<string, Date>> {
  const path = schema === undefined ? [table] : [schema, table]
  const quoted = path.map((name) => `"${name.replaceAll('"', '""')}"`).join('.')
  const there = isPostgres(db)
    ? sql`select 1 where to_regclass(${quoted}) is not null`
    : sql`select 1 from sqlite_master where name = ${table}`
  if ((await there.execute(db)).rows.length === 0) return new Map()
  const { rows } = await sql<{ name: string; timestamp: string }>`
    select name, timestamp from ${sql.id(...path)} order by name`.execute(db)
  return new Map(rows.map((row) => [row.name, new Date(row.timestamp)]))
}

function createMigrator(db: Database, schema: string | undefined): Migrator {
  return new Migrator({
    db,
    provider: { getMigrations: loadMigrations },
    // Numbers are kept free for areas that grow side by side, so a later one may be there before an earlier one.
    allowUnorderedMigrations: true,
    ...(schema !== undefined && { migrationTableSchema: schema }),
  })
}

export async function loadMigrations(): Promise<Record<string, Migration>> {
  const loads = Object.entries(migrations).map(async ([name, load]) => [name, await load()] as const)
  return Object.fromEntries(await Promise.all(loads))
}

/**
 * Every migration by its number; one that has been shipped is never changed again.
 *
 * They are loaded where one of them is missing, which most starts and nearly all commands never see.
 */
export const migrations: Readonly<Record<string, () => Promise<Migration>>> = {
  '001-foundation': async () => (await import('./migrations/001-foundation.ts')).foundation,
  '002-cache-report': async () => (await import('./migrations/002-cache-report.ts')).cacheReport,
  '003-tenancy': async () => (await import('./migrations/003-tenancy.ts')).tenancy,
  '004-limits': async () => (await import('./migrations/004-limits.ts')).limits,
  '005-billing': async () => (await import('./migrations/005-billing.ts')).billing,
  '006-audit': async () => (await import('./migrations/006-audit.ts')).audit,
  '007-management': async () => (await import('./migrations/007-management.ts')).management,
  '008-installation': async () => (await import('./migrations/008-installation.ts')).installation,
  '009-changes': async () => (await import('./migrations/009-changes.ts')).changes,
  '010-immutable-ledger': async () => (await import('./migrations/010-immutable-ledger.ts')).immutableLedger,
  '011-ledger-indexes': async () => (await import('./migrations/011-ledger-indexes.ts')).ledgerIndexes,
  '012-tiers': async () => (await import('./migrations/012-tiers.ts')).tiers,
  '013-refusals': async () => (await import('./migrations/013-refusals.ts')).refusals,
  '014-budgets': async () => (await import('./migrations/014-budgets.ts')).budgets,
  '015-exact-costs': async () => (await import('./migrations/015-exact-costs.ts')).exactCosts,
  '016-counter-origin': async () => (await import('./migrations/016-counter-origin.ts')).counterOrigin,
  '017-refused-replacements': async () =>
    (await import('./migrations/017-refused-replacements.ts')).refusedReplacements,
  '018-identity': async () => (await import('./migrations/018-identity.ts')).identity,
  '030-audit-log': async () => (await import('./migrations/030-audit-log.ts')).auditLog,
  '031-suspension': async () => (await import('./migrations/people/031-suspension.ts')).suspension,
  '032-playground-keys': async () => (await import('./migrations/people/032-playground-keys.ts')).playgroundKeys,
  '033-limit-requests': async () => (await import('./migrations/people/033-limit-requests.ts')).limitRequests,
  '040-key-makers': async () => (await import('./migrations/people/040-key-makers.ts')).keyMakers,
  '041-single-sign-on': async () => (await import('./migrations/people/041-single-sign-on.ts')).singleSignOn,
  '042-saml': async () => (await import('./migrations/people/042-saml.ts')).saml,
  '050-alerts': async () => (await import('./migrations/alerts/050-alerts.ts')).alerts,
  '055-repetitions': async () => (await import('./migrations/billing/055-repetitions.ts')).repetitions,
  '065-organization-settings': async () =>
    (await import('./migrations/people/065-organization-settings.ts')).organizationSettings,
  '070-directories': async () => (await import('./migrations/people/070-directories.ts')).directories,
  '071-service-accounts': async () => (await import('./migrations/people/071-service-accounts.ts')).serviceAccounts,
  '072-custom-roles': async () => (await import('./migrations/people/072-custom-roles.ts')).customRoles,
  '080-availability': async () => (await import('./migrations/billing/080-availability.ts')).availability,
  '081-sla-reports': async () => (await import('./migrations/billing/081-sla-reports.ts')).slaReports,
  '082-invoices': async () => (await import('./migrations/billing/082-invoices.ts')).invoices,
  '090-attribution': async () => (await import('./migrations/billing/090-attribution.ts')).attribution,
  '092-audit-sinks': async () => (await import('./migrations/alerts/092-audit-sinks.ts')).auditSinks,
  '093-cosignatures': async () => (await import('./migrations/alerts/093-cosignatures.ts')).cosignatures,
  '096-imports': async () => (await import('./migrations/people/096-imports.ts')).imports,
  '100-count-source': async () => (await import('./migrations/billing/100-count-source.ts')).countSource,
  '101-routing-reason': async () => (await import('./migrations/billing/101-routing-reason.ts')).routingReason,
  '102-priorities': async () => (await import('./migrations/people/102-priorities.ts')).prioritiesOfKeys,
  '103-key-networks': async () => (await import('./migrations/alerts/103-key-networks.ts')).keyNetworks,
  '104-audit-retention': async () => (await import('./migrations/alerts/104-audit-retention.ts')).auditRetention,
  '105-bad-minutes': async () => (await import('./migrations/billing/105-bad-minutes.ts')).badMinutes,
  '106-budget-setters': async () => (await import('./migrations/billing/106-budget-setters.ts')).budgetSetters,
  '107-mapping-answerers': async () => (await import('./migrations/people/107-mapping-answerers.ts')).mappingAnswerers,
  '110-agent-sign-ins': async () => (await import('./migrations/people/110-agent-sign-ins.ts')).agentSignIns,
  '111-provider-sign-outs': async () =>
    (await import('./migrations/people/111-provider-sign-outs.ts')).providerSignOuts,
  '112-named-groups': async () => (await import('./migrations/people/112-named-groups.ts')).namedGroups,
  '113-domain-checks': async () => (await import('./migrations/people/113-domain-checks.ts')).domainChecks,
  '114-recordings': async () => (await import('./migrations/people/114-recordings.ts')).recordings,
  '115-connection-answerers': async () =>
    (await import('./migrations/people/115-connection-answerers.ts')).connectionAnswerers,
  '116-invitation-mail': async () => (await import('./migrations/people/116-invitation-mail.ts')).invitationMail,
  '120-given-up': async () => (await import('./migrations/alerts/120-given-up.ts')).givenUp,
  '121-known-minutes': async () => (await import('./migrations/billing/121-known-minutes.ts')).knownMinutes,
  '122-entry-currency': async () => (await import('./migrations/billing/122-entry-currency.ts')).entryCurrency,
  '123-topic-starts': async () => (await import('./migrations/alerts/123-topic-starts.ts')).topicStarts,
  '124-recent-minutes': async () => (await import('./migrations/billing/124-recent-minutes.ts')).recentMinutes,
}
