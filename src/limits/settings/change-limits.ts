import type { Transaction } from 'kysely'
import type { Principal } from '../../core/principal.ts'
import { change, type AuditedAction, type ChangeParts, type NoteFields } from '../../db/change.ts'
import { countChange } from '../../db/changes.ts'
import type { Tables } from '../../db/tables.ts'
import type { Budget, Limit } from './setting.ts'

/** What a change came to. */
export type ChangedSetting =
  | { readonly kind: 'limit'; readonly setting: Limit }
  | { readonly kind: 'budget'; readonly setting: Budget }
  | { readonly kind: 'removal'; readonly id: string }
  | { readonly kind: 'tiers' }

/** A change with its number in the change feed: who has seen all before it needs to read nothing again. */
export type LimitChange = ChangedSetting & { readonly counter: number }

export type LimitChangeParts = ChangeParts & {
  /** Called after each change, so that this process puts it into force at once. */
  limitsChanged?(change: LimitChange): Promise<void>
}

/** Changes limits or budgets: as `change`, and every gateway hears of it. */
export async function changeLimits<Changed extends ChangedSetting>(
  parts: LimitChangeParts,
  principal: Principal,
  action: AuditedAction,
  write: (transaction: Transaction<Tables>, note: NoteFields) => Promise<Changed>,
): Promise<Changed> {
  const changed = await change(parts, principal, action, async (transaction, note) => {
    // First, as it makes others who change limits wait: what is then read is still so when it is changed.
    const counter = await countChange(transaction, 'limits')
    return { ...(await write(transaction, note)), counter }
  })
  await parts.limitsChanged?.(changed)
  return changed
}
