import { ConfigError } from '../config/config-error.ts'
import { codeOf, messageOf } from '../lib/message-of.ts'
import { commands } from './commands.ts'
import { UsageError } from './usage-error.ts'
import { usage, usageOf } from './usage.ts'

/** A script that asks what a command takes which there is not must learn that there is none. */
function asksForHelp([name, ...args]: string[]): boolean {
  if (name === undefined || name === 'help') return true
  const isKnown = name.startsWith('-') || Object.hasOwn(commands, name)
  return isKnown && [name, ...args].some((word) => word === '--help' || word === '-h')
}

async function run(words: string[]): Promise<void> {
  const [name = '', ...args] = words
  if (asksForHelp(words)) {
    console.log(usageOf(name) ?? usage)
    return
  }
  if (name === '--version') {
    const { readVersion } = await import('../service/read-version.ts')
    console.log(`odyssey ${readVersion()}`)
    return
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (load === undefined) throw new UsageError(`There is no command ${name}.`)
  const command = await load()
  await command(args)
}

/** What shells report of a command that ended because its reader had: 128 and the number of SIGPIPE. */
const endedWithReader = 141

/**
 * Ends a command quietly when whoever reads what it writes is gone, as `head` is after its last line.
 *
 * The service goes on: what it says at its start is for whoever started it, and nobody has to stay for that.
 */
function endWithReader(command: string | undefined): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error) => {
      if (codeOf(error) !== 'EPIPE') throw error
      if (command !== 'serve') process.exit(endedWithReader)
    })
}

// What the product writes is for its own user alone, also where the data folder lets others in. SQLite makes its files by it.
process.umask(0o077)
endWithReader(process.argv[2])

try {
  await run(process.argv.slice(2))
} catch (error) {
  process.exitCode = 1
  if (error instanceof UsageError) {
    console.error(`${error.message}\n\n${usageOf(process.argv[2] ?? '') ?? 'odyssey --help lists all commands.'}`)
    process.exitCode = 2
  } else if (error instanceof ConfigError) console.error(`The configuration cannot be used.\n${error.message}`)
  else console.error(messageOf(error))
  // A service that could not start has threads, timers and engines already, which would keep the process for ever.
  process.stderr.write('', () => process.exit())
}
