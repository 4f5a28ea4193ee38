// Several whole services on one PostgreSQL, with the keys, limits and prices that a campaign is about.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgresServer, type PostgresServer } from '../../../scripts/postgres/start-server.ts'
import { createApiKey } from '../../../src/accounts/api-keys.ts'
import { createManagementKey } from '../../../src/accounts/management-keys.ts'
import { ensureDefaultHome, type Home } from '../../../src/accounts/organizations.ts'
import type { AccountsParts } from '../../../src/accounts/parts.ts'
import { createSecret, loadSecrets } from '../../../src/config/load-secret.ts'
import { modelIds } from '../../../src/core/model.ts'
import type { ApiKeyId } from '../../../src/core/ids.ts'
import type { Database } from '../../../src/db/database.ts'
import { openPostgres } from '../../../src/db/open-postgres.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { BudgetValues, LimitValues } from '../../../src/core/limit-fields.ts'
import { setBudget } from '../../../src/limits/settings/budget-settings.ts'
import { setLimit } from '../../../src/limits/settings/limit-settings.ts'
import { startService, type Service, type ServiceOptions } from '../../harness/start-service.ts'

const operator = { kind: 'operator' } as const

export type Key = { readonly id: ApiKeyId; readonly key: string }

/** What is there before the first gateway starts; so all of them know every limit from their first request on. */
export type Shared = {
  readonly server: PostgresServer
  readonly db: Database
  readonly home: Home
  /** Under which the hashes of keys are made. */
  readonly hashSecret: Uint8Array
  createKey(name: string): Promise<Key>
  limit(key: Key, values: Partial<LimitValues>): Promise<void>
  budget(key: Key, values: Partial<BudgetValues>): Promise<void>
  createOwner(): Promise<string>
  /** Starts a gateway; its way to PostgreSQL may be another one than the server's own address. */
  start(databaseUrl?: string, options?: Pick<ServiceOptions, 'config' | 'environment'>): Promise<Service>
  stop(): Promise<void>
}

export async function openShared(): Promise<Shared> {
  const server = await startPostgresServer()
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-gateways-'))
  const db = await openPostgres(server.url)
  const clock = systemClock
  createSecret(folder)
  const accounts: AccountsParts = { db, clock, hashSecret: loadSecrets(folder).keyHashSecret }
  const home = await ensureDefaultHome({ db, clock })
  const { organizationId } = home
  await setPrices(db)
  const first = await createApiKey(accounts, operator, { name: 'first', ...home })
  const started: Service[] = []
  return {
    server,
    db,
    home,
    hashSecret: accounts.hashSecret,
    createKey: (name) => createApiKey(accounts, operator, { name, ...home }),
    async limit({ id }, values) {
      await setLimit(accounts, operator, { organizationId, subject: { kind: 'api-key', id }, model: '*', ...values })
    },
    async budget({ id }, values) {
      const subject = { kind: 'api-key', id } as const
      await setBudget(accounts, operator, { organizationId, subject, period: 'month', ...values })
    },
    async createOwner() {
      const wanted = { name: 'owner', role: 'owner', organizationId: null, expiresAtMs: null } as const
      return (await createManagementKey(accounts, operator, wanted)).key
    },
    async start(databaseUrl = server.url, { config = {}, environment = {} } = {}) {
      const joins = { home: folder, key: first.key }
      const service = await startService({ config, environment: { DATABASE_URL: databaseUrl, ...environment }, joins })
      started.push(service)
      return service
    },
    async stop() {
      // After a failure they run still, and would keep the process that waits for them.
      await Promise.all(started.map((service) => service.stop('SIGKILL')))
      await db.destroy()
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A token of any kind costs one, so that money is easily counted; a price cannot be set for the past by any command. */
async function setPrices(db: Database): Promise<void> {
  const rate = 1_000_000
  const rates = { input: rate, cache_read: rate, cache_write_short: rate, cache_write_long: rate, output: rate }
  const rest = { organization_id: null, effective_at: 0, currency: 'USD', is_end: 0, created_at: 1, ...rates }
  await db
    .insertInto('prices')
    .values(modelIds.map((model) => ({ id: `price_${model}` as const, model, ...rest })))
    .execute()
}
