import { pino, type DestinationStream, type Logger } from 'pino'
import { write, writeSync } from 'node:fs'

/** Lines that can wait are written together once they fill this many bytes or the first has waited this long. */
const gatheredBytes = 4_096
const gatheredMs = 1_000
/** Lines beyond this are dropped, so that a reader that takes nothing does not fill the memory. */
const waitingBytesMax = 16 * 1_048_576
/** The pause before a reader that takes nothing is tried again, and how long it is tried at the exit. */
const retryMs = 50
const exitMs = 1_000
/**
 * The exit waits this long for a write that another thread has begun, because nothing tells when that is done. A thread that
 * shares its processor with others may not run for 100 ms.
 */
const begunMs = 300

/**
 * Writes lines to a file descriptor, many at a time and without making anybody wait; what is left when
 * the process exits is written then.
 *
 * A reader that is gone (EPIPE) ends the writing for good, one that is slow (EAGAIN) gets the lines later,
 * and what cannot be written for another reason, such as a full disk, is dropped: no line is worth
 * more than the process that logs it, and none may keep that from ending.
 */
class LineWriter {
  readonly #descriptor: number
  #waiting: Buffer[] = []
  #waitingBytes = 0
  /** Whether one of the waiting lines must be written at once. */
  #isUrgent = false
  #isWriting = false
  #isReaderGone = false
  #timer: NodeJS.Timeout | undefined

  constructor(descriptor: number) {
    this.#descriptor = descriptor
    // oxlint-disable-next-line no-restricted-properties -- What is left is known only here, and an exit is no signal.
    process.on('exit', () => this.#writeRest())
  }

  /** A line that can wait is written with those that come after it, within a second. */
  write(line: string, canWait: boolean): void {
    const bytes = Buffer.from(line)
    if (this.#isReaderGone || this.#waitingBytes + bytes.length > waitingBytesMax) return
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    this.#isUrgent ||= !canWait || this.#waitingBytes >= gatheredBytes
    if (!this.#isWriting) this.#writeSoon()
  }

  #writeSoon(): void {
    if (this.#isUrgent) this.#writeWaiting()
    else if (this.#waiting.length > 0) this.#writeIn(gatheredMs)
  }

  #writeIn(ms: number): void {
    this.#timer ??= setTimeout(() => this.#writeWaiting(), ms).unref()
  }

  #writeWaiting(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isWriting = true
    this.#writeBytes(this.#takeWaiting())
  }

  #takeWaiting(): Buffer {
    const bytes = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#waitingBytes = 0
    this.#isUrgent = false
    return bytes
  }

  #writeBytes(bytes: Buffer): void {
    write(this.#descriptor, bytes, (error, written) => {
      if (error === null && written < bytes.length) return this.#writeBytes(bytes.subarray(written))
      this.#isWriting = false
      if (error?.code === 'EPIPE') this.#giveUp()
      else if (error?.code === 'EAGAIN') this.#putBack(bytes)
      else this.#writeSoon()
    })
  }

  #putBack(bytes: Buffer): void {
    this.#waiting.unshift(bytes)
    this.#waitingBytes += bytes.length
    this.#writeIn(retryMs)
  }

  #giveUp(): void {
    this.#isReaderGone = true
    this.#takeWaiting()
  }

  #writeRest(): void {
    let rest = this.#takeWaiting()
    // The lines keep their order.
    if (this.#isWriting && rest.length > 0) sleep(begunMs)
    const deadline = performance.now() + exitMs
    while (rest.length > 0 && performance.now() < deadline) {
      try {
        rest = rest.subarray(writeSync(this.#descriptor, rest))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
        sleep(retryMs)
      }
    }
  }
}

export type Log = Logger

/** How a line of the level `info` begins; each names its level first. */
const infoLine = '{"level":"info"'

const writer = new LineWriter(2)
const standardError: DestinationStream = {
  write: (line) => writer.write(line, line.startsWith(infoLine)),
}

/**
 * Structured log lines on standard error, which leaves standard output to what a command prints.
 *
 * Lines of the level `info`, one for every request, are written many at a time and all others at
 * once; nobody waits for either. A process that exits or fails writes what is left; one that is
 * killed loses the requests of its last second.
 *
 * Only what a caller names is logged: no request body, no header, no key. An error is written with its
 * type, message and stack, and with those of its causes.
 */
export function createLog(level: string): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: describeError },
    },
    standardError,
  )
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  const { name, message, stack, cause } = error
  return { name, message, stack, ...(cause !== undefined && { cause: describeError(cause) }) }
}

/** Holds up the whole thread, which has nothing else to do at its exit. */
function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
