import type { Transaction } from 'kysely'
import type { Principal } from '../core/principal.ts'
import { countChange } from '../db/changes.ts'
import { change, type AuditedAction, type NoteFields } from '../db/change.ts'
import type { Tables } from '../db/tables.ts'
import type { AccountsParts } from './parts.ts'

/** Gateways hear of a change when it is made: inside of a longer transaction they would wait for its end. */
export function withoutNotice<Parts extends AccountsParts>({ accessChanged: _, ...rest }: Parts) {
  return rest
}

/** Changes who may do what: as `change`, and every gateway hears of it. */
export async function changeAccess<Result>(
  parts: AccountsParts,
  principal: Principal,
  action: AuditedAction,
  write: (transaction: Transaction<Tables>, note: NoteFields) => Promise<Result>,
): Promise<Result> {
  const result = await change(parts, principal, action, async (transaction, note) => {
    const written = await write(transaction, note)
    await countChange(transaction, 'access')
    return written
  })
  await parts.accessChanged?.()
  return result
}
