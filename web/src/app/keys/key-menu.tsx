import { IconButton } from '../../kit/button.tsx'
import { Menu, type MenuEntry } from '../../kit/layers.tsx'
import type { ApiKey } from '../queries.ts'
import type { KeyAction } from './key-actions.tsx'
import type { KeyVerb } from './use-key-reasons.ts'

type Props = {
  readonly apiKey: ApiKey
  /** As `useKeyReasons` tells it. */
  readonly reasonOf: (verb: KeyVerb, apiKey: ApiKey) => string | null
  readonly onAction: (action: KeyAction, apiKey: ApiKey) => void
}

/** What may be done to a key; nothing where it is over. */
export function KeyMenu({ apiKey, reasonOf, onAction }: Props) {
  if (apiKey.state === 'revoked' || apiKey.state === 'expired') return null
  const isOn = apiKey.state === 'active'
  const entries: readonly MenuEntry[] = [
    { kind: 'action', label: 'Rotate…', reason: reasonOf('rotate', apiKey), act: () => onAction('rotate', apiKey) },
    {
      kind: 'action',
      label: isOn ? 'Disable…' : 'Enable…',
      reason: reasonOf('disable', apiKey),
      act: () => onAction(isOn ? 'disable' : 'enable', apiKey),
    },
    { kind: 'rule' },
    {
      kind: 'action',
      label: 'Revoke…',
      isBad: true,
      reason: reasonOf('revoke', apiKey),
      act: () => onAction('revoke', apiKey),
    },
  ]
  return (
    <Menu
      name={`Actions for ${apiKey.name}`}
      trigger={<IconButton icon="more" name={`Actions for ${apiKey.name}`} isSmall />}
      entries={entries}
    />
  )
}
