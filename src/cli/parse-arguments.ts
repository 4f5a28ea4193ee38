import { parseArgs, type ParseArgsConfig } from 'node:util'
import { messageOf } from '../lib/message-of.ts'
import { UsageError } from './usage-error.ts'

/** How many words a command takes beside its options; with verbs how many each takes after it, or which verbs of its own. */
type Words = number | { readonly [verb: string]: Words }

/** Which words there may be is always said, so that no command does a part of what it was asked and drops the rest. */
type ArgumentsConfig = Omit<ParseArgsConfig, 'allowPositionals'> & { readonly words?: Words }

/** As `parseArgs`, but a fault is a `UsageError`, and so is a word too many. Without `words` there may be none. */
export function parseArguments<const Config extends ArgumentsConfig>({ words = 0, ...config }: Config) {
  const parsed = readArguments({ ...(config as Omit<Config, 'words'>), allowPositionals: true as const })
  refuseSurplus(parsed.positionals, words)
  return parsed
}

function readArguments<Config extends ParseArgsConfig>(config: Config) {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

/** A verb that there is not, with nothing after it, is left to the command, which says what it takes. */
function refuseSurplus(given: readonly string[], words: Words): void {
  if (typeof words === 'number') {
    const surplus = given[words]
    if (surplus === undefined) return
    throw new UsageError(`“${surplus}” is a word too many. A value with spaces in it goes into quotation marks.`)
  }
  const [verb = '', ...rest] = given
  const ownWords = Object.hasOwn(words, verb) ? words[verb] : undefined
  if (ownWords !== undefined) refuseSurplus(rest, ownWords)
  else if (rest.length > 0) throw new UsageError(`There is no “${verb}” here.`)
}
