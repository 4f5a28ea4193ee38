import { ConfigError } from '../config/load.ts'
import { keysCommand } from './keys.ts'
import { modelsCommand } from './models.ts'
import { serveCommand } from './serve.ts'
import { UsageError } from './usage-error.ts'

const usage = `Usage: odyssey <command>

  serve                                Start the service
  keys create --name NAME [--json]     Make an API key
  keys list [--json]                   List the keys
  keys revoke ID                       Revoke a key
  models [--json]                      Show the models and what is loaded

Settings come from the environment (HOST, PORT, ODYSSEY_HOME, ODYSSEY_CONFIG,
ODYSSEY_LOG_LEVEL) and from odyssey.json in the data folder.`

type Command = (args: string[]) => Promise<void>

const commands: Readonly<Record<string, Command>> = { serve: serveCommand, keys: keysCommand, models: modelsCommand }

async function run([name, ...args]: string[]): Promise<void> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    console.log(usage)
    return
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) throw new UsageError(`There is no command ${name}.`)
  await command(args)
}

try {
  await run(process.argv.slice(2))
} catch (error) {
  process.exitCode = 1
  if (error instanceof UsageError) {
    console.error(`${error.message}\n\n${usage}`)
    process.exitCode = 2
  } else if (error instanceof ConfigError) console.error(`The configuration cannot be used.\n${error.message}`)
  else console.error(error instanceof Error ? error.message : error)
}
