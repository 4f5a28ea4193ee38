import type { ManagementKeyPrincipal } from '../../core/principal.ts'
import { change, installationChain } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import { siteOf } from '../../lib/network/address-list.ts'
import type { Clock } from '../../lib/clock.ts'

/** Uses of one key from one network are told together for so long. */
const toldTogetherMs = 3_600_000
/** The uses of a key from more networks than these within the hour are told together. */
const networksPerKeyMax = 20

type Uses = {
  readonly principal: ManagementKeyPrincipal
  /** Null for all networks beyond those that are told by themselves. */
  readonly network: string | null
  /** That of the first of them. */
  address: string | null
  uses: number
  sinceMs: number
  /** Null until the first row. */
  toldMs: number | null
}

/**
 * Leaves rows in the audit that tell from where management keys are used: one within a minute of a key's first use from a
 * network, and then one an hour with how many there were. However often a key is used, it cannot fill the audit.
 */
export class ManagementKeyUses {
  readonly #parts: { readonly db: Database; readonly clock: Clock }
  readonly #byKey = new Map<string, Map<string | null, Uses>>()

  constructor(parts: { readonly db: Database; readonly clock: Clock }) {
    this.#parts = parts
  }

  note(principal: ManagementKeyPrincipal, address: string | undefined): void {
    const networks = this.#byKey.get(principal.managementKeyId) ?? new Map<string | null, Uses>()
    this.#byKey.set(principal.managementKeyId, networks)
    const found = siteOf(address)
    const network = networks.has(found) || networks.size < networksPerKeyMax ? found : null
    const nowMs = this.#parts.clock.nowMs()
    const known = networks.get(network)
    if (known === undefined) {
      const shown = network === null ? null : (address ?? null)
      networks.set(network, { principal, network, address: shown, uses: 1, sinceMs: nowMs, toldMs: null })
      return
    }
    if (known.uses === 0) {
      known.sinceMs = nowMs
      known.address = network === null ? null : (address ?? null)
    }
    known.uses += 1
  }

  /** Writes what is due. Throws when the database is away; what was not written then is counted on. */
  async write(): Promise<void> {
    const nowMs = this.#parts.clock.nowMs()
    await this.#writeThose(({ toldMs }) => toldMs === null || nowMs - toldMs >= toldTogetherMs)
    for (const [id, networks] of this.#byKey) {
      for (const [network, { uses, toldMs }] of networks) {
        if (uses === 0 && toldMs !== null && nowMs - toldMs >= toldTogetherMs) networks.delete(network)
      }
      if (networks.size === 0) this.#byKey.delete(id)
    }
  }

  /** Writes all that was not told yet. */
  close(): Promise<void> {
    return this.#writeThose(() => true)
  }

  async #writeThose(isDue: (uses: Uses) => boolean): Promise<void> {
    const all = [...this.#byKey.values()].flatMap((networks) => [...networks.values()])
    for (const uses of all) if (uses.uses > 0 && isDue(uses)) await this.#tell(uses)
  }

  async #tell(known: Uses): Promise<void> {
    const { principal, network, address, uses, sinceMs } = known
    const origin = address === null ? {} : { origin: { address, requestId: null } }
    const action = {
      action: 'management-keys:use',
      organizationId: principal.organizationId ?? installationChain,
      target: principal.managementKeyId,
      // It may have been revoked since.
      needsNoRight: true,
    } as const
    const fields = { network: network ?? 'several', uses, since: new Date(sinceMs).toISOString() }
    await change({ ...this.#parts, ...origin }, principal, action, (_, note) => Promise.resolve(note(null, fields)))
    // Uses that came meanwhile are told with the next row.
    known.uses -= uses
    known.sinceMs = this.#parts.clock.nowMs()
    known.toldMs = known.sinceMs
  }
}
