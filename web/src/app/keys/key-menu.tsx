import { IconButton } from '../../kit/button.tsx'
import { Menu, type MenuEntry } from '../../kit/layers.tsx'
import type { ApiKey } from '../queries.ts'
import { useReason } from '../session.ts'
import type { KeyAction } from './key-actions.tsx'

type Props = {
  readonly organizationId: string
  readonly apiKey: ApiKey
  readonly onAction: (action: KeyAction, apiKey: ApiKey) => void
}

/** What may be done to a key; nothing where it is over. */
export function KeyMenu({ organizationId, apiKey, onAction }: Props) {
  const reasons = {
    rotate: useReason(organizationId, 'api-keys:rotate'),
    disable: useReason(organizationId, 'api-keys:disable'),
    revoke: useReason(organizationId, 'api-keys:revoke'),
  }
  if (apiKey.state === 'revoked' || apiKey.state === 'expired') return null
  const isOn = apiKey.state === 'active'
  const entries: readonly MenuEntry[] = [
    { kind: 'action', label: 'Rotate…', reason: reasons.rotate, act: () => onAction('rotate', apiKey) },
    {
      kind: 'action',
      label: isOn ? 'Disable…' : 'Enable…',
      reason: reasons.disable,
      act: () => onAction(isOn ? 'disable' : 'enable', apiKey),
    },
    { kind: 'rule' },
    { kind: 'action', label: 'Revoke…', isBad: true, reason: reasons.revoke, act: () => onAction('revoke', apiKey) },
  ]
  return (
    <Menu
      name={`Actions for ${apiKey.name}`}
      trigger={<IconButton icon="more" name={`Actions for ${apiKey.name}`} isSmall />}
      entries={entries}
    />
  )
}
