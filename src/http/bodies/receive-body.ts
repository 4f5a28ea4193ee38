import type { IncomingMessage } from 'node:http'
import { createGunzip, type Gunzip } from 'node:zlib'
import { ApiError, toApiError } from '../../core/error.ts'
import type { Clock } from '../../lib/clock.ts'
import { failureOf, wantBody, whenBroken } from '../connections/connection-events.ts'
import type { BodyHold } from './body-budget.ts'
import { invalidJson, tooLarge, tooSlow, unsupportedEncoding } from './body-faults.ts'

export type Receiving = {
  readonly clock: Clock
  readonly bytesMax: number
  readonly bytesPerSecondMin: number
  readonly hold: BodyHold
  /** Fires when the body is not wanted any more: the key was revoked, or the service stops. */
  readonly signal: AbortSignal | null
}

/** The rate is looked at over this time; within it a sender may pause. */
const rateWindowMs = 15_000
/** Text that people and programs write packs to a third or a tenth, logs and tables to a fiftieth. */
const packedRatioMax = 100
/** Up to here any ratio will do: short texts may well be the same word a thousand times. */
const anyRatioBytesMax = 1_024 * 1_024
/** What an unpacker takes by itself. */
const unpackerBytes = 96 * 1_024
/** Each piece of a chunked body costs as much as a kilobyte does; only who wants to make work sends many of a few bytes. */
const pieceBytesMin = 16
const smallPiecesMax = 4_096

/** Receives a request's body, unpacked, in blocks that are nobody else's. */
export function receiveBody(request: IncomingMessage, receiving: Receiving): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    try {
      new Reception(request, receiving, { resolve, reject }).start()
    } catch (error) {
      reject(toApiError(error))
    }
  })
}

type Outcome = { resolve(blocks: Buffer[]): void; reject(error: ApiError): void }

class Reception {
  readonly #request: IncomingMessage
  readonly #receiving: Receiving
  readonly #outcome: Outcome
  readonly #gunzip: Gunzip | null
  readonly #collector: ByteCollector
  readonly #expected: number | null
  #wireBytes = 0
  #wireBytesBefore = 0
  #pieces = 0
  #cancelRate = () => {}
  #stopListening = () => {}
  #isOver = false

  constructor(request: IncomingMessage, receiving: Receiving, outcome: Outcome) {
    this.#request = request
    this.#receiving = receiving
    this.#outcome = outcome
    const length = request.headers['content-length']
    this.#expected = length === undefined ? null : Number(length)
    if ((this.#expected ?? 0) > receiving.bytesMax) throw tooLarge(receiving.bytesMax, false)
    const isPacked = readEncoding(request) === 'gzip'
    receiving.hold.take((this.#expected ?? 0) + (isPacked ? unpackerBytes : 0))
    this.#gunzip = isPacked ? createGunzip({ chunkSize: 64 * 1_024 }) : null
    this.#collector = new ByteCollector(isPacked ? null : this.#expected)
  }

  start(): void {
    const { signal } = this.#receiving
    if (signal?.aborted === true) throw endOf(signal)
    const failure = failureOf(this.#request)
    if (failure !== null) throw failure
    signal?.addEventListener('abort', this.#onAbort, { once: true })
    this.#request
      .on('data', this.#onData)
      .once('end', this.#onEnd)
      .once('error', this.#onError)
      .once('close', this.#onClose)
    this.#stopListening = whenBroken(this.#request, this.#onBroken)
    this.#gunzip
      ?.on('data', this.#onUnpacked)
      .on('drain', this.#goOn)
      .once('end', this.#onEnd)
      .on('error', this.#onError)
    this.#watchRate()
    wantBody(this.#request)
  }

  #fail(error: ApiError): void {
    if (!this.#leave()) return
    // What still comes is thrown away until the answer is out.
    this.#request.resume()
    this.#outcome.reject(error)
  }

  readonly #onBroken = (): void => this.#fail(failureOf(this.#request) ?? endOf(null))

  readonly #onData = (piece: Buffer): void => {
    const { bytesMax, hold } = this.#receiving
    this.#wireBytes += piece.length
    this.#pieces += 1
    if (this.#wireBytes > bytesMax) return this.#fail(tooLarge(bytesMax, false))
    if (this.#pieces > smallPiecesMax + this.#wireBytes / pieceBytesMin) return this.#fail(piecesTooSmall())
    if (this.#gunzip === null) return this.#keep(piece, this.#expected === null)
    if (this.#expected === null && !this.#hold(hold, piece.length)) return
    if (!this.#gunzip.writableEnded && !this.#gunzip.write(piece)) this.#request.pause()
  }

  readonly #onUnpacked = (piece: Buffer): void => {
    const unpacked = this.#collector.size + piece.length
    const isBomb = unpacked > anyRatioBytesMax && unpacked > this.#wireBytes * packedRatioMax
    if (isBomb) this.#fail(ratioTooHigh(this.#receiving.bytesMax))
    else this.#keep(piece, true)
  }

  readonly #goOn = (): void => {
    this.#request.resume()
  }

  readonly #onEnd = (): void => {
    const gunzip = this.#gunzip
    if (gunzip === null || (gunzip.readableEnded && this.#request.readableEnded)) this.#finish()
    else if (this.#request.readableEnded) gunzip.end()
  }

  readonly #onError = (): void => this.#fail(invalidJson('The body could not be read.'))

  readonly #onClose = (): void => {
    if (!this.#request.readableEnded) this.#fail(invalidJson('The body ended early.'))
  }

  readonly #onAbort = (): void => this.#fail(endOf(this.#receiving.signal))

  #keep(piece: Buffer, isToBeHeld: boolean): void {
    const { bytesMax, hold } = this.#receiving
    if (this.#collector.size + piece.length > bytesMax) return this.#fail(tooLarge(bytesMax, this.#gunzip !== null))
    if (!isToBeHeld || this.#hold(hold, piece.length)) this.#collector.add(piece)
  }

  #hold(hold: BodyHold, bytes: number): boolean {
    try {
      hold.take(bytes)
      return true
    } catch (error) {
      this.#fail(toApiError(error))
      return false
    }
  }

  #finish(): void {
    if (this.#leave()) this.#outcome.resolve(this.#collector.take())
  }

  /** False where it is over already. */
  #leave(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#cancelRate()
    this.#receiving.signal?.removeEventListener('abort', this.#onAbort)
    this.#request.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose)
    this.#stopListening()
    this.#gunzip?.off('data', this.#onUnpacked).off('drain', this.#goOn).destroy()
    return true
  }

  #watchRate(): void {
    const { clock, bytesPerSecondMin } = this.#receiving
    this.#cancelRate = clock.after(rateWindowMs, () => {
      const arrived = this.#wireBytes - this.#wireBytesBefore
      // While it is paused, it is the unpacking that takes its time.
      if (!this.#request.isPaused() && arrived < (bytesPerSecondMin * rateWindowMs) / 1_000)
        return this.#fail(tooSlow())
      this.#wireBytesBefore = this.#wireBytes
      this.#watchRate()
    })
  }
}

function readEncoding({ headers }: IncomingMessage): 'gzip' | 'identity' {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'gzip') return encoding
  if (encoding === 'identity' || encoding === '') return 'identity'
  throw unsupportedEncoding()
}

function endOf(signal: AbortSignal | null): ApiError {
  return signal?.reason instanceof ApiError ? signal.reason : invalidJson('The body ended early.')
}

function piecesTooSmall(): ApiError {
  return invalidJson('The body comes in too many small pieces.')
}

function ratioTooHigh(bytesMax: number): ApiError {
  const reason = { code: 'request-too-large', bytesMax, isUnpacked: true } as const
  return new ApiError(reason, `The body unpacks to more than ${packedRatioMax} times its size.`)
}

/** Blocks are made larger as a body grows, so that a large one has few and a small one wastes little. */
const blockBytesMin = 16 * 1_024
const blockBytesMax = 1_024 * 1_024

/**
 * Puts together what arrives in pieces of any size.
 *
 * Pieces are copied: one byte that is kept as it came keeps the whole buffer in which it arrived.
 */
export class ByteCollector {
  readonly #blocks: Buffer[] = []
  #block: Buffer
  #used = 0
  #size = 0

  /** `expected` is how many bytes will come, where it is known; then there is one block. */
  constructor(expected: number | null) {
    this.#block = Buffer.allocUnsafeSlow(expected ?? blockBytesMin)
  }

  get size(): number {
    return this.#size
  }

  add(piece: Buffer): void {
    this.#size += piece.length
    for (let from = 0; from < piece.length;) {
      if (this.#used === this.#block.length) this.#startBlock()
      const copied = piece.copy(this.#block, this.#used, from)
      from += copied
      this.#used += copied
    }
  }

  /** Everything, in blocks that are nobody else's. */
  take(): Buffer[] {
    return [...this.#blocks, this.#block.subarray(0, this.#used)]
  }

  #startBlock(): void {
    this.#blocks.push(this.#block)
    const bytes = Math.min(blockBytesMax, Math.max(blockBytesMin, this.#block.length * 2))
    this.#block = Buffer.allocUnsafeSlow(bytes)
    this.#used = 0
  }
}
