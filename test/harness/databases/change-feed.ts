import { createChangeFeed, type ChangeFeed } from '../../../src/db/change-feed.ts'
import type { Database } from '../../../src/db/database.ts'
import type { Clock } from '../../../src/lib/clock.ts'

/** A change feed that only reads, each second of a test's clock. */
export function openTestFeed(db: Database, clock: Clock): ChangeFeed {
  return createChangeFeed({ db, clock, readEveryMs: 1_000, listenUrl: null, onFailure() {} })
}
