// Which projects have what is said in their requests kept, and the reading and deleting of it.

import { invalidRequest } from '../../core/error.ts'
import type { OrganizationId, ProjectId, RequestId } from '../../core/ids.ts'
import { notFound, requirePermission, type Target } from '../../core/permission.ts'
import type { Principal, RecordingRules } from '../../core/principal.ts'
import { change } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { RecordingState } from '../../db/tables/accounts.ts'
import { changeAccess } from '../change-access.ts'
import type { AccountsParts } from '../parts.ts'
import { endAhead, findProject, setProjectColumns } from '../projects.ts'
import { openContent, type RecordedContent } from './content.ts'

export const dayMs = 86_400_000

/** Recordings are kept for so many days at most, and what is switched on ends by itself after as many. */
export const recordingDaysMax = 30

type InProject = { readonly organizationId: OrganizationId; readonly projectId: ProjectId }

export type ProjectRecording = {
  /** Until when what is said is kept; null where nothing is. */
  readonly untilMs: number | null
  /** How many days that is kept. */
  readonly days: number
  /** How many requests are kept, and what they take. */
  readonly kept: { readonly requests: number; readonly bytes: number }
}

/** Tells everybody who may see the project, since it is their prompts that are kept. */
export async function readProjectRecording(
  { db, clock }: Pick<AccountsParts, 'db' | 'clock'>,
  principal: Principal,
  { organizationId, projectId }: InProject,
): Promise<ProjectRecording> {
  requirePermission(principal, 'projects:read', { organizationId, projectId })
  const nowMs = clock.nowMs()
  const project = await findProject(db, { id: projectId, organizationId })
  const { requests, bytes } = await db
    .selectFrom('recordings')
    .select(({ fn }) => [fn.countAll<number>().as('requests'), fn.sum<number | null>('bytes').as('bytes')])
    .where('organization_id', '=', organizationId)
    .where('project_id', '=', projectId)
    .where('ends_at', '>', nowMs)
    .executeTakeFirstOrThrow()
  return {
    untilMs: endAhead(project.recorded_until, nowMs),
    days: project.recording_days,
    kept: { requests: Number(requests), bytes: Number(bytes ?? 0) },
  }
}

/** Switches it on by these rules, or off with null. What was kept stays for its days. */
export async function setProjectRecording(
  parts: AccountsParts,
  principal: Principal,
  { organizationId, projectId }: InProject,
  rules: RecordingRules | null,
): Promise<void> {
  requirePermission(principal, 'recordings:update', { organizationId })
  const nowMs = parts.clock.nowMs()
  if (rules !== null && (rules.untilMs <= nowMs || rules.untilMs > nowMs + recordingDaysMax * dayMs))
    throw invalidRequest(['endsAt'], 'value', `This must be a time within the next ${recordingDaysMax} days.`)
  const action = { action: 'recordings:update', organizationId, target: projectId }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const project = await findProject(transaction, { id: projectId, organizationId })
    const before = { recorded_until: project.recorded_until, recording_days: project.recording_days }
    const after =
      rules === null
        ? { ...before, recorded_until: null }
        : { recorded_until: rules.untilMs, recording_days: rules.days }
    await setProjectColumns(transaction, project, after)
    note(before, after)
  })
}

/** Deletes all that is kept of a project’s requests. */
export async function deleteProjectRecordings(
  parts: AccountsParts,
  principal: Principal,
  { organizationId, projectId }: InProject,
): Promise<void> {
  requirePermission(principal, 'recordings:update', { organizationId })
  const action = { action: 'recordings:delete', organizationId, target: projectId }
  await change(parts, principal, action, async (transaction, note) => {
    await findProject(transaction, { id: projectId, organizationId })
    const { numDeletedRows } = await transaction
      .deleteFrom('recordings')
      .where('organization_id', '=', organizationId)
      .where('project_id', '=', projectId)
      .executeTakeFirst()
    note({ requests: Number(numDeletedRows) }, null)
  })
}

type Ended = { readonly state: RecordingState; readonly endsAtMs: number }

/** Whether anything is kept of a request, and until when; null where nothing is. */
export async function findRecording(
  { db, clock }: Pick<AccountsParts, 'db' | 'clock'>,
  requestId: RequestId,
): Promise<Ended | null> {
  const row = await readRow(db, requestId, clock.nowMs())
  return row === undefined ? null : { state: row.state, endsAtMs: row.ends_at }
}

/** Reads what was said in a request. Whoever does leaves a row in the audit before it is told. */
export async function readRecording(
  parts: AccountsParts,
  principal: Principal,
  key: Uint8Array,
  requestId: RequestId,
): Promise<Ended & { readonly content: RecordedContent | null }> {
  const target = await findRecordingTarget(parts.db, requestId)
  if (target === null) throw notFound()
  requirePermission(principal, 'recordings:read', target)
  const row = await readRow(parts.db, requestId, parts.clock.nowMs())
  if (row === undefined) throw notFound()
  const { organization_id: organizationId, content, state, ends_at: endsAtMs } = row
  const action = { action: 'recordings:read', organizationId, target: requestId }
  await change(parts, principal, action, () => Promise.resolve())
  const opened = content === null ? null : await openContent(key, { organizationId, requestId }, content)
  return { state, endsAtMs, content: opened }
}

/** Of whom and where a request was, as who may read what was said in it depends on; null where there is none. */
export async function findRecordingTarget(db: Database, requestId: RequestId): Promise<Target | null> {
  const row = await db
    .selectFrom('ledger')
    .leftJoin('api_keys', (join) =>
      join
        .onRef('api_keys.id', '=', 'ledger.api_key_id')
        .onRef('api_keys.organization_id', '=', 'ledger.organization_id'),
    )
    .select(['ledger.organization_id', 'ledger.project_id', 'api_keys.owner_id'])
    .where('ledger.request_id', '=', requestId)
    .limit(1)
    .executeTakeFirst()
  if (row === undefined) return null
  return { organizationId: row.organization_id, projectId: row.project_id, ownerId: row.owner_id }
}

const deletedAtOnce = 200

/** Deletes what was kept for long enough, a few at a time so that others have their turn between. */
export async function deleteOverRecordings(db: Database, nowMs: number): Promise<void> {
  for (;;) {
    const over = db.selectFrom('recordings').select('request_id').where('ends_at', '<=', nowMs).limit(deletedAtOnce)
    const { numDeletedRows } = await db.deleteFrom('recordings').where('request_id', 'in', over).executeTakeFirst()
    if (Number(numDeletedRows) < deletedAtOnce) return
  }
}

function readRow(db: Database, requestId: RequestId, nowMs: number) {
  return db
    .selectFrom('recordings')
    .selectAll()
    .where('request_id', '=', requestId)
    .where('ends_at', '>', nowMs)
    .executeTakeFirst()
}
