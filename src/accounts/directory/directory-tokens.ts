// The secrets by which directories ask: two at a time, so that one can take the other's place.

import type { SelectQueryBuilder, Transaction } from 'kysely'
import type { DirectoryId, DirectoryTokenId, OrganizationId } from '../../core/ids.ts'
import type { DirectoryPrincipal, Principal } from '../../core/principal.ts'
import type { Role } from '../../core/role.ts'
import { actorOf } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { DirectoryTable, DirectoryTokenTable } from '../../db/tables/directory.ts'
import type { Tables } from '../../db/tables.ts'
import { randomId } from '../../lib/random-id.ts'
import { createKey, hashKey, isWellFormedKey } from '../key-format.ts'
import type { AccountsParts } from '../parts.ts'

/** The one in use and the one that takes its place. */
const tokensMax = 2

type Owning = Pick<DirectoryTable, 'id' | 'organization_id'>

export async function addToken(
  { clock, hashSecret }: AccountsParts,
  transaction: Transaction<Tables>,
  principal: Principal,
  { id: directory_id, organization_id }: Owning,
): Promise<{ readonly id: DirectoryTokenId; readonly token: string }> {
  const id: DirectoryTokenId = `dtok_${randomId()}`
  const token = createKey('directory')
  const shown = { last_four: token.slice(-4), created_by: actorOf(principal), created_at: clock.nowMs() }
  const ends = { expires_at: null, revoked_at: null }
  await transaction
    .insertInto('directory_tokens')
    .values({ id, directory_id, organization_id, token_hash: hashKey(hashSecret, token), ...shown, ...ends })
    .execute()
  return { id, token }
}

/** Makes another token. The one before is good for as long as is said; where there are two, the older one ends at once. */
export async function replaceToken(
  parts: AccountsParts,
  transaction: Transaction<Tables>,
  principal: Principal,
  { directory, overlapMs }: { readonly directory: Owning; readonly overlapMs: number },
): Promise<{ readonly id: DirectoryTokenId; readonly token: string; readonly ended: readonly DirectoryTokenId[] }> {
  const now = parts.clock.nowMs()
  const good = await readTokens(transaction, [directory.id], now)
  const kept = overlapMs > 0 ? good.slice(-(tokensMax - 1)) : []
  const ended = good.filter((token) => !kept.includes(token)).map(({ id }) => id)
  if (ended.length > 0) await setTokens(transaction, directory, { ids: ended, set: { revoked_at: now } })
  for (const { id, expires_at } of kept) {
    const ends = Math.min(now + overlapMs, expires_at ?? Number.MAX_SAFE_INTEGER)
    await setTokens(transaction, directory, { ids: [id], set: { expires_at: ends } })
  }
  return { ...(await addToken(parts, transaction, principal, directory)), ended }
}

type SetTokens = {
  readonly ids: readonly DirectoryTokenId[]
  readonly set: Partial<Pick<DirectoryTokenTable, 'revoked_at' | 'expires_at'>>
}

async function setTokens(transaction: Transaction<Tables>, { id }: Owning, { ids, set }: SetTokens): Promise<void> {
  await transaction
    .updateTable('directory_tokens')
    .set(set)
    .where('directory_id', '=', id)
    .where('id', 'in', ids)
    .execute()
}

/** Ids of directories, or what selects them. */
export type DirectoryIds =
  | readonly DirectoryId[]
  | SelectQueryBuilder<Tables, 'directories', Pick<DirectoryTable, 'id'>>

/** The tokens of these directories that are good, the oldest first. */
export async function readTokens(db: Pick<Database, 'selectFrom'>, ids: DirectoryIds, nowMs: number) {
  return db
    .selectFrom('directory_tokens')
    .selectAll()
    .where('directory_id', 'in', ids)
    .where('revoked_at', 'is', null)
    .where(({ or, eb }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', nowMs)]))
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** A directory that asks, and on whose behalf its changes are made. */
export type AskingDirectory = {
  readonly id: DirectoryId
  readonly tokenId: DirectoryTokenId
  readonly organizationId: OrganizationId
  readonly defaultRole: Role
  readonly principal: DirectoryPrincipal
}

const minuteMs = 60_000

/** Whose token this is; null for one that is unknown, ended, or of a disabled organization. */
export async function findAskingDirectory(
  { db, clock, hashSecret }: AccountsParts,
  token: string,
): Promise<AskingDirectory | null> {
  if (!isWellFormedKey(token, 'directory')) return null
  const now = clock.nowMs()
  const row = await goodTokens(db, now)
    .innerJoin('directories', 'directories.id', 'directory_tokens.directory_id')
    .select(['directories.id', 'directories.organization_id', 'default_role', 'last_seen_at'])
    .select('directory_tokens.id as token_id')
    .where('token_hash', '=', hashKey(hashSecret, token))
    .executeTakeFirst()
  if (row === undefined) return null
  const { id, organization_id: organizationId, default_role: defaultRole } = row
  if (row.last_seen_at === null || row.last_seen_at <= now - minuteMs) {
    const seen = now - (now % minuteMs)
    await db.updateTable('directories').set({ last_seen_at: seen }).where('id', '=', id).execute()
  }
  const principal = { kind: 'directory', directoryId: id, organizationId, role: null } as const
  return { id, tokenId: row.token_id, organizationId, defaultRole, principal }
}

/** Whether the token by which a directory asks is good still, which is so then until whoever has the chain's end lets go. */
export async function isStillGood(
  transaction: Transaction<Tables>,
  { tokenId }: AskingDirectory,
  nowMs: number,
): Promise<boolean> {
  const row = await goodTokens(transaction, nowMs)
    .select('directory_tokens.id')
    .where('directory_tokens.id', '=', tokenId)
    .executeTakeFirst()
  return row !== undefined
}

/** Tokens that are neither revoked nor over, of organizations that are not disabled. */
function goodTokens(db: Pick<Transaction<Tables>, 'selectFrom'>, nowMs: number) {
  return db
    .selectFrom('directory_tokens')
    .innerJoin('organizations', 'organizations.id', 'directory_tokens.organization_id')
    .where('revoked_at', 'is', null)
    .where(({ or, eb }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', nowMs)]))
    .where('organizations.disabled_at', 'is', null)
}
