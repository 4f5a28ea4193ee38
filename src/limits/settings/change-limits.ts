import type { Transaction } from 'kysely'
import type { Principal } from '../../core/principal.ts'
import { change, type AuditedAction, type ChangeParts, type NoteFields } from '../../db/change.ts'
import type { Tables } from '../../db/tables.ts'

/** Changes limits or budgets: as `change`, and every gateway notices it. */
export function changeLimits<Result>(
  parts: ChangeParts,
  principal: Principal,
  action: AuditedAction,
  write: (transaction: Transaction<Tables>, note: NoteFields) => Promise<Result>,
): Promise<Result> {
  return change(parts, principal, action, async (transaction, note) => {
    const written = await write(transaction, note)
    await transaction
      .updateTable('limit_changes')
      .set(({ eb }) => ({ count: eb('count', '+', 1) }))
      .execute()
    return written
  })
}
