import type { ApiKeyPrincipal } from '../core/principal.ts'
import { createFundAllowance, type Fund } from './allowances/fund-allowance.ts'

/** How many requests of a key this process has under way, for keys without such a limit of their own. */
export class KeyPlaces {
  readonly #most: number | null
  readonly #keys = new Map<string, Fund>()

  constructor(most: number | null) {
    this.#most = most
  }

  /** Null where there is no such default. */
  of({ apiKeyId, quotaId }: ApiKeyPrincipal): Fund | null {
    if (this.#most === null) return null
    const key = quotaId ?? apiKeyId
    const places = this.#keys.get(key) ?? this.#forgetting(key, this.#most)
    this.#keys.set(key, places)
    return places
  }

  /** Keys without requests are not remembered. */
  #forgetting(key: string, most: number): Fund {
    const places = createFundAllowance(most)
    return {
      ...places,
      limit: most,
      get reserved() {
        return places.reserved
      },
      spent: 0,
      settle: (taken) => {
        places.settle(taken, 0)
        if (places.reserved === 0) this.#keys.delete(key)
      },
    }
  }
}
