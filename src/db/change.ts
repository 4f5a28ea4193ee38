import type { Transaction } from 'kysely'
import type { OrganizationId, RequestId } from '../core/ids.ts'
import type { Principal } from '../core/principal.ts'
import type { Clock } from '../lib/clock.ts'
import { randomId } from '../lib/random-id.ts'
import { appendAuditRow } from './audit-chain.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables.ts'

/** Under this id stands what is done to the installation and to no organization. */
export const installationChain: OrganizationId = 'org_installation'

export type AuditedAction = {
  /** What is done, as `resource:verb`. */
  readonly action: string
  readonly organizationId: OrganizationId
  /** The id of the row that changes. */
  readonly target: string
}

/** The request by which a change was asked for, where there was one. */
export type Origin = { readonly address: string; readonly requestId: RequestId }

export type ChangeParts = {
  readonly db: Database
  readonly clock: Clock
  readonly origin?: Origin
}

export type Fields = Readonly<Record<string, unknown>>
/** Notes the fields that changed for the audit row; whoever calls it leaves secrets out. */
export type NoteFields = (before: Fields | null, after: Fields | null) => void

/** Changes control-plane rows. The audit row is part of the same transaction: there is no change without its record. */
export function change<Result>(
  { db, clock, origin }: ChangeParts,
  principal: Principal,
  { action, organizationId, target }: AuditedAction,
  write: (transaction: Transaction<Tables>, note: NoteFields) => Promise<Result>,
): Promise<Result> {
  return db.transaction().execute(async (transaction) => {
    let fields: { before: string | null; after: string | null } = { before: null, after: null }
    const result = await write(transaction, (before, after) => {
      fields = { before: before && JSON.stringify(before), after: after && JSON.stringify(after) }
    })
    await appendAuditRow(transaction, {
      id: `audit_${randomId()}`,
      at: clock.nowMs(),
      organization_id: organizationId,
      actor: actorOf(principal),
      action,
      target,
      ...fields,
      address: origin?.address ?? null,
      request_id: origin?.requestId ?? null,
    })
    return result
  })
}

/** Who did something, as the audit names them. */
export function actorOf(principal: Principal): string {
  switch (principal.kind) {
    case 'operator':
      return 'operator'
    case 'api-key':
      return principal.apiKeyId
    case 'member':
      return principal.memberId
    case 'management-key':
      return principal.managementKeyId
  }
}
