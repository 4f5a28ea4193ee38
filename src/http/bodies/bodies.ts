import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../lib/clock.ts'
import { scanJson } from '../../lib/json/json-scan.ts'
import { MemoryReturn, openCollector } from '../../lib/memory-return.ts'
import type { HttpBounds } from '../bounds.ts'
import type { RequestTracker } from '../request-tracker.ts'
import { BodyBudget, type BodyHold } from './body-budget.ts'
import { decodeBody, type BodyKind, type Decoders, type Decodings, parseJson } from './decode-body.ts'
import { DecodeThread, type Decoded } from './decode-thread.ts'
import { receiveBody } from './receive-body.ts'

/** The largest body of any route. */
export const bodyBytesMax = 32 * 1_024 * 1_024
/** A body of no more bytes and no more elements is decoded in some milliseconds, which is sooner than a thread would answer. */
const quickBytesMax = 256 * 1_024
const quick = { depthMax: 64, tokensMax: 4_000 }
/** Above this a body has a thread of its own kind, so that those of everyday size do not wait for the giants. */
const everydayBytesMax = 2 * 1_024 * 1_024

/** A body that may be read, and counts among those in memory until it is released. */
export type OpenBody = {
  /** Small ones only: it is parsed at once. */
  readJson(bytesMax: number): Promise<unknown>
  /** The signal ends the reading. What came is given back as well where it has no more bytes than `bytesKeptMax`. */
  decode<Use extends keyof Decodings>(
    kind: BodyKind<Use>,
    signal: AbortSignal,
    bytesKeptMax: number | null,
  ): Promise<Decoded<Use> & { readonly received: Uint8Array | null }>
  release(): void
}

type BodiesParts = {
  readonly formats: Decoders
  readonly clock: Clock
  readonly bounds: HttpBounds
  readonly signatureKey: Uint8Array
  readonly tracker: Pick<RequestTracker, 'size'>
}

/** Reads the bodies of all requests, within the bounds of the door, and decodes large ones in threads. */
export class Bodies {
  readonly #clock: Clock
  readonly #bytesPerSecondMin: number
  readonly #budget: BodyBudget
  readonly #decoders: Decoders
  readonly #everyday: DecodeThread
  readonly #giants: DecodeThread
  readonly #memory: MemoryReturn

  constructor({ clock, bounds, signatureKey, tracker, formats }: BodiesParts) {
    this.#clock = clock
    this.#bytesPerSecondMin = bounds.bodyBytesPerSecondMin
    this.#budget = new BodyBudget(bounds.bodyBytesMax, bodyBytesMax)
    this.#decoders = formats
    this.#everyday = new DecodeThread({ signatureKey }, clock)
    this.#giants = new DecodeThread({ signatureKey }, clock)
    this.#memory = new MemoryReturn({ clock, isIdle: () => tracker.size === 0, collect: openCollector() })
  }

  /** Throws where the key, or all together, have too much in memory already. */
  open(request: IncomingMessage, key: string): OpenBody {
    const hold = this.#budget.open(key)
    return {
      readJson: async (bytesMax) =>
        parseJson(Buffer.concat(await this.#receive(request, { hold, signal: null, bytesMax }))),
      decode: async (kind, signal, bytesKeptMax) => {
        const blocks = await this.#receive(request, { hold, signal, bytesMax: bodyBytesMax })
        // A thread takes the blocks away.
        const received = bytesKeptMax !== null && sizeOf(blocks) <= bytesKeptMax ? Buffer.concat(blocks) : null
        return { ...(await this.#decode(kind, blocks)), received }
      },
      release: () => {
        this.#memory.note(hold.bytes)
        hold.release()
      },
    }
  }

  async close(): Promise<void> {
    this.#memory.close()
    await Promise.all([this.#everyday.close(), this.#giants.close()])
  }

  #receive(
    request: IncomingMessage,
    receiving: { readonly hold: BodyHold; readonly signal: AbortSignal | null; readonly bytesMax: number },
  ): Promise<Buffer[]> {
    return receiveBody(request, { clock: this.#clock, bytesPerSecondMin: this.#bytesPerSecondMin, ...receiving })
  }

  #decode<Use extends keyof Decodings>(
    kind: BodyKind<Use>,
    blocks: readonly Buffer[],
  ): Decoded<Use> | Promise<Decoded<Use>> {
    const size = sizeOf(blocks)
    if (size <= quickBytesMax) {
      const [first] = blocks
      const bytes = blocks.length === 1 && first !== undefined ? first : Buffer.concat(blocks)
      if (scanJson(bytes, quick) === null) {
        return { shaped: decodeBody(this.#decoders, kind, parseJson(bytes)), bytes }
      }
    }
    return (size <= everydayBytesMax ? this.#everyday : this.#giants).decode(kind, blocks)
  }
}

function sizeOf(blocks: readonly Buffer[]): number {
  return blocks.reduce((sum, block) => sum + block.length, 0)
}
