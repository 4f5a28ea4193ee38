import { createAccessCache, type AccessCache } from '../../accounts/access/access-cache.ts'
import { ManagementKeyUses } from '../../accounts/access/management-key-uses.ts'
import type { Config } from '../../config/schema.ts'
import { createChangeFeed, type ChangeFeed } from '../../db/change-feed.ts'
import { sqlitePath } from '../../db/database-location.ts'
import { openSqliteToRead } from '../../db/connect-sqlite.ts'
import { every } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Installation } from './open-installation.ts'
import { anchorFileIn, keepAnchors, keepDeleting, keepSigning } from './audit-anchors.ts'

export type Access = {
  readonly cache: AccessCache
  /** What the cache and others hear of changes by. */
  readonly feed: ChangeFeed
  /** As those it was opened with, and what is changed through them counts at once in this process. */
  readonly installation: Installation
  close(): Promise<void>
}

/** A file is read in microseconds, so whoever asks soon after a change made by a command already sees it. */
const fileTimes = { readEveryMs: 250, confirmBeforeUseMs: 20 }
/** Changes are told; the counters are for what was not heard, which so counts within a second. */
const serverTimes = { readEveryMs: 500, confirmBeforeUseMs: null }

/** Whoever watches the audit hears of a key in foreign hands so soon. */
const usesEveryMs = 60_000

/** Starts to keep track of who may do what, and to anchor the record of its changes. */
export function openAccess(installation: Installation, config: Config, log: Log): Access {
  const { home, databaseUrl, server } = config
  const { db, clock, hashSecret } = installation.accounts
  const nearby = databaseUrl === null ? openSqliteToRead(sqlitePath({ home })) : null
  const { readEveryMs, confirmBeforeUseMs } = databaseUrl === null ? fileTimes : serverTimes
  const feed = createChangeFeed({
    db: nearby ?? db,
    clock,
    readEveryMs,
    listenUrl: databaseUrl,
    onFailure: (error) => log.error({ error }, 'the database cannot be asked what was changed elsewhere'),
  })
  const cache = createAccessCache({
    db: nearby ?? db,
    usesDb: db,
    feed,
    clock,
    hashSecret,
    confirmBeforeUseMs,
    keepsNetworks: config.alerts.keyNetworks,
    outageMs: server.keyOutageSeconds * 1_000,
  })
  const uses = new ManagementKeyUses(installation.accounts)
  const tellUses = () =>
    uses
      .write()
      .catch((error: unknown) => log.warn({ error }, 'uses of management keys could not be noted in the audit'))
  const stopTelling = every(clock, usesEveryMs, tellUses)
  const stopAnchoring = keepAnchors(installation.accounts, anchorFileIn(home, installation.secrets), log)
  const stopSigning = keepSigning(installation.accounts, config, log)
  const stopDeleting = keepDeleting(installation.accounts, config, log)
  return {
    cache,
    feed,
    installation: {
      ...installation,
      accounts: {
        ...installation.accounts,
        accessChanged: () => cache.refresh(),
        managementKeyUsed: (principal, address) => uses.note(principal, address),
      },
    },
    async close() {
      await stopTelling()
      await uses.close().catch(() => {})
      await stopAnchoring()
      await stopSigning()
      await stopDeleting()
      await feed.close()
      await cache.close()
      await nearby?.destroy()
    },
  }
}
