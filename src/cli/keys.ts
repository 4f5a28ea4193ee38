import { createApiKey, listApiKeys, revokeApiKey } from '../accounts/api-keys.ts'
import { loadConfig } from '../config/load.ts'
import { openAccounts, type Accounts } from './open-accounts.ts'
import { parseArguments } from './parse-arguments.ts'
import { UsageError } from './usage-error.ts'

const options = { name: { type: 'string' }, json: { type: 'boolean', default: false } } as const
const operator = { kind: 'operator' } as const

/** `odyssey keys`: works on the data folder directly, so it needs no running service and may run beside one. */
export async function keysCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, allowPositionals: true })
  const [action, id] = positionals
  const accounts = await openAccounts(loadConfig())
  try {
    if (action === 'create') await create(accounts, values)
    else if (action === 'list') await list(accounts, values.json)
    else if (action === 'revoke' && id !== undefined) await revoke(accounts, id)
    else throw new UsageError('keys takes create, list or revoke ID.')
  } finally {
    await accounts.db.destroy()
  }
}

async function create(
  { apiKeys, home }: Accounts,
  { name, json }: { name?: string | undefined; json: boolean },
): Promise<void> {
  if (name === undefined || name.trim() === '') throw new UsageError('keys create needs --name NAME.')
  const created = await createApiKey(apiKeys, operator, { name, ...home })
  console.log(json ? JSON.stringify(created) : `${created.key}\n\nThis key (${created.id}) is shown only now.`)
}

async function list({ apiKeys, home }: Accounts, asJson: boolean): Promise<void> {
  const keys = await listApiKeys(apiKeys, home.organizationId)
  if (asJson) {
    console.log(JSON.stringify(keys))
    return
  }
  for (const { id, name, lastFour, createdAtMs, revokedAtMs } of keys) {
    const state = revokedAtMs === null ? 'active' : 'revoked'
    console.log(`${id}  …${lastFour}  ${new Date(createdAtMs).toISOString().slice(0, 10)}  ${state}  ${name}`)
  }
}

async function revoke({ apiKeys, home }: Accounts, id: string): Promise<void> {
  const hasRevoked = await revokeApiKey(apiKeys, operator, { id, organizationId: home.organizationId })
  if (!hasRevoked) throw new Error(`There is no active key ${id}.`)
  console.log(`${id} is revoked.`)
}
