import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../lib/clock.ts'
import type { HttpBounds } from '../bounds.ts'
import { BodyBudget } from './body-budget.ts'
import { readJsonBody, type JsonBody } from './read-json.ts'

/** The largest body of any route. */
export const bodyBytesMax = 32 * 1_024 * 1_024

/** A body that may be read, and counts among those in memory until it is released. */
export type OpenBody = {
  /** The signal ends the reading. */
  read(signal: AbortSignal | null, bytesMax?: number): Promise<JsonBody>
  release(): void
}

/** Reads the bodies of all requests, within the bounds of the door. */
export class Bodies {
  readonly #clock: Clock
  readonly #bytesPerSecondMin: number
  readonly #budget: BodyBudget

  constructor(clock: Clock, { bodyBytesPerSecondMin, bodyBytesMax: budgetBytes }: HttpBounds) {
    this.#clock = clock
    this.#bytesPerSecondMin = bodyBytesPerSecondMin
    this.#budget = new BodyBudget(budgetBytes, bodyBytesMax)
  }

  /** Throws where the key, or all together, have too much in memory already. */
  open(request: IncomingMessage, key: string): OpenBody {
    const hold = this.#budget.open(key)
    const [clock, bytesPerSecondMin] = [this.#clock, this.#bytesPerSecondMin]
    return {
      read: (signal, bytesMax = bodyBytesMax) =>
        readJsonBody(request, { clock, bytesPerSecondMin, bytesMax, hold, signal }),
      release: () => hold.release(),
    }
  }
}
