import type { Kysely } from 'kysely'
import { notFound, requirePermission } from '../core/permission.ts'
import type { ApiKeyId, OrganizationId, ProjectId } from '../core/ids.ts'
import type { Principal } from '../core/principal.ts'
import { actorOf } from '../db/change.ts'
import type { ApiKeyTable, ImportTable } from '../db/tables/accounts.ts'
import type { Tables } from '../db/tables.ts'
import { randomId } from '../lib/random-id.ts'
import { changeAccess } from './change-access.ts'
import { checkName } from './check-name.ts'
import { hashForeignKey } from './key-format.ts'
import { checkRules, noRules, toRuleColumns, type KeyRules } from './key-rules.ts'
import { requireKeyEnd } from './organization-settings.ts'
import type { AccountsParts } from './parts.ts'

export type ImportedKey = {
  readonly organizationId: OrganizationId
  readonly projectId: ProjectId
  readonly name: string
  /** What the other gateway kept of it, in hexadecimal. */
  readonly sha256: string
  /** Empty where they are not known. */
  readonly lastFour: string
  readonly isDisabled: boolean
  readonly rules: Partial<KeyRules>
}

/** What was made of a key of another gateway, and whether it was there already. */
export type KeyImport = { readonly id: ApiKeyId; readonly isNew: boolean }

/**
 * Lets a key of another gateway work here as it worked there.
 *
 * One that was moved before stays as it is, also where it was changed or revoked here since.
 */
export async function importApiKey(
  parts: AccountsParts,
  principal: Principal,
  { organizationId, projectId, name, sha256, lastFour, isDisabled, rules }: ImportedKey,
): Promise<KeyImport> {
  requirePermission(principal, 'api-keys:create', { organizationId, projectId, ownerId: null })
  const hash = hashForeignKey(parts.hashSecret, sha256)
  const known = await parts.db.selectFrom('api_keys').select('id').where('key_hash', '=', hash).executeTakeFirst()
  if (known !== undefined) return { id: known.id, isNew: false }
  const id: ApiKeyId = `key_${randomId()}`
  const nowMs = parts.clock.nowMs()
  const allRules = { ...noRules, ...rules }
  checkRules(allRules, nowMs)
  const row: ApiKeyTable = {
    id,
    organization_id: organizationId,
    project_id: projectId,
    name: checkName(name),
    key_hash: hash,
    last_four: lastFour,
    created_at: nowMs,
    revoked_at: null,
    owner_id: null,
    disabled_at: isDisabled ? nowMs : null,
    ...toRuleColumns(allRules),
    rotated_from: null,
    quota_id: id,
    last_used_at: null,
    created_by: actorOf(principal),
    suspended_by: null,
    kind: null,
    service_account_id: null,
  }
  const source = { source: 'litellm', kind: 'key', source_id: hash, target_id: id, at: nowMs } satisfies ImportTable
  const action = { action: 'api-keys:import', organizationId, target: id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const project = await transaction
      .selectFrom('projects')
      .select('id')
      .where('id', '=', projectId)
      .where('organization_id', '=', organizationId)
      .executeTakeFirst()
    if (project === undefined) throw notFound()
    await requireKeyEnd(transaction, organizationId, { expiresAtMs: allRules.expiresAtMs, nowMs })
    await transaction.insertInto('api_keys').values(row).execute()
    await transaction.insertInto('imports').values(source).execute()
    const { key_hash: _, id: __, organization_id: ___, created_at: ____, last_used_at: _____, ...shown } = row
    note(null, { ...shown, imported_from: source.source })
  })
  return { id, isNew: true }
}

/** Whether any key of another gateway was ever moved here. */
export async function hasImportedKeys(db: Pick<Kysely<Tables>, 'selectFrom'>): Promise<boolean> {
  const row = await db.selectFrom('imports').select('target_id').where('kind', '=', 'key').limit(1).executeTakeFirst()
  return row !== undefined
}
