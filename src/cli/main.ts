import { ConfigError } from '../config/config-error.ts'
import { keepCompiled } from '../lib/keep-compiled.ts'
import { messageOf } from '../lib/message-of.ts'
import { parseArguments } from './parse-arguments.ts'
import { UsageError } from './usage-error.ts'
import { usage, usageOf } from './usage.ts'

type Command = (args: string[]) => Promise<void>

/** A command loads what it needs and nothing else: most of a short command's time goes into loading. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => {
    const { endOnSignals } = await import('../service/stop-on-signals.ts')
    // Before the service is loaded, which takes seconds on a busy machine.
    endOnSignals()
    const { serve } = await import('../service/serve.ts')
    return async (args) => {
      // Its settings come from the environment and the configuration file alone.
      parseArguments({ args })
      await serve()
      keepCompiled()
    }
  },
  keys: async () => (await import('./accounts/keys-command.ts')).keysCommand,
  'management-keys': async () => (await import('./accounts/management-keys-command.ts')).managementKeysCommand,
  roles: async () => (await import('./accounts/roles-command.ts')).rolesCommand,
  'service-accounts': async () => (await import('./accounts/service-accounts-command.ts')).serviceAccountsCommand,
  organizations: async () => (await import('./accounts/organizations-command.ts')).organizationsCommand,
  projects: async () => (await import('./accounts/projects-command.ts')).projectsCommand,
  members: async () => (await import('./accounts/people-commands.ts')).membersCommand,
  owners: async () => (await import('./accounts/people-commands.ts')).ownersCommand,
  sessions: async () => (await import('./accounts/people-commands.ts')).sessionsCommand,
  sso: async () => (await import('./accounts/single-sign-on-commands.ts')).ssoCommand,
  directory: async () => (await import('./accounts/directory-command.ts')).directoryCommand,
  domains: async () => (await import('./accounts/single-sign-on-commands.ts')).domainsCommand,
  limits: async () => (await import('./limits/limits-commands.ts')).limitsCommand,
  tiers: async () => (await import('./limits/limits-commands.ts')).tiersCommand,
  budgets: async () => (await import('./limits/budgets-command.ts')).budgetsCommand,
  alerts: async () => (await import('./alerts-command.ts')).alertsCommand,
  'audit-sinks': async () => (await import('./audit-sinks-command.ts')).auditSinksCommand,
  audit: async () => (await import('./accounts/audit-command.ts')).auditCommand,
  connect: async () => (await import('./connect/connect-command.ts')).connectCommand,
  models: async () => (await import('./models/models-command.ts')).modelsCommand,
  pools: async () => (await import('./pools-command.ts')).poolsCommand,
  queue: async () => (await import('./queue-command.ts')).queueCommand,
  cache: async () => (await import('./cache-command.ts')).cacheCommand,
  doctor: async () => (await import('./doctor-command.ts')).doctorCommand,
  health: async () => (await import('./health-command.ts')).healthCommand,
  migrate: async () => (await import('./storage/storage-commands.ts')).migrateCommand,
  backup: async () => (await import('./storage/storage-commands.ts')).backupCommand,
  restore: async () => (await import('./storage/storage-commands.ts')).restoreCommand,
  import: async () => async (args) => {
    if (args[0] === 'litellm') await (await import('./move-in/litellm-command.ts')).litellmCommand(args.slice(1))
    else await (await import('./storage/storage-commands.ts')).importCommand(args)
  },
  prices: async () => (await import('./billing/prices-command.ts')).pricesCommand,
  usage: async () => (await import('./billing/usage-commands.ts')).usageCommand,
  refusals: async () => (await import('./billing/usage-commands.ts')).refusalsCommand,
  ledger: async () => (await import('./billing/ledger-command.ts')).ledgerCommand,
  bill: async () => (await import('./billing/bill-command.ts')).billCommand,
  sla: async () => (await import('./billing/sla-command.ts')).slaCommand,
}

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

// What the product writes is for its own user alone, also where the data folder lets others in. SQLite makes its files by it.
process.umask(0o077)

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
