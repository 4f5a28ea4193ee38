import { useState, type ComponentProps } from 'react'
import { api } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { CheckboxGroup, Select, TextField } from '../../kit/field.tsx'
import { Drawer } from '../../kit/layers.tsx'
import { changedFields } from '../../lib/changed-fields.ts'
import { topicChoices, type Channel, type Topic } from './channel-queries.ts'

type Props = {
  readonly organizationId: string
  /** Null makes another one. */
  readonly channel: Channel | null
  readonly onClose: () => void
  /** The secret of one that was made; null where there is none to show. */
  readonly onMade: (secret: string | null) => void
}

const kinds = [
  { value: 'webhook', label: 'A webhook' },
  { value: 'email', label: 'An e-mail address' },
  { value: 'log', label: 'The log of the service' },
] as const

/** Where messages go, and which. The address of a channel stays as it is: another address is another channel. */
export function ChannelDrawer({ organizationId, channel: now, onClose, onMade }: Props) {
  const [channel] = useState(now)
  const [kind, setKind] = useState<Channel['kind']>(channel?.kind ?? 'webhook')
  const [name, setName] = useState(channel?.name ?? '')
  const [address, setAddress] = useState('')
  const [topics, setTopics] = useState<readonly Topic[]>(channel?.topics ?? ['budget.threshold', 'audit.broken'])
  const choices = topicChoices(kind)
  const chosen = topics.filter((topic) => choices.some(({ value }) => value === topic))
  const own = { name: name.trim(), topics: chosen }
  const change = useChange(
    async (_: null, options) => {
      if (channel === null) {
        const body = { ...own, kind, ...(kind !== 'log' && { address: address.trim() }) }
        const path = 'POST /api/v1/organizations/{organizationId}/alert-channels'
        return (await api(path, { params: { organizationId }, body }, options)).secret
      }
      const params = { organizationId, channelId: channel.id }
      await api('PATCH /api/v1/organizations/{organizationId}/alert-channels/{channelId}', {
        params,
        body: changedFields<Own>(channel, own),
      })
      return null
    },
    { touches: [['alert-channels', organizationId]], onDone: onMade },
  )
  const isAddressMissing = channel === null && kind !== 'log' && address.trim() === ''
  const reason = missingOf({ own, channel, isAddressMissing })
  const verb = channel === null ? 'Add channel' : 'Save'
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
      {verb}
    </Button>
  )
  return (
    <Drawer
      title={channel === null ? 'Add channel' : `Edit “${channel.name}”`}
      isOpen
      onClose={onClose}
      foot={foot}
      onSubmit={() => (reason === null ? void change.run(null) : undefined)}
    >
      <ChangeProblem problem={change.problem} shown={['name', 'address', 'kind']} />
      {channel === null && (
        <Select label="Goes to" value={kind} choices={kinds} fault={change.faultOf('kind')} onChoice={setKind} />
      )}
      <TextField
        label="Name"
        autoComplete="off"
        placeholder="On call"
        value={name}
        fault={change.faultOf('name')}
        onText={setName}
      />
      {channel === null && kind !== 'log' && (
        <AddressField kind={kind} address={address} fault={change.faultOf('address')} onText={setAddress} />
      )}
      <CheckboxGroup label="Told of" choices={choices} chosen={chosen} onChange={setTopics} />
    </Drawer>
  )
}

type AddressProps = {
  readonly kind: 'webhook' | 'email'
  readonly address: string
  readonly fault: ComponentProps<typeof TextField>['fault']
  readonly onText: (text: string) => void
}

function AddressField({ kind, address, ...field }: AddressProps) {
  const own = { label: 'Address', autoComplete: 'off', value: address, ...field } as const
  return kind === 'email' ? (
    <TextField
      {...own}
      type="email"
      placeholder="on-call@example.com"
      hint="One address for each channel. Mail goes out by the operator's relay."
    />
  ) : (
    <TextField
      {...own}
      type="url"
      placeholder="https://hooks.example.com/odyssey"
      hint="Private networks are refused unless the operator allows them. Only scheme and host are shown afterwards."
    />
  )
}

type Own = Pick<Channel, 'name'> & { readonly topics: readonly Topic[] }
type Missing = { readonly own: Own; readonly channel: Channel | null; readonly isAddressMissing: boolean }

function missingOf({ own, channel, isAddressMissing }: Missing): string | null {
  if (own.name === '') return 'A name is needed.'
  if (isAddressMissing) return 'An address is needed.'
  if (own.topics.length === 0) return 'Choose what it is told of.'
  const isSame = channel !== null && Object.keys(changedFields<Own>(channel, own)).length === 0
  return isSame ? 'Nothing was changed.' : null
}
