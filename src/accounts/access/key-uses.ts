// What is kept of how keys are used: when last, and from which networks.

import { sql, type Transaction } from 'kysely'
import type { ApiKeyId, OrganizationId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { Tables } from '../../db/tables.ts'
import { siteOf } from '../../lib/network/address-list.ts'
import type { Clock } from '../../lib/clock.ts'

const dayMs = 86_400_000
/** A network that a key was not used from for so long is forgotten, and new when it is. */
export const keptDays = 90
/** A key that is used from everywhere has no new networks: what it is used from beyond these is not kept. */
export const networksPerKeyMax = 100
/** Entries of some 150 bytes; of what falls out the database is asked again. */
const knownMax = 100_000
/** Of more uses in a minute than these the rest is noted when the keys are used again. */
const waitingMax = 20_000
const keysPerRead = 500
/** Stands for the networks of a key that were forgotten: it says since when the key was used, and not where. */
export const forgottenNetwork = ''

type Use = { readonly apiKeyId: ApiKeyId; readonly organizationId: OrganizationId; readonly network: string }

/**
 * Remembers from which networks keys are used, a day at a time, and writes that down once in a while.
 *
 * A network is what a site has, not one machine: a client whose provider gives it another address tomorrow is in the same one.
 */
export class KeyNetworks {
  readonly #parts: { readonly db: Database; readonly clock: Clock }
  /** Until when a use needs not be noted again. */
  readonly #known = new Map<string, number>()
  #waiting = new Map<string, Use>()
  #cleanedMs = -Infinity

  constructor(parts: { readonly db: Database; readonly clock: Clock }) {
    this.#parts = parts
  }

  note(
    key: { readonly apiKeyId: ApiKeyId; readonly organizationId: OrganizationId },
    address: string | undefined,
  ): void {
    const network = siteOf(address)
    if (network === null) return
    const name = `${key.apiKeyId} ${network}`
    if ((this.#known.get(name) ?? 0) > this.#parts.clock.nowMs() || this.#waiting.size >= waitingMax) return
    this.#waiting.set(name, { apiKeyId: key.apiKeyId, organizationId: key.organizationId, network })
  }

  /** Throws when the database is away; the uses are written when it is back, if the keys are still in use. */
  async write(): Promise<void> {
    const uses = [...this.#waiting]
    this.#waiting = new Map()
    for (let start = 0; start < uses.length; start += keysPerRead) {
      const some = uses.slice(start, start + keysPerRead)
      await this.#writeSome(some.map(([, use]) => use))
      for (const [name] of some) this.#remember(name)
    }
    await this.#forgetOld()
  }

  async #writeSome(uses: readonly Use[]): Promise<void> {
    const { db, clock } = this.#parts
    const ids = [...new Set(uses.map(({ apiKeyId }) => apiKeyId))]
    const rows = await db
      .selectFrom('key_networks')
      .select(['api_key_id', 'network'])
      .where('api_key_id', 'in', ids)
      .where('network', '<>', forgottenNetwork)
      .execute()
    const kept = new Map(ids.map((id) => [id, new Set<string>()]))
    for (const row of rows) kept.get(row.api_key_id)?.add(row.network)
    const at = clock.nowMs()
    const values = uses.flatMap(({ apiKeyId, organizationId, network }) => {
      const networks = kept.get(apiKeyId)
      if (networks === undefined || (networks.size >= networksPerKeyMax && !networks.has(network))) return []
      networks.add(network)
      const row = { api_key_id: apiKeyId, organization_id: organizationId, network }
      return [{ ...row, first_used_at: at, last_used_at: at }]
    })
    if (values.length === 0) return
    await db
      .insertInto('key_networks')
      .values(values)
      .onConflict((conflict) => conflict.columns(['api_key_id', 'network']).doUpdateSet({ last_used_at: at }))
      .execute()
  }

  #remember(name: string): void {
    this.#known.delete(name)
    if (this.#known.size >= knownMax) {
      const [oldest] = this.#known.keys()
      if (oldest !== undefined) this.#known.delete(oldest)
    }
    this.#known.set(name, this.#parts.clock.nowMs() + dayMs)
  }

  async #forgetOld(): Promise<void> {
    const { db, clock } = this.#parts
    if (clock.monotonicMs() - this.#cleanedMs < dayMs) return
    const nowMs = clock.nowMs()
    const fromMs = nowMs - keptDays * dayMs
    await db.transaction().execute(async (transaction) => {
      await keepFirstUses(transaction, { fromMs, nowMs })
      await transaction
        .deleteFrom('key_networks')
        .where('last_used_at', '<', fromMs)
        .where('network', '<>', forgottenNetwork)
        .execute()
    })
    this.#cleanedMs = clock.monotonicMs()
  }
}

/** Keeps that keys were used and since when, where nothing else will say so: a key that was not used for long is no new one. */
async function keepFirstUses(
  transaction: Transaction<Tables>,
  { fromMs, nowMs }: { readonly fromMs: number; readonly nowMs: number },
): Promise<void> {
  await transaction
    .insertInto('key_networks')
    .columns(['api_key_id', 'organization_id', 'network', 'first_used_at', 'last_used_at'])
    .expression((eb) =>
      eb
        .selectFrom('key_networks as old')
        .select(['old.api_key_id', 'old.organization_id', sql.lit(forgottenNetwork).as('network')])
        .select(({ fn }) => [fn.min('old.first_used_at').as('first'), fn.max('old.last_used_at').as('last')])
        .where('old.last_used_at', '<', fromMs)
        .where('old.network', '<>', forgottenNetwork)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('key_networks as kept')
                .select('kept.network')
                .whereRef('kept.api_key_id', '=', 'old.api_key_id')
                .where('kept.last_used_at', '>=', fromMs)
                .where('kept.first_used_at', '<=', nowMs - dayMs),
            ),
          ),
        )
        .groupBy(['old.api_key_id', 'old.organization_id'])
        // Gateways that clean at the same moment do not wait for each other in a circle.
        .orderBy('old.api_key_id'),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Well within what SQLite takes as values of one statement. */
const keysPerStatement = 1_000

/** Remembers which keys were used, and writes that down once in a while for all of them together. */
export class LastUsed {
  readonly #parts: { readonly db: Database; readonly clock: Clock }
  #used = new Set<ApiKeyId>()

  constructor(parts: { readonly db: Database; readonly clock: Clock }) {
    this.#parts = parts
  }

  note(id: ApiKeyId): void {
    this.#used.add(id)
  }

  /** Throws when the database is away; what is lost then is a minute of a time that is to the minute. */
  async write(): Promise<void> {
    const ids = [...this.#used]
    this.#used = new Set()
    const { db, clock } = this.#parts
    for (let start = 0; start < ids.length; start += keysPerStatement) {
      const some = ids.slice(start, start + keysPerStatement)
      await db.updateTable('api_keys').set({ last_used_at: clock.nowMs() }).where('id', 'in', some).execute()
    }
  }
}
