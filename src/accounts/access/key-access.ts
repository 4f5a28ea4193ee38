import type { ModelId } from '../../core/model.ts'
import { keyPriority } from '../../core/tier.ts'
import type { ApiKeyPrincipal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import { isAgentTokenHash } from '../key-format.ts'
import { fromRuleColumns } from '../key-rules.ts'
import { parseAddressList, type AddressList } from '../../lib/network/address-list.ts'

/** Whose a key is and what it may be used for, as the door needs to know it. */
export type KeyAccess = {
  readonly hash: string
  readonly principal: ApiKeyPrincipal
  readonly expiresAtMs: number | null
  /** Why the key is refused although it is in order itself. */
  readonly closed: 'organization-disabled' | 'project-archived' | null
  /** Null allows everything. */
  readonly models: ReadonlySet<ModelId> | null
  readonly endpoints: ReadonlySet<string> | null
  readonly addresses: AddressList | null
}

/** The access of every key that is neither revoked nor disabled, by its hash. */
export async function readKeyAccess(db: Database, hashes: readonly string[]): Promise<KeyAccess[]> {
  const [tokens, keys] = [hashes.filter(isAgentTokenHash), hashes.filter((hash) => !isAgentTokenHash(hash))]
  const byKey = keys.length === 0 ? [] : await readUsable(db).select('key_hash').where('key_hash', 'in', keys).execute()
  const byToken = tokens.length === 0 ? [] : await readByToken(db, tokens)
  return [...byKey.map((row) => toAccess(row, null)), ...byToken.map((row) => toAccess(row, row.ends_at))]
}

/** A coding agent asks with a token, under a key of its person’s that has no secret. */
function readByToken(db: Database, hashes: readonly string[]) {
  return readUsable(db)
    .innerJoin('agent_tokens', 'agent_tokens.api_key_id', 'api_keys.id')
    .select(['agent_tokens.token_hash as key_hash', 'agent_tokens.ends_at'])
    .where('agent_tokens.kind', '=', 'access')
    .where('agent_tokens.token_hash', 'in', hashes)
    .execute()
}

function readUsable(db: Database) {
  return db
    .selectFrom('api_keys')
    .innerJoin('organizations', 'organizations.id', 'api_keys.organization_id')
    .innerJoin('projects', 'projects.id', 'api_keys.project_id')
    .select([
      'api_keys.id as apiKeyId',
      'api_keys.organization_id as organizationId',
      'api_keys.project_id as projectId',
      'quota_id as quotaId',
      'expires_at',
      'allowed_models',
      'allowed_endpoints',
      'allowed_addresses',
      'organizations.end_users as endUsers',
      'organizations.tag_keys as tag_keys',
      'api_keys.priority as priority',
      'organizations.priority as organizationPriority',
      'organizations.disabled_at as organization_disabled_at',
      'projects.archived_at as archived_at',
      'projects.recorded_until as recorded_until',
      'projects.recording_days as recording_days',
    ])
    .where('revoked_at', 'is', null)
    .where('api_keys.disabled_at', 'is', null)
}

type Row = Awaited<ReturnType<ReturnType<typeof readUsable>['execute']>>[number] & { readonly key_hash: string }

function toAccess(row: Row, tokenEndsAtMs: number | null): KeyAccess {
  const { apiKeyId, organizationId, projectId, quotaId, endUsers, key_hash: hash } = row
  const attribution = { endUsers, tagKeys: JSON.parse(row.tag_keys) as string[] }
  const { expiresAtMs, models, endpoints, addresses, priority: own } = fromRuleColumns(row)
  const priority = keyPriority(row.organizationPriority, own)
  const isDisabled = row.organization_disabled_at !== null
  const { recorded_until: untilMs, recording_days: days } = row
  const recorded = untilMs === null ? {} : { recorded: { untilMs, days } }
  return {
    hash,
    principal: { kind: 'api-key', apiKeyId, organizationId, projectId, quotaId, attribution, priority, ...recorded },
    expiresAtMs: tokenEndsAtMs ?? expiresAtMs,
    closed: isDisabled ? 'organization-disabled' : row.archived_at === null ? null : 'project-archived',
    models: models && new Set(models),
    endpoints: endpoints && new Set(endpoints),
    addresses: addresses && readAddresses(addresses),
  }
}

/** What was checked when it was written allows nothing if it cannot be read now. */
function readAddresses(entries: readonly string[]): AddressList {
  const list = parseAddressList(entries)
  return 'fault' in list ? { includes: () => false } : list
}
