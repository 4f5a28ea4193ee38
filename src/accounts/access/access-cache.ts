// Knows in memory whose the keys are that are in use, so that no request waits for the database.
//
//   a change here        is acted on before whoever made it is answered
//   a change elsewhere   is heard of by the change feed
//   the database away    known keys work for a while after it was last heard of, unknown ones do not

import { createSecretKey, type KeyObject } from 'node:crypto'
import { ApiError } from '../../core/error.ts'
import type { ChangeFeed, News } from '../../db/change-feed.ts'
import type { Database } from '../../db/database.ts'
import { deadline, every, type Clock } from '../../lib/clock.ts'
import { hasImportedKeys } from '../imported-keys.ts'
import { hashShownKey, isForeignKey } from '../key-format.ts'
import { readKeyAccess, type KeyAccess } from './key-access.ts'
import { KeyNetworks, LastUsed } from './key-uses.ts'
import { RunningKeys, type EndReason } from './running-keys.ts'
import { createSingleFlight } from '../../lib/single-flight.ts'

export type AccessCacheOptions = {
  /** The database that is asked while a request waits. */
  readonly db: Database
  /** Where the last uses of keys are written; `db` unless given. */
  readonly usesDb?: Database
  /** Says when keys were changed. */
  readonly feed: ChangeFeed
  readonly clock: Clock
  readonly hashSecret: Uint8Array
  /** A request that comes this long after the counter was read waits until it is read again; null never waits. */
  readonly confirmBeforeUseMs: number | null
  /** Whether it is written down from which networks keys are used; it is unless this is false. */
  readonly keepsNetworks?: boolean
  /** How long known keys work while the database is away. */
  readonly outageMs: number
}

export interface AccessCache {
  /**
   * Whose key this is, or null for one that is unknown, revoked, disabled or expired.
   *
   * Throws `overloaded` when that cannot be found out.
   */
  find(key: string): Promise<KeyAccess | null>
  /** The same of a key that has no secret, by what stands in the place of its hash. */
  findByHash(hash: string): Promise<KeyAccess | null>
  /** Notes from where a key was used, once whoever showed it was let in. */
  noteUse(access: KeyAccess, address: string | undefined): void
  /** Whether keys can be told from none: not while the database is away for longer than known keys go on working. */
  isAvailable(): boolean
  /** Calls back, once, as soon as the key may no longer be used. Returns the way to stop watching. */
  watch(access: KeyAccess, onEnd: (reason: EndReason) => void): () => void
  /** For a change that this process has made: it counts when this resolves, and nobody is let in before it does. */
  refresh(): Promise<void>
  close(): Promise<void>
}

const tickMs = 250
const lastUsedMs = 60_000
/** A database that takes longer for one key is as good as away. */
const lookupMsMax = 250
/** About 1 KB each. */
const knownMax = 50_000
const unknownMax = 10_000
/** Lookups of unknown keys at a time; more of them would only queue for a connection. */
const lookupsMax = 100
const hashesPerRead = 500

export function createAccessCache(options: AccessCacheOptions): AccessCache {
  const cache = new Cache(options)
  return {
    find: (key) => cache.find(key),
    findByHash: (hash) => cache.findByHash(hash),
    noteUse: (access, address) => cache.noteUse(access, address),
    isAvailable: () => cache.isAvailable(),
    watch: (access, onEnd) => cache.watch(access, onEnd),
    refresh: () => cache.refresh(),
    close: () => cache.close(),
  }
}

class Cache {
  readonly running: RunningKeys
  readonly #options: AccessCacheOptions
  readonly #known = new Map<string, KeyAccess>()
  readonly #unknown = new Set<string>()
  readonly #lastUsed: LastUsed
  readonly #networks: KeyNetworks | null
  /** A key made once: from plain bytes Node would make one for every request. */
  readonly #hashSecret: KeyObject
  readonly #confirm: () => Promise<void>
  /** Whether keys of another gateway work here, as of the last change that was read; null before the first. */
  #hasImported: boolean | null = null
  #lookups = 0
  #counter = -1
  /** When the counter was last read, by the clock that never goes back. */
  #confirmedMs = -Infinity
  /** Whether there is a change that the entries do not show yet. */
  #isOutdated = false
  /** Tells lookups that began before a change from those that began after it. */
  #generation = 0
  #lastUsedWrittenMs: number
  readonly #stopTicking: () => Promise<void>
  readonly #unsubscribe: () => void

  constructor(options: AccessCacheOptions) {
    this.#options = options
    this.#hashSecret = createSecretKey(options.hashSecret)
    this.running = new RunningKeys(options.clock)
    const uses = { db: options.usesDb ?? options.db, clock: options.clock }
    this.#lastUsed = new LastUsed(uses)
    this.#networks = options.keepsNetworks === false ? null : new KeyNetworks(uses)
    this.#confirm = createSingleFlight(() => this.#readChanges())
    this.#lastUsedWrittenMs = options.clock.monotonicMs()
    this.#stopTicking = every(options.clock, tickMs, () => this.#tick())
    this.#unsubscribe = options.feed.subscribe('access', (news) => this.#hear(news))
  }

  async find(key: string): Promise<KeyAccess | null> {
    const hash = hashShownKey(this.#hashSecret, key)
    if (hash === null || (isForeignKey(key) && !(await this.#mayBeImported()))) return null
    return this.findByHash(hash)
  }

  async findByHash(hash: string): Promise<KeyAccess | null> {
    if (this.#mustConfirm()) await this.#confirmInTime()
    const access = this.#unknown.has(hash) ? null : (this.#known.get(hash) ?? (await this.#lookUp(hash)))
    if (access === null || this.running.hasExpired(access)) return null
    this.#lastUsed.note(access.principal.apiKeyId)
    return access
  }

  noteUse({ principal }: KeyAccess, address: string | undefined): void {
    this.#networks?.note(principal, address)
  }

  isAvailable(): boolean {
    const { clock, outageMs } = this.#options
    return clock.monotonicMs() - this.#confirmedMs <= outageMs
  }

  watch(access: KeyAccess, onEnd: (reason: EndReason) => void): () => void {
    // The key may have ended since it was found.
    if (!this.#known.has(access.hash)) void this.refresh()
    return this.running.watch(access, onEnd)
  }

  async refresh(): Promise<void> {
    this.#isOutdated = true
    this.#generation += 1
    try {
      await this.#confirm()
    } catch {
      // As long as the change cannot be read every key is refused, and whatever is heard next tries again.
    }
  }

  async close(): Promise<void> {
    this.#unsubscribe()
    await this.#stopTicking()
    await this.#writeUses()
  }

  /** Where no key was ever moved here, what looks like one of another gateway costs no lookup. */
  async #mayBeImported(): Promise<boolean> {
    if (this.#hasImported === null) await this.#confirmInTime()
    return this.#hasImported ?? true
  }

  #hear({ counter, readAtMs }: News): void {
    if (counter === this.#counter && !this.#isOutdated) this.#confirmedMs = readAtMs ?? this.#confirmedMs
    // What fails now is tried again when the feed next speaks.
    else this.#confirm().catch(() => {})
  }

  #mustConfirm(): boolean {
    const { clock, confirmBeforeUseMs, outageMs } = this.#options
    const ageMs = clock.monotonicMs() - this.#confirmedMs
    return this.#isOutdated || ageMs > (confirmBeforeUseMs ?? outageMs)
  }

  async #confirmInTime(): Promise<void> {
    try {
      await deadline(this.#options.clock, lookupMsMax, this.#confirm())
    } catch (error) {
      // A change that is known of and cannot be read may have been about this very key.
      if (this.#isOutdated || !this.isAvailable()) throw unavailable(error)
    }
  }

  async #lookUp(hash: string): Promise<KeyAccess | null> {
    if (this.#lookups >= lookupsMax) throw unavailable(null)
    this.#lookups += 1
    const { db, clock } = this.#options
    try {
      for (;;) {
        const generation = this.#generation
        const [access = null] = await deadline(clock, lookupMsMax, readKeyAccess(db, [hash]))
        // What was read before a change must not be remembered after it.
        if (generation !== this.#generation) continue
        this.#remember(hash, access)
        return access
      }
    } catch (error) {
      throw unavailable(error)
    } finally {
      this.#lookups -= 1
    }
  }

  #remember(hash: string, access: KeyAccess | null): void {
    if (access === null) addBounded(this.#unknown, hash, unknownMax)
    else {
      if (this.#known.size >= knownMax) {
        const [oldest] = this.#known.keys()
        if (oldest !== undefined) this.#known.delete(oldest)
      }
      this.#known.set(hash, access)
    }
  }

  async #readChanges(): Promise<void> {
    const { feed, clock } = this.#options
    const askedMs = clock.monotonicMs()
    const { access: counter } = await feed.read()
    if (counter !== this.#counter || this.#isOutdated) await this.#readAgain(counter)
    this.#confirmedMs = askedMs
    this.running.endOver(this.#known)
  }

  async #readAgain(counter: number): Promise<void> {
    this.#generation += 1
    const generation = this.#generation
    try {
      await this.#readEntries()
    } catch (error) {
      this.#isOutdated = true
      throw error
    }
    this.#counter = counter
    // A change that was made meanwhile may not be in what was read.
    if (generation === this.#generation) this.#isOutdated = false
  }

  async #readEntries(): Promise<void> {
    const { db } = this.#options
    const asking = this.#hasImported === true ? true : hasImportedKeys(db)
    const hashes = [...new Set([...this.#known.keys(), ...this.running.hashes()])]
    const found = new Map<string, KeyAccess>()
    const read = async () => {
      for (let start = 0; start < hashes.length; start += hashesPerRead) {
        const some = await readKeyAccess(db, hashes.slice(start, start + hashesPerRead))
        for (const access of some) found.set(access.hash, access)
      }
    }
    const [hasImported] = await Promise.all([asking, read()])
    this.#hasImported = hasImported
    this.#unknown.clear()
    for (const hash of hashes) {
      const access = found.get(hash)
      if (access === undefined) {
        this.#known.delete(hash)
        this.running.end(hash)
      } else this.#known.set(hash, access)
    }
  }

  #tick(): void {
    this.running.endOver(this.#known)
    const { clock } = this.#options
    if (clock.monotonicMs() - this.#lastUsedWrittenMs < lastUsedMs) return
    this.#lastUsedWrittenMs = clock.monotonicMs()
    void this.#writeUses()
  }

  /** A write that fails loses a minute of a time that is to the minute, and a network that is noted again when it is used. */
  async #writeUses(): Promise<void> {
    await Promise.allSettled([this.#lastUsed.write(), this.#networks?.write()])
  }
}

function addBounded(set: Set<string>, entry: string, sizeMax: number): void {
  if (set.size >= sizeMax) {
    const [oldest] = set
    if (oldest !== undefined) set.delete(oldest)
  }
  set.add(entry)
}

function unavailable(cause: unknown): ApiError {
  const message = 'The key cannot be checked at the moment. Please try again shortly.'
  return new ApiError({ code: 'overloaded', retryAfterMs: 2_000 }, message, { cause })
}
