import type { Transaction } from 'kysely'
import { conflict } from '../../core/error.ts'
import type { ApiKeyId, OrganizationId, ProjectId } from '../../core/ids.ts'
import { notFound, requirePermission, seenProjects, visibleProjects } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import { actorOf, change, type ChangeParts } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import type { Tables } from '../../db/tables.ts'
import { randomId } from '../../lib/random-id.ts'

/** What somebody wants a minute, or at a time; what is not named may stay as it is. */
export type WantedLimits = {
  readonly inputTokensPerMinute?: number | undefined
  readonly outputTokensPerMinute?: number | undefined
  readonly requestsPerMinute?: number | undefined
  readonly concurrency?: number | undefined
}

export type LimitRequest = {
  readonly id: string
  readonly apiKeyId: ApiKeyId
  readonly apiKeyName: string
  readonly model: string
  readonly wanted: WantedLimits
  readonly reason: string
  readonly contact: string | null
  /** As the audit names actors: a member, or the key itself where its owner has no account. */
  readonly askedBy: string
  readonly askedAtMs: number
  readonly state: 'open' | 'approved' | 'declined'
  readonly answeredAtMs: number | null
  readonly answeredBy: string | null
  readonly answer: string | null
}

export type NewLimitRequest = Pick<LimitRequest, 'apiKeyId' | 'model' | 'wanted' | 'reason' | 'contact'> & {
  readonly organizationId: OrganizationId
}

/** One more would be asked by a program, or by somebody who should talk to a person. */
const openPerKeyMax = 5
const listedMax = 500

type Asked = {
  readonly organizationId: OrganizationId
  readonly state: LimitRequest['state'] | null
  /** Keeps to the requests of one key, for its owner, who may see no others. */
  readonly apiKeyId?: ApiKeyId
}

/** The requests that a principal may see, newest first; who may not see keys is told neither their names nor their owners. */
export async function listLimitRequests(
  { db }: Pick<ChangeParts, 'db'>,
  principal: Principal,
  asked: Asked,
): Promise<LimitRequest[]> {
  const projects = visibleProjects(principal, 'limits:read', asked.organizationId)
  const requests = projects?.length === 0 ? [] : await readLimitRequests(db, asked, projects)
  if (seenProjects(principal, 'api-keys:read', asked.organizationId) !== undefined) return requests
  return requests.map((request) => ({ ...request, apiKeyName: request.apiKeyId, contact: null }))
}

/** Those of one key, or of some projects. It asks for no permission: whoever calls it has seen to that. */
export async function readLimitRequests(
  db: Database,
  { organizationId, state, apiKeyId }: Asked,
  projects: readonly ProjectId[] | null = null,
): Promise<LimitRequest[]> {
  let query = db
    .selectFrom('limit_requests')
    .innerJoin('api_keys', 'api_keys.id', 'limit_requests.api_key_id')
    .selectAll('limit_requests')
    .select('api_keys.name as apiKeyName')
    .where('limit_requests.organization_id', '=', organizationId)
  if (state !== null) query = query.where('state', '=', state)
  if (apiKeyId !== undefined) query = query.where('api_key_id', '=', apiKeyId)
  if (projects !== null) query = query.where('api_keys.project_id', 'in', projects)
  const rows = await query
    .orderBy('limit_requests.created_at', 'desc')
    .orderBy('limit_requests.id')
    .limit(listedMax)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    apiKeyId: row.api_key_id,
    apiKeyName: row.apiKeyName,
    model: row.model,
    wanted: JSON.parse(row.wanted) as WantedLimits,
    reason: row.reason,
    contact: row.contact,
    askedBy: row.asked_by,
    askedAtMs: Number(row.created_at),
    state: row.state,
    answeredAtMs: row.answered_at === null ? null : Number(row.answered_at),
    answeredBy: row.answered_by,
    answer: row.answer,
  }))
}

/** Asks for more on behalf of a key. Its owner, who is let in by the key itself, needs no permission. */
export async function askForLimits(
  parts: ChangeParts,
  principal: Principal,
  { organizationId, apiKeyId, model, wanted, reason, contact }: NewLimitRequest,
): Promise<string> {
  const key = await findKey(parts.db, organizationId, apiKeyId)
  const isItself = principal.kind === 'api-key' && principal.apiKeyId === apiKeyId
  if (!isItself) requirePermission(principal, 'limits:ask', { organizationId, ...key })
  const id = `ask_${randomId()}`
  const action = { action: 'limits:ask', organizationId, target: apiKeyId }
  await change(parts, principal, action, async (transaction, note) => {
    await lockKey(transaction, apiKeyId)
    const open = await transaction
      .selectFrom('limit_requests')
      .select('id')
      .where('api_key_id', '=', apiKeyId)
      .where('state', '=', 'open')
      .execute()
    if (open.length >= openPerKeyMax) {
      throw conflict('Enough is asked for with this key: wait for an answer first.')
    }
    const now = parts.clock.nowMs()
    const who = { asked_by: actorOf(principal), created_at: now }
    const what = { model, wanted: JSON.stringify(wanted), reason, contact }
    const unanswered = { state: 'open' as const, answered_at: null, answered_by: null, answer: null }
    await transaction
      .insertInto('limit_requests')
      .values({ id, organization_id: organizationId, api_key_id: apiKeyId, ...who, ...what, ...unanswered })
      .execute()
    note(null, { request: id, model, wanted, reason })
  })
  return id
}

export type LimitAnswer = {
  readonly organizationId: OrganizationId
  readonly id: string
  readonly state: 'approved' | 'declined'
  readonly answer: string | null
}

/** Answers a request, once. The limit itself is set like any other. */
export async function answerLimitRequest(
  parts: ChangeParts,
  principal: Principal,
  { organizationId, id, state, answer }: LimitAnswer,
): Promise<void> {
  requirePermission(principal, 'limits:update', { organizationId })
  const verb = state === 'approved' ? 'approve' : 'decline'
  await change(
    parts,
    principal,
    { action: `limit-requests:${verb}`, organizationId, target: id },
    async (transaction, note) => {
      const row = await transaction
        .selectFrom('limit_requests')
        .select('state')
        .where('organization_id', '=', organizationId)
        .where('id', '=', id)
        .executeTakeFirst()
      if (row === undefined) throw notFound()
      const answered = { answered_at: parts.clock.nowMs(), answered_by: actorOf(principal) }
      // Of two who answer at once, the second finds it answered.
      const changed = await transaction
        .updateTable('limit_requests')
        .set({ state, answer, ...answered })
        .where('id', '=', id)
        .where('state', '=', 'open')
        .returning('id')
        .executeTakeFirst()
      if (changed === undefined) throw conflict('It was answered already.')
      note({ state: row.state }, { state, answer })
    },
  )
}

/** Two who ask at once must not both find the last place free. */
async function lockKey(transaction: Transaction<Tables>, apiKeyId: ApiKeyId): Promise<void> {
  const key = transaction.selectFrom('api_keys').select('id').where('id', '=', apiKeyId)
  if (isPostgres(transaction)) await key.forNoKeyUpdate().execute()
}

async function findKey(db: Database, organizationId: OrganizationId, apiKeyId: ApiKeyId) {
  const row = await db
    .selectFrom('api_keys')
    .select(['project_id', 'owner_id'])
    .where('organization_id', '=', organizationId)
    .where('id', '=', apiKeyId)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return { projectId: row.project_id, ownerId: row.owner_id }
}
