import { pino, type DestinationStream, type Logger } from 'pino'

import { LineWriter } from './line-writer.ts'

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
    standardError,
  )
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  const { name, message, stack, cause } = error
  return { name, message, stack, ...(cause !== undefined && { cause: describeError(cause) }) }
}
