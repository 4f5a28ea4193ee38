import type { Transaction } from 'kysely'
import type { OrganizationId, RequestId } from '../core/ids.ts'
import type { Principal } from '../core/principal.ts'
import type { Clock } from '../lib/clock.ts'
import { randomId } from '../lib/random-id.ts'
import { appendAuditRow, lockChainEnd } from './audit-chain.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables.ts'
import { requireStanding } from './transactions/require-standing.ts'
import { withTransactions } from './transactions/with-transactions.ts'

/** Under this id stands what is done to the installation and to no organization. */
export const installationChain: OrganizationId = 'org_installation'

export type AuditedAction = {
  /** The deed, as `resource:verb`. */
  readonly action: string
  readonly organizationId: OrganizationId
  /** The id of the row that changes. */
  readonly target: string
  /**
   * Set for what tells of somebody, or is done to one's own account: no right of theirs that may have been taken away by
   * now is needed for it, or the write asks for it itself.
   */
  readonly needsNoRight?: true
}

/** The request by which a change was asked for, where there was one. */
export type Origin = { readonly address: string; readonly requestId: RequestId | null }

export type ChangeParts = {
  readonly db: Database
  readonly clock: Clock
  readonly origin?: Origin
}

export type Fields = Readonly<Record<string, unknown>>
/**
 * Notes the fields that changed for the audit row; whoever calls it leaves secrets out. The target is given where only
 * the write finds out which row it changes.
 */
export type NoteFields = (before: Fields | null, after: Fields | null, target?: string) => void

/**
 * Changes control-plane rows. The audit row is part of the same transaction: there is no change without its record.
 *
 * Two changes of one organization follow each other, so that neither of two that name different fields of a row takes
 * back what the other has written. Whoever is to change something is asked for their right once more when it is their turn.
 */
export function change<Result>(
  { db, clock, origin }: ChangeParts,
  principal: Principal,
  { action, organizationId, target, needsNoRight }: AuditedAction,
  write: (transaction: Transaction<Tables>, note: NoteFields) => Promise<Result>,
): Promise<Result> {
  return db.transaction().execute(async (transaction) => {
    // The installation's is taken last: people sign in by it after what they do in an organization.
    if (organizationId !== installationChain) await lockChainEnd(transaction, organizationId)
    if (needsNoRight !== true) await requireStanding(transaction, principal)
    let fields: { before: string | null; after: string | null } = { before: null, after: null }
    let changed = target
    const result = await write(transaction, (before, after, found) => {
      changed = found ?? target
      fields = { before: before && JSON.stringify(before), after: after && JSON.stringify(after) }
    })
    await appendAuditRow(transaction, {
      id: `audit_${randomId()}`,
      at: clock.nowMs(),
      organization_id: organizationId,
      actor: actorOf(principal),
      action,
      target: changed,
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
    case 'anonymous':
      return 'anonymous'
    case 'user':
      return principal.userId
    case 'directory':
      return principal.directoryId
    case 'management-key':
      return principal.managementKeyId
  }
}

/**
 * An open transaction that is used like a database: what begins a transaction on it becomes part of the open one.
 *
 * What fails inside must fail the open transaction too, as there is none of its own to undo.
 */
export function joinTransaction(transaction: Transaction<Tables>): Database {
  return withTransactions(transaction, () => ({ execute: (write) => write(transaction) }))
}
