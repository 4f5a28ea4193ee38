import { pino, type Logger } from 'pino'

export type Log = Logger

/**
 * Structured log lines on standard error, which leaves standard output to what a command prints.
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
    pino.destination({ dest: 2, sync: true }),
  )
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  const { name, message, stack, cause } = error
  return { name, message, stack, ...(cause !== undefined && { cause: describeError(cause) }) }
}
