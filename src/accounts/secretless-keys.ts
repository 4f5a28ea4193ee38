import { randomBytes } from 'node:crypto'
import type { ApiKeyId, MemberId, OrganizationId, ProjectId } from '../core/ids.ts'
import { requirePermission } from '../core/permission.ts'
import type { MemberPrincipal } from '../core/principal.ts'
import type { ApiKeyTable, SecretlessKind } from '../db/tables/accounts.ts'
import { randomId } from '../lib/random-id.ts'
import { lockOrganization } from './access/lock-organization.ts'
import { changeAccess } from './change-access.ts'
import { noRules, toRuleColumns } from './key-rules.ts'
import type { AccountsParts } from './parts.ts'
import { requireKeysOfAnyone } from './projects.ts'

type Wanted = { readonly organizationId: OrganizationId; readonly projectId: ProjectId; readonly kind: SecretlessKind }

const names = { playground: 'Playground', agent: 'Coding agents' } as const satisfies Record<SecretlessKind, string>

/** By its hash, which is the hash of nothing, the door finds it. */
export type OpenedKey = { readonly id: ApiKeyId; readonly hash: string }

/**
 * Finds the key under which a member's own questions to the models count, or those of their coding agents, and makes it
 * with the first one.
 *
 * Limits, budgets, usage and the ledger see it like any other. It has no secret: what stands in the place of its hash
 * is the hash of nothing, so nobody can show it, and only this service lets its owner in under it.
 */
export async function openSecretlessKey(
  parts: AccountsParts,
  principal: MemberPrincipal,
  { organizationId, projectId, kind }: Wanted,
): Promise<OpenedKey> {
  const { memberId } = principal
  requirePermission(principal, 'models:use', { organizationId, projectId, ownerId: memberId })
  const wanted = { organizationId, projectId, kind, memberId }
  const known = await find(parts, wanted)
  if (known !== undefined) return { id: known.id, hash: known.key_hash }
  const id: ApiKeyId = `key_${randomId()}`
  const row: ApiKeyTable = {
    id,
    organization_id: organizationId,
    project_id: projectId,
    name: names[kind],
    key_hash: `${kind} ${randomBytes(32).toString('hex')}`,
    last_four: '',
    created_at: parts.clock.nowMs(),
    revoked_at: null,
    owner_id: memberId,
    disabled_at: null,
    ...toRuleColumns(noRules),
    rotated_from: null,
    quota_id: id,
    last_used_at: null,
    created_by: memberId,
    suspended_by: null,
    kind,
    service_account_id: null,
  }
  const action = { action: 'api-keys:create', organizationId, target: id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    await lockOrganization(transaction, organizationId)
    await requireKeysOfAnyone(transaction, { organizationId, projectId })
    const { name } = await transaction
      .selectFrom('members')
      .select('name')
      .where('id', '=', memberId)
      .where('organization_id', '=', organizationId)
      .executeTakeFirstOrThrow()
    row.name = `${names[kind]} · ${name}`
    await transaction
      .insertInto('api_keys')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    note(null, { name: row.name, kind: row.kind, project_id: projectId, owner_id: memberId })
  })
  const { id: found, key_hash: hash } = (await find(parts, wanted)) ?? row
  return { id: found, hash }
}

function find({ db }: AccountsParts, { organizationId, projectId, kind, memberId }: Wanted & { memberId: MemberId }) {
  return db
    .selectFrom('api_keys')
    .select(['id', 'key_hash'])
    .where('organization_id', '=', organizationId)
    .where('owner_id', '=', memberId)
    .where('project_id', '=', projectId)
    .where('kind', '=', kind)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
}
