import type { Transaction } from 'kysely'
import { conflict, invalidRequest } from '../core/error.ts'
import type { ApiKeyId, MemberId, OrganizationId, ProjectId, ServiceAccountId } from '../core/ids.ts'
import { notFound, requirePermission, type Permission } from '../core/permission.ts'
import type { Principal } from '../core/principal.ts'
import { actorOf } from '../db/change.ts'
import type { ApiKeyTable } from '../db/tables/accounts.ts'
import type { Tables } from '../db/tables.ts'
import { randomId } from '../lib/random-id.ts'
import { lockOrganization } from './access/lock-organization.ts'
import { changeAccess } from './change-access.ts'
import { checkName } from './check-name.ts'
import { createKey, hashKey } from './key-format.ts'
import { checkRules, fromRuleColumns, noRules, toRuleColumns, type KeyRules } from './key-rules.ts'
import { latestKeyEnd, requireKeyEnd } from './organization-settings.ts'
import type { AccountsParts } from './parts.ts'
import { requireKeysOfAnyone } from './projects.ts'
import { requireActiveMember } from './read-member.ts'
import { requireActiveAccount } from './service-accounts.ts'

export type NewApiKey = {
  readonly name: string
  readonly organizationId: OrganizationId
  readonly projectId: ProjectId
  /** The member whose key it is; a member that makes one owns it if nothing else is said. */
  readonly ownerId?: MemberId
  /** The program whose key it is. */
  readonly serviceAccountId?: ServiceAccountId
  readonly rules?: Partial<KeyRules>
}

export type CreatedApiKey = { readonly id: ApiKeyId; readonly key: string }

/** Which key is meant; with another organization's name it is not found. */
export type ApiKeyReference = { readonly id: string; readonly organizationId: OrganizationId }

/** Makes a key. The answer is the only place where it can ever be read. */
export async function createApiKey(
  parts: AccountsParts,
  principal: Principal,
  { name, organizationId, projectId, ownerId, serviceAccountId, rules = {} }: NewApiKey,
): Promise<CreatedApiKey> {
  const isProgram = serviceAccountId !== undefined
  if (isProgram && ownerId !== undefined) {
    throw invalidRequest(['serviceAccountId'], 'value', 'A key is a member’s or a service account’s.')
  }
  const owner = ownerId ?? (principal.kind === 'member' && !isProgram ? principal.memberId : null)
  requirePermission(principal, 'api-keys:create', { organizationId, projectId, ownerId: owner })
  const id: ApiKeyId = `key_${randomId()}`
  const key = createKey()
  const now = parts.clock.nowMs()
  const allRules = { ...noRules, ...rules }
  checkRules(allRules, now)
  const row: ApiKeyTable = {
    id,
    organization_id: organizationId,
    project_id: projectId,
    name: checkName(name),
    key_hash: hashKey(parts.hashSecret, key),
    last_four: key.slice(-4),
    created_at: now,
    revoked_at: null,
    owner_id: owner,
    disabled_at: null,
    ...toRuleColumns(allRules),
    rotated_from: null,
    quota_id: id,
    last_used_at: null,
    created_by: actorOf(principal),
    suspended_by: null,
    kind: null,
    service_account_id: serviceAccountId ?? null,
  }
  await changeAccess(
    parts,
    principal,
    { action: 'api-keys:create', organizationId, target: id },
    async (transaction, note) => {
      await lockOrganization(transaction, organizationId)
      if (serviceAccountId === undefined) await requireKeysOfAnyone(transaction, { organizationId, projectId })
      else await requireActiveAccount(transaction, { organizationId, projectId, serviceAccountId })
      // Whoever says nothing of an end means the latest one that there may be.
      const end =
        rules.expiresAtMs === undefined ? await latestKeyEnd(transaction, organizationId, now) : row.expires_at
      await requireKeyEnd(transaction, organizationId, { expiresAtMs: end, nowMs: now })
      const made = { ...row, expires_at: end }
      if (owner !== null) await requireActiveMember(transaction, { organizationId, memberId: owner })
      await transaction.insertInto('api_keys').values(made).execute()
      note(null, describe(made))
    },
  )
  return { id, key }
}

export type ApiKeyChanges = Partial<KeyRules> & { readonly name?: string }

/** Changes what is named; null lifts a rule. */
export async function updateApiKey(
  parts: AccountsParts,
  principal: Principal,
  reference: ApiKeyReference,
  { name, ...changedRules }: ApiKeyChanges,
): Promise<void> {
  await changeKey(parts, principal, { permission: 'api-keys:update', reference }, async (row, transaction) => {
    const rules = { ...fromRuleColumns(row), ...changedRules }
    const nowMs = parts.clock.nowMs()
    // An end that has passed meanwhile is no fault of a change that leaves it as it is.
    const isSameEnd = changedRules.expiresAtMs === undefined || changedRules.expiresAtMs === row.expires_at
    checkRules(isSameEnd ? { ...rules, expiresAtMs: null } : rules, nowMs)
    if (!isSameEnd) {
      await requireKeyEnd(transaction, reference.organizationId, { expiresAtMs: rules.expiresAtMs, nowMs })
    }
    return { name: name === undefined ? row.name : checkName(name), ...toRuleColumns(rules) }
  })
}

/** A disabled key is refused until it is enabled again; that of a suspended member comes back with the member only. */
export async function setApiKeyDisabled(
  parts: AccountsParts,
  principal: Principal,
  reference: ApiKeyReference,
  isDisabled: boolean,
): Promise<void> {
  const { organizationId } = reference
  await changeKey(parts, principal, { permission: 'api-keys:disable', reference }, async (row, transaction) => {
    const { owner_id: memberId, project_id: projectId, service_account_id: serviceAccountId, disabled_at } = row
    if (!isDisabled && serviceAccountId !== null) {
      await requireActiveAccount(transaction, { organizationId, projectId, serviceAccountId })
    }
    if (!isDisabled && memberId !== null) await requireActiveMember(transaction, { organizationId, memberId })
    return { disabled_at: isDisabled ? (disabled_at ?? parts.clock.nowMs()) : null, suspended_by: null }
  })
}

/** Ends a key for good. */
export async function revokeApiKey(
  parts: AccountsParts,
  principal: Principal,
  reference: ApiKeyReference,
): Promise<void> {
  await changeKey(parts, principal, { permission: 'api-keys:revoke', reference }, () => ({
    revoked_at: parts.clock.nowMs(),
  }))
}

type KeyChange = { readonly permission: Permission; readonly reference: ApiKeyReference }
type KeyColumns = Partial<ApiKeyTable>

function changeKey(
  parts: AccountsParts,
  principal: Principal,
  { permission, reference }: KeyChange,
  decide: (row: ApiKeyTable, transaction: Transaction<Tables>) => KeyColumns | Promise<KeyColumns>,
): Promise<void> {
  const { organizationId, id } = reference
  const action = { action: permission, organizationId, target: id }
  return changeAccess(parts, principal, action, async (transaction, note) => {
    const row = await findKeyToChange(transaction, { principal, permission, reference })
    const columns = await decide(row, transaction)
    await transaction
      .updateTable('api_keys')
      .set(columns)
      .where('id', '=', row.id)
      .where('organization_id', '=', organizationId)
      .execute()
    const before = describe(row)
    const after = describe({ ...row, ...columns })
    const changed = Object.keys(after).filter((name) => before[name] !== after[name])
    note(pick(before, changed), pick(after, changed))
  })
}

const dayMs = 86_400_000
export const overlapMsMax = 7 * dayMs

/**
 * Replaces a key with a new one of the same rules, owner and quota.
 *
 * The old one goes on working for the overlap, so that it can be replaced
 * wherever it is in use. Without an overlap it ends at once. Throws where it has been replaced, or where the project
 * takes keys of service accounts alone by now.
 */
export async function rotateApiKey(
  parts: AccountsParts,
  principal: Principal,
  reference: ApiKeyReference,
  overlapMs: number,
): Promise<CreatedApiKey> {
  if (!(Number.isSafeInteger(overlapMs) && overlapMs >= 0 && overlapMs <= overlapMsMax)) {
    throw invalidRequest(['overlap'], 'value', 'The overlap is from 0 to 7 days.')
  }
  const id: ApiKeyId = `key_${randomId()}`
  const key = createKey()
  const { organizationId } = reference
  const action = { action: 'api-keys:rotate', organizationId, target: reference.id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const old = await findKeyToChange(transaction, { principal, permission: 'api-keys:rotate', reference })
    const now = parts.clock.nowMs()
    if (old.expires_at !== null && old.expires_at <= now) throw notFound()
    if (old.service_account_id === null) {
      await requireKeysOfAnyone(transaction, { organizationId, projectId: old.project_id })
    }
    await requireNotReplaced(transaction, old)
    const latest = (await latestKeyEnd(transaction, organizationId, now)) ?? Infinity
    const end = Math.min(old.expires_at ?? Infinity, latest)
    const expires_at = Number.isFinite(end) ? end : null
    const fresh = {
      id,
      expires_at,
      key_hash: hashKey(parts.hashSecret, key),
      last_four: key.slice(-4),
      created_at: now,
    }
    // Whoever replaces a key has seen the secret of the new one.
    const origin = { rotated_from: old.id, created_by: actorOf(principal) }
    await transaction
      .insertInto('api_keys')
      .values({ ...old, ...fresh, ...origin, last_used_at: null })
      .execute()
    const ending = { expires_at: Math.min(old.expires_at ?? Infinity, now + overlapMs) }
    await transaction
      .updateTable('api_keys')
      .set(overlapMs === 0 ? { revoked_at: now } : ending)
      .where('id', '=', old.id)
      .where('organization_id', '=', organizationId)
      .execute()
    note({ id: old.id }, { id, last_four: fresh.last_four, old_ends_at: ending.expires_at })
  })
  return { id, key }
}

/** Throws for a key in whose place another one is already: replaced over and over it would become ever more keys. */
async function requireNotReplaced(
  transaction: Transaction<Tables>,
  { id, organization_id }: Pick<ApiKeyTable, 'id' | 'organization_id'>,
): Promise<void> {
  const successor = await transaction
    .selectFrom('api_keys')
    .select('id')
    .where('organization_id', '=', organization_id)
    .where('rotated_from', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  if (successor === undefined) return
  const words = `This key is being replaced by ${successor.id}: rotate that one, or revoke it first.`
  throw conflict(words)
}

/** A key that is not revoked, and that the principal may do this to. */
async function findKeyToChange(
  transaction: Transaction<Tables>,
  { principal, permission, reference }: KeyChange & { readonly principal: Principal },
): Promise<ApiKeyTable> {
  const { organizationId } = reference
  const row = await transaction
    .selectFrom('api_keys')
    .selectAll()
    .where('id', '=', reference.id as ApiKeyId)
    .where('organization_id', '=', organizationId)
    .where('revoked_at', 'is', null)
    .where('kind', 'is', null)
    .executeTakeFirst()
  const target = { organizationId, projectId: row?.project_id ?? null, ownerId: row?.owner_id ?? null }
  if (row === undefined) throw notFound()
  requirePermission(principal, permission, target)
  return row
}

/** What the audit shows of a key: neither the key nor its hash. */
function describe(row: ApiKeyTable): Record<string, unknown> {
  const { key_hash: _, id: __, organization_id: ___, created_at: ____, last_used_at: _____, ...shown } = row
  return shown
}

function pick(fields: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, fields[name]]))
}
