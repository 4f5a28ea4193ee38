import { ApiError } from '../../core/error.ts'

/** What a request takes before its first byte: sockets, parsers and headers. */
const eachBytes = 16 * 1_024
/** No key takes more than this part, so that there is always room for others. */
const keyShare = 4
/** Requests of a few kilobytes pass in milliseconds, large ones take seconds. */
const retryAfterMs = 1_000

/** Takes bytes of the budget for one request, and gives all of them back together. */
export interface BodyHold {
  readonly bytes: number
  /** Throws where there is no room, for the key or for anybody; nothing is taken then. */
  take(bytes: number): void
  /** A second call changes nothing. */
  release(): void
}

/**
 * Bounds how many bytes of request bodies are in memory: those being received, and what they unpack to, until their request
 * is over. Counted before they are read, so that nobody's bodies use up the memory that is others'.
 */
export class BodyBudget {
  readonly #bytesMax: number
  readonly #keyBytesMax: number
  readonly #byKey = new Map<string, number>()
  #bytes = 0

  /** However small the whole is, a key has room for one of the largest bodies. */
  constructor(bytesMax: number, largestBytes: number) {
    this.#bytesMax = bytesMax
    this.#keyBytesMax = Math.max(largestBytes + eachBytes, Math.floor(bytesMax / keyShare))
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Throws where there is no room for another body, whatever its size. */
  open(key: string): BodyHold {
    let held = 0
    const hold: BodyHold = {
      get bytes() {
        return held
      },
      take: (bytes) => {
        this.#take(key, bytes)
        held += bytes
      },
      release: () => {
        this.#give(key, held)
        held = 0
      },
    }
    hold.take(eachBytes)
    return hold
  }

  #take(key: string, bytes: number): void {
    const own = (this.#byKey.get(key) ?? 0) + bytes
    if (own > this.#keyBytesMax) {
      const message =
        'The requests of this API key that are under way are too large together. Please retry when one has ended.'
      throw new ApiError({ code: 'rate-limited', retryAfterMs }, message)
    }
    if (this.#bytes + bytes > this.#bytesMax) {
      throw new ApiError(
        { code: 'overloaded', retryAfterMs },
        'Too many large requests are under way. Please try again shortly.',
      )
    }
    this.#byKey.set(key, own)
    this.#bytes += bytes
  }

  #give(key: string, bytes: number): void {
    this.#bytes -= bytes
    const left = (this.#byKey.get(key) ?? 0) - bytes
    if (left > 0) this.#byKey.set(key, left)
    else this.#byKey.delete(key)
  }
}
