import type { Owner } from '../core/generation.ts'

/** A claimant's next request still finds a slot free this long after its last answer: somebody reads, and asks on. */
const activeMs = 30_000

/** With fewer slots, one that is kept free would be half of what the engine can do. */
const sharedSlotsMin = 4

type Claim = {
  running: number
  /** The most that ran at once of late. */
  peak: number
  peakMs: number
  usedMs: number
}

/**
 * Keeps slots free for claimants who ask now and then, when others would take them all.
 *
 * Every claimant that was active of late is guaranteed an equal share of the slots, and of that
 * as many are kept free for it as it has used at once. Beyond its share a claimant gets whatever
 * nobody has a claim to, so that one alone has all slots.
 */
class Shares {
  readonly #claims = new Map<string, Claim>()

  get running(): number {
    let running = 0
    for (const claim of this.#claims.values()) running += claim.running
    return running
  }

  get isEmpty(): boolean {
    return this.#claims.size === 0
  }

  runningOf(id: string): number {
    return this.#claims.get(id)?.running ?? 0
  }

  begin(id: string, nowMs: number): void {
    const claim = this.#claims.get(id) ?? { running: 0, peak: 0, peakMs: nowMs, usedMs: nowMs }
    this.#claims.set(id, claim)
    claim.running += 1
    claim.usedMs = nowMs
    if (claim.running < claim.peak && nowMs - claim.peakMs <= activeMs) return
    claim.peak = claim.running
    claim.peakMs = nowMs
  }

  end(id: string, nowMs: number): void {
    const claim = this.#claims.get(id)
    if (claim === undefined) return
    claim.running -= 1
    claim.usedMs = nowMs
  }

  /** Tells whether a claimant may have one of the slots that are free. `spare` ones beyond them serve claims as well. */
  mayBegin(id: string, slots: number, nowMs: number, spare = 0): boolean {
    this.#forget(nowMs)
    const active = this.#claims.size + (this.#claims.has(id) ? 0 : 1)
    const guaranteed = Math.floor(slots / active)
    if (this.runningOf(id) < guaranteed) return true
    let reserved = 0
    for (const [other, { peak, running }] of this.#claims)
      if (other !== id) reserved += Math.max(0, Math.min(peak, guaranteed) - running)
    return slots + spare - this.running > reserved
  }

  #forget(nowMs: number): void {
    for (const [id, { running, usedMs }] of this.#claims)
      if (running === 0 && nowMs - usedMs > activeMs) this.#claims.delete(id)
  }
}

/** Shares of organizations in all slots, and of keys in those of their organization. */
export class SlotShares {
  readonly #organizations = new Shares()
  readonly #keys = new Map<string, Shares>()

  /** How many slots an organization has. */
  runningOf(organizationId: string): number {
    return this.#organizations.runningOf(organizationId)
  }

  begin({ organizationId, apiKeyId }: Owner, nowMs: number): void {
    this.#organizations.begin(organizationId, nowMs)
    const keys = this.#keys.get(organizationId) ?? new Shares()
    this.#keys.set(organizationId, keys)
    keys.begin(apiKeyId, nowMs)
  }

  end({ organizationId, apiKeyId }: Owner, nowMs: number): void {
    this.#organizations.end(organizationId, nowMs)
    this.#keys.get(organizationId)?.end(apiKeyId, nowMs)
  }

  mayBegin({ organizationId, apiKeyId }: Owner, slots: number, nowMs: number, guestSlots = 0): boolean {
    if (slots < sharedSlotsMin) return true
    if (!this.#organizations.mayBegin(organizationId, slots, nowMs, guestSlots)) return false
    const ofOthers = this.#organizations.running - this.#organizations.runningOf(organizationId)
    const keys = this.#keys.get(organizationId)
    if (keys === undefined || keys.mayBegin(apiKeyId, slots - ofOthers, nowMs)) return true
    if (keys.isEmpty) this.#keys.delete(organizationId)
    return false
  }
}
