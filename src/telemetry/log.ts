import { pino, type DestinationStream, type Logger } from 'pino'

export type Log = Logger

/** So many bytes of lines that can wait are written together, and after so long they are written in any case. */
const gatheredBytes = 4_096
const gatheredMs = 1_000
/** How a line of the level `info` begins; each names its level first. */
const infoLine = '{"level":"info"'
/** What nobody takes from standard error is dropped from here on: it must not fill the memory. */
const waitingBytesMax = 16 * 1_048_576

/**
 * Structured log lines on standard error, which leaves standard output to what a command prints.
 *
 * Those of the level `info`, of which every request has one, are written many at a time, all others at
 * once, and nobody waits for either. A process that exits or fails writes what is left; one that is
 * killed loses the requests of its last second.
 *
 * Only what a caller names is logged: no request body, no header, no key. Of an
 * error the type, message and stack are written, and those of its causes.
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
    createDestination(),
  )
}

function createDestination(): DestinationStream {
  const stream = pino.destination({
    dest: 2,
    sync: false,
    minLength: gatheredBytes,
    maxLength: waitingBytesMax,
    periodicFlush: gatheredMs,
  })
  return {
    write(line) {
      stream.write(line)
      if (!line.startsWith(infoLine)) stream.flush()
    },
  }
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  const { name, message, stack, cause } = error
  return { name, message, stack, ...(cause !== undefined && { cause: describeError(cause) }) }
}
