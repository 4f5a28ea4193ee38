import type { ApiKeyId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { Clock } from '../../lib/clock.ts'

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
