import type { Clock } from '../../lib/clock.ts'
import { DiskRoom, type DiskRoomOptions } from './disk-room.ts'
import { DownloadError, Interruption } from './download-error.ts'
import { describeFailure, openRemote, type Remote, type RemoteAnswer, refuseStatus } from './open-remote.ts'
import { PartFile, type PartIdentity } from './part-file.ts'
import { readFacts, readSize } from './remote-facts.ts'
import { retry, type RetryPolicy } from './retry.ts'

/** `path` is the file's name in the end. Until `commitPart` gives it that, it is called `NAME.part`. */
export type DownloadOptions = DiskRoomOptions & {
  readonly remote: Remote
  /** What the file is known as; unlike its address, this may be written down. */
  readonly source: string
  readonly retryPolicy: RetryPolicy
  readonly clock: Clock
  readonly signal: AbortSignal
  onProgress(receivedBytes: number, totalBytes: number | null): void
  onPause(reason: string, pauseMs: number): void
}

export type Downloaded = {
  readonly bytes: number
  /** What the first server calls this content, where it leads on to another one. */
  readonly linkedTag: string | null
}

/** A server may contradict itself this often: a file may be replaced while it is fetched, but not all the time. */
const contradictionsMax = 3
const spaceCheckBytes = 64 * 1024 * 1024

/**
 * Fetches a file into `NAME.part`, from where an earlier try has come to.
 *
 * Whatever happens, what has arrived is kept and gone on with the next time,
 * as long as the source still has the same content.
 */
export async function downloadPart(options: DownloadOptions): Promise<Downloaded> {
  const part = await PartFile.open(options.path)
  try {
    return await new Download(options, part).run()
  } finally {
    await part.close()
  }
}

class Download {
  readonly #options: DownloadOptions
  readonly #part: PartFile
  readonly #room: DiskRoom
  /** The most there has ever been of the present content. */
  #farthest: number
  #contradictions = 0
  #hasProgressed = false
  #hasContact = false
  #bytesToSpaceCheck = spaceCheckBytes

  constructor(options: DownloadOptions, part: PartFile) {
    this.#options = options
    this.#part = part
    this.#room = new DiskRoom(options)
    this.#farthest = part.bytes
  }

  async run(): Promise<Downloaded> {
    const { retryPolicy, clock, signal, remote, onPause } = this.#options
    await retry(() => this.#attempt(), {
      retryPolicy,
      clock,
      signal,
      host: remote.url.host,
      onPause,
      hasContact: () => this.#hasContact,
      hasProgressed: () => {
        const hasProgressed = this.#hasProgressed
        this.#hasProgressed = false
        return hasProgressed
      },
    })
    await this.#part.sync()
    const { bytes, identity } = this.#part
    return { bytes, linkedTag: identity?.ifRange === null ? identity.tag : null }
  }

  async #attempt(): Promise<void> {
    const { retryPolicy, clock, signal, remote } = this.#options
    const stalled = new AbortController()
    const idle = createIdleTimer(clock, retryPolicy.idleMs, () =>
      stalled.abort(new Interruption(`Nothing has come for ${retryPolicy.idleMs / 1_000} s.`)),
    )
    let answer: RemoteAnswer | null = null
    try {
      answer = await openRemote(remote, {
        method: 'GET',
        headers: this.#rangeHeaders(),
        signal: AbortSignal.any([signal, stalled.signal]),
      })
      this.#hasContact = true
      if (await this.#accept(answer)) await this.#receive(answer, idle)
    } catch (error) {
      throw stalled.signal.aborted ? stalled.signal.reason : describeFailure(error, answer?.url ?? remote.url)
    } finally {
      answer?.discard()
      idle.stop()
    }
  }

  #rangeHeaders(): Record<string, string> {
    const { bytes, identity } = this.#part
    if (bytes === 0 || identity === null) return {}
    const { ifRange } = identity
    return { range: `bytes=${bytes}-`, ...(ifRange !== null && { 'if-range': ifRange }) }
  }

  /** Decides what an answer's content is to the part; false when there is nothing to read because all is there. */
  async #accept(answer: RemoteAnswer): Promise<boolean> {
    const { status, headers } = answer
    if (status === 200 || status === 206) {
      await this.#place(answer)
      return true
    }
    answer.discard()
    if (status !== 416) throw refuseStatus(answer)
    const { bytes, identity } = this.#part
    const [, size] = /^bytes \*\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? []
    if (readSize(size ?? null) === bytes && (identity?.totalBytes ?? bytes) === bytes) return false
    throw await this.#startOver(identity, `The server has no more than ${size ?? bytes} bytes of the file.`)
  }

  /** Sees to it that the part ends where the answer's content begins. */
  async #place(answer: RemoteAnswer): Promise<void> {
    const { startByte, ...facts } = readFacts(answer)
    const { bytes, identity } = this.#part
    const next: PartIdentity = { source: this.#options.source, ...facts }
    const isSame = identity !== null && isSameContent(identity, next)
    if (startByte > 0 && !(isSame && startByte === bytes)) {
      throw await this.#startOver(null, 'The file was replaced at its source while it was fetched.')
    }
    if (bytes > 0 && !isSame) this.#noteContradiction('The file was replaced at its source while it was fetched.')
    if (startByte === 0) await this.#part.restart(next)
    await this.#room.require(this.#missingBytes())
  }

  /** Drops what has arrived, since the server contradicts what it said of the file before. */
  async #startOver(identity: PartIdentity | null, reason: string): Promise<Interruption> {
    await this.#part.restart(identity)
    this.#noteContradiction(reason)
    return new Interruption(reason)
  }

  #noteContradiction(reason: string): void {
    this.#contradictions += 1
    this.#farthest = 0
    if (this.#contradictions <= contradictionsMax) return
    const { host } = this.#options.remote.url
    throw new DownloadError({ kind: 'refused' }, `${host}: ${reason} So it goes again and again.`)
  }

  #missingBytes(): number {
    return Math.max(0, (this.#part.identity?.totalBytes ?? 0) - this.#part.bytes)
  }

  async #receive(answer: RemoteAnswer, idle: IdleTimer): Promise<void> {
    const { identity } = this.#part
    const total = identity?.totalBytes ?? null
    for await (const piece of answer.pieces()) {
      if (total !== null && this.#part.bytes + piece.length > total) {
        throw await this.#startOver(identity, `The server sends more than the ${total} bytes it announced.`)
      }
      await this.#append(piece)
      idle.restart()
      this.#options.onProgress(this.#part.bytes, total)
    }
    if (total !== null && this.#part.bytes < total) {
      throw new Interruption(`The answer ended after ${this.#part.bytes} of ${total} bytes.`)
    }
  }

  async #append(piece: Uint8Array): Promise<void> {
    try {
      await this.#part.append(piece)
    } catch (error) {
      throw await this.#room.describeWriteFailure(error, this.#missingBytes())
    }
    if (this.#part.bytes > this.#farthest) {
      this.#farthest = this.#part.bytes
      this.#hasProgressed = true
    }
    this.#bytesToSpaceCheck -= piece.length
    if (this.#bytesToSpaceCheck > 0) return
    this.#bytesToSpaceCheck = spaceCheckBytes
    await this.#room.require(this.#missingBytes())
  }
}

function isSameContent(a: PartIdentity, b: PartIdentity): boolean {
  return a.source === b.source && a.tag === b.tag && a.totalBytes === b.totalBytes
}

type IdleTimer = { restart(): void; stop(): void }

function createIdleTimer(clock: Clock, idleMs: number, onIdle: () => void): IdleTimer {
  let stop = clock.after(idleMs, onIdle)
  return {
    restart() {
      stop()
      stop = clock.after(idleMs, onIdle)
    },
    stop: () => stop(),
  }
}
