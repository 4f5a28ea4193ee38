import { formatUntil } from '../../format/time.ts'
import { StateTag } from '../../kit/page.tsx'
import type { ApiKey } from '../queries.ts'

const soonMs = 14 * 24 * 60 * 60 * 1_000

/** Whether requests with the key are answered at the moment. */
export function isInUse({ state }: Pick<ApiKey, 'state'>): boolean {
  return state === 'active' || state === 'disabled'
}

export function KeyState({ apiKey: { state, expiresAt } }: { readonly apiKey: ApiKey }) {
  switch (state) {
    case 'active':
      if (expiresAt === null) return <StateTag mood="good">Active</StateTag>
      if (Date.parse(expiresAt) - Date.now() > soonMs) return <StateTag mood="good">Active</StateTag>
      return (
        <StateTag mood="warn" icon="clock">
          Ends {formatUntil(expiresAt)}
        </StateTag>
      )
    case 'disabled':
      return <StateTag mood="off">Disabled</StateTag>
    case 'expired':
      return <StateTag mood="off">Ended</StateTag>
    case 'revoked':
      return <StateTag mood="bad">Revoked</StateTag>
  }
}
