import { StateTag } from '../../kit/page.tsx'
import type { ServiceAccount } from '../queries.ts'

export type AccountState = 'active' | 'disabled' | 'removed'

export function stateOf({ disabledAt, removedAt }: ServiceAccount): AccountState {
  return removedAt !== null ? 'removed' : disabledAt !== null ? 'disabled' : 'active'
}

export function AccountStateTag({ account }: { readonly account: ServiceAccount }) {
  switch (stateOf(account)) {
    case 'active':
      return <StateTag mood="good">Active</StateTag>
    case 'disabled':
      return <StateTag mood="off">Disabled</StateTag>
    case 'removed':
      return <StateTag mood="bad">Removed</StateTag>
  }
}
