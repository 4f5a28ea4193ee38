import { createAccessCache, type AccessCache } from '../../accounts/access/access-cache.ts'
import type { Config } from '../../config/schema.ts'
import { accessChannel } from '../../db/access-changes.ts'
import { listenPostgres } from '../../db/listen-postgres.ts'
import { sqlitePath } from '../../db/database-place.ts'
import { openSqliteToRead } from '../../db/open-sqlite.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Accounts } from './open-accounts.ts'
import { anchorFileIn, keepAnchors } from './audit-anchors.ts'

export type Access = {
  readonly cache: AccessCache
  /** As those it was opened with, and what is changed through them counts at once in this process. */
  readonly accounts: Accounts
  close(): Promise<void>
}

/** A file is read in microseconds, so whoever asks soon after a change made by a command already sees it. */
const fileTimes = { confirmMs: 250, confirmBeforeUseMs: 20 }
/** Changes are told; the counter is for what was not heard, which so counts within a second, the pause between two looks included. */
const serverTimes = { confirmMs: 500, confirmBeforeUseMs: null }

/** Starts to keep track of who may do what, and to anchor the record of its changes. */
export function openAccess(accounts: Accounts, { home, databaseUrl, server }: Config, log: Log): Access {
  const { db, clock, hashSecret } = accounts.apiKeys
  const nearby = databaseUrl === null ? openSqliteToRead(sqlitePath({ home })) : null
  const times = databaseUrl === null ? fileTimes : serverTimes
  const cache = createAccessCache({
    db: nearby ?? db,
    usesDb: db,
    clock,
    hashSecret,
    ...times,
    outageMs: server.keyOutageSeconds * 1_000,
  })
  const stopListening =
    databaseUrl === null
      ? () => Promise.resolve()
      : listenPostgres({ url: databaseUrl, channel: accessChannel, clock, onNotice: () => cache.look() })
  const stopAnchoring = keepAnchors(accounts.apiKeys, anchorFileIn(home, accounts.secrets), log)
  return {
    cache,
    accounts: { ...accounts, apiKeys: { ...accounts.apiKeys, accessChanged: () => cache.refresh() } },
    async close() {
      stopAnchoring()
      await stopListening()
      await cache.close()
      await nearby?.destroy()
    },
  }
}
