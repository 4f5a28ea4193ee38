import { useState } from 'react'
import { api } from '../../api/client.ts'
import { formatAgo, readerZone } from '../../format/time.ts'
import { Select } from '../../kit/field.tsx'
import { Secret } from '../../lib/secret.ts'
import { Confirm } from '../confirm.tsx'
import type { ApiKey } from '../queries.ts'
import { useChange } from '../use-change.ts'
import type { NewKey } from './key-once.tsx'

export type KeyAction = 'rotate' | 'disable' | 'enable' | 'revoke'
type Props = { readonly organizationId: string; readonly apiKey: ApiKey; readonly onClose: () => void }
const path = '/api/v1/organizations/{organizationId}/api-keys/{apiKeyId}'

export function KeyActionDialog({
  action,
  onMade,
  ...props
}: Props & { readonly action: KeyAction; readonly onMade: (made: NewKey) => void }) {
  switch (action) {
    case 'rotate':
      return <RotateDialog {...props} onMade={onMade} />
    case 'revoke':
      return <RevokeDialog {...props} />
    case 'disable':
    case 'enable':
      return <SwitchDialog {...props} action={action} />
  }
}

const overlaps = [
  { value: '0', label: 'None: the old key ends now' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '24 hours' },
  { value: '604800', label: '7 days' },
] as const

function RotateDialog({
  organizationId,
  apiKey,
  onClose,
  onMade,
}: Props & { readonly onMade: (made: NewKey) => void }) {
  const [overlap, setOverlap] = useState<(typeof overlaps)[number]['value']>('86400')
  const params = { organizationId, apiKeyId: apiKey.id }
  const change = useChange(
    (overlapSeconds: number, options) => api(`POST ${path}/rotate`, { params, body: { overlapSeconds } }, options),
    {
      touches: [
        ['keys', organizationId],
        ['key', organizationId],
      ],
      onDone: ({ apiKey: { name }, key }) => onMade({ name, key: new Secret(key), organizationId }),
    },
  )
  const used =
    apiKey.lastUsedAt === null
      ? 'It was never used.'
      : `It was last used ${formatAgo(apiKey.lastUsedAt, { zone: readerZone() })}.`
  return (
    <Confirm
      title={`Rotate “${apiKey.name}”`}
      verb="Rotate key"
      isBad={false}
      change={change}
      onClose={onClose}
      onConfirm={() => void change.run(Number(overlap))}
    >
      A new key with the same rules takes its place, and is shown once. {used}
      <br />
      <br />
      <Select label="The old key works on for" value={overlap} choices={overlaps} onChoice={setOverlap} />
    </Confirm>
  )
}

function RevokeDialog({ organizationId, apiKey, onClose }: Props) {
  const params = { organizationId, apiKeyId: apiKey.id }
  const change = useChange((_: null, options) => api(`POST ${path}/revoke`, { params }, options), {
    touches: [
      ['keys', organizationId],
      ['key', organizationId],
    ],
    onDone: onClose,
  })
  return (
    <Confirm
      title={`Revoke “${apiKey.name}”`}
      verb="Revoke key"
      typedName={apiKey.name}
      change={change}
      onClose={onClose}
      onConfirm={() => void change.run(null)}
    >
      Requests with it are refused at once. Running answers end within half a second. This cannot be undone.
    </Confirm>
  )
}

function SwitchDialog({ organizationId, apiKey, onClose, action }: Props & { readonly action: 'disable' | 'enable' }) {
  const params = { organizationId, apiKeyId: apiKey.id }
  const work = action === 'disable' ? api.bind(null, `POST ${path}/disable`) : api.bind(null, `POST ${path}/enable`)
  const change = useChange((_: null, options) => work({ params }, options), {
    touches: [
      ['keys', organizationId],
      ['key', organizationId],
    ],
    onDone: onClose,
  })
  const [title, verb, text] =
    action === 'disable'
      ? [`Disable “${apiKey.name}”`, 'Disable key', 'Requests with it are refused until it is enabled again.']
      : [`Enable “${apiKey.name}”`, 'Enable key', 'Requests with it are answered again, by the rules it has.']
  return (
    <Confirm
      title={title}
      verb={verb}
      isBad={action === 'disable'}
      change={change}
      onClose={onClose}
      onConfirm={() => void change.run(null)}
    >
      {text}
    </Confirm>
  )
}
