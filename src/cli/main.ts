import { ConfigError } from '../config/load.ts'
import { cacheCommand } from './cache-command.ts'
import { connectCommand } from './connect/connect-command.ts'
import { keysCommand } from './keys.ts'
import { modelsCommand } from './models/models-command.ts'
import { queueCommand } from './queue-command.ts'
import { serveCommand } from './serve.ts'
import { UsageError } from './usage-error.ts'

const usage = `Usage: odyssey <command>

  serve                                Start the service
  keys create --name NAME [--json]     Make an API key
  keys list [--json]                   List the keys
  keys revoke ID                       Revoke a key
  models [--json]                      Show the models and what is loaded
  models pull MODEL SOURCE             Fetch weights for a model from a hub (owner/repo/file.gguf)
                                       or an address: --sha256 HASH, --hub ADDRESS, --no-use
  models use MODEL FILE                Give a model a GGUF file, also while the service runs
  models use MODEL --built-in          Go back to the weights that come with Odyssey
  connect                              List the clients that can be connected, with all options
  connect CLIENT [--write]             Print or write a client's settings, and try them with one call
  queue [--json]                       Show who waits for which model, in order
  cache explain REQUEST [--json]       Say how much of a request's prompt was reused, and why no more

Settings come from the environment (HOST, PORT, ODYSSEY_HOME, ODYSSEY_CONFIG,
ODYSSEY_LOG_LEVEL, ODYSSEY_HUB, HF_TOKEN) and from odyssey.json in the data folder.`

type Command = (args: string[]) => Promise<void>

const commands: Readonly<Record<string, Command>> = {
  serve: serveCommand,
  keys: keysCommand,
  connect: connectCommand,
  models: modelsCommand,
  queue: queueCommand,
  cache: cacheCommand,
}

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
