import { isIPv6 } from 'node:net'
import { ApiError } from '../../core/error.ts'
import type { Clock } from '../../lib/clock.ts'

const attemptsMax = 20
const windowMs = 60_000
/** About 150 bytes each. */
const addressesMax = 10_000

type Attempts = { readonly sinceMs: number; count: number }

/** Counts the keys that were refused, by where they came from. Whoever tries too many is not listened to for a while. */
export class FailedAttempts {
  readonly #clock: Clock
  /** In the order in which their first attempt was made. */
  readonly #byAddress = new Map<string, Attempts>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Throws where there were too many within a minute, also for a key that would be right. */
  require(address: string): void {
    const attempts = this.#current(networkOf(address))
    if (attempts === undefined || attempts.count < attemptsMax) return
    const retryAfterMs = attempts.sinceMs + windowMs - this.#clock.monotonicMs()
    throw new ApiError({ code: 'rate-limited', retryAfterMs }, 'Too many keys from this address were refused.')
  }

  count(address: string): void {
    const network = networkOf(address)
    const attempts = this.#current(network)
    if (attempts !== undefined) {
      attempts.count += 1
      return
    }
    this.#byAddress.delete(network)
    const oldest = this.#byAddress.keys().next()
    if (this.#byAddress.size >= addressesMax && oldest.done !== true) this.#byAddress.delete(oldest.value)
    this.#byAddress.set(network, { sinceMs: this.#clock.monotonicMs(), count: 1 })
  }

  get size(): number {
    return this.#byAddress.size
  }

  #current(network: string): Attempts | undefined {
    const attempts = this.#byAddress.get(network)
    return attempts !== undefined && this.#clock.monotonicMs() < attempts.sinceMs + windowMs ? attempts : undefined
  }
}

/** One household or machine has a whole /64 of addresses. */
function networkOf(address: string): string {
  const plain = address.split('%', 1)[0] ?? ''
  if (!isIPv6(plain) || plain.startsWith('::ffff:')) return plain
  const [head = '', tail] = plain.split('::', 2)
  const groups = head === '' ? [] : head.split(':')
  const tailGroups = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array<string>(Math.max(0, 8 - groups.length - tailGroups.length)).fill('0')
  return [...groups, ...zeros, ...tailGroups].slice(0, 4).join(':')
}
