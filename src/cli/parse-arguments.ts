import { parseArgs } from 'node:util'
import { messageOf } from '../lib/message-of.ts'
import { UsageError } from './usage-error.ts'

/** As `parseArgs`, but a fault is a `UsageError`. */
export const parseArguments: typeof parseArgs = (config) => {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}
