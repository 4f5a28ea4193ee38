import { keepCompiled } from '../lib/keep-compiled.ts'
import { parseArguments } from './parse-arguments.ts'

type Command = (args: string[]) => Promise<void>

/** A command loads what it needs and nothing else: most of a short command's time goes into loading. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
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
