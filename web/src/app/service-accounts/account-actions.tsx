import { api } from '../../api/client.ts'
import type { MenuEntry } from '../../kit/layers.tsx'
import { Confirm } from '../confirm.tsx'
import { isInUse } from '../keys/key-state.tsx'
import { NameDrawer } from '../name-drawer.tsx'
import { useKeyList, type ServiceAccount } from '../queries.ts'
import { useReason } from '../session.ts'
import { useChange } from '../use-change.ts'
import { stateOf } from './account-state.tsx'
import { formatCounted } from '../../format/figures.ts'

export type AccountAction = 'rename' | 'disable' | 'enable' | 'remove'
type Entries = (account: ServiceAccount, act: (action: AccountAction) => void) => readonly MenuEntry[]

const path = '/api/v1/organizations/{organizationId}/service-accounts/{serviceAccountId}'

/** What may be done to an account of a program, with the reason where it may not. */
export function useAccountEntries(organizationId: string): Entries {
  const updateReason = useReason(organizationId, 'service-accounts:update')
  const removeReason = useReason(organizationId, 'service-accounts:remove')
  return (account, act) => {
    const isOn = stateOf(account) === 'active'
    return [
      { kind: 'action', label: 'Rename…', reason: updateReason, act: () => act('rename') },
      {
        kind: 'action',
        label: isOn ? 'Disable…' : 'Enable…',
        reason: updateReason,
        act: () => act(isOn ? 'disable' : 'enable'),
      },
      { kind: 'rule' },
      { kind: 'action', label: 'Remove…', isBad: true, reason: removeReason, act: () => act('remove') },
    ]
  }
}

type Props = {
  readonly organizationId: string
  readonly account: ServiceAccount
  readonly onClose: () => void
}

export function AccountActionDialog({ action, ...props }: Props & { readonly action: AccountAction }) {
  return action === 'rename' ? <RenameDrawer {...props} /> : <Ask {...props} action={action} />
}

/** What is read anew when an account has changed. */
function touched(organizationId: string) {
  return [
    ['service-accounts', organizationId],
    ['keys', organizationId],
    ['key', organizationId],
  ]
}

function RenameDrawer({ organizationId, account, onClose }: Props) {
  const params = { organizationId, serviceAccountId: account.id }
  const change = useChange(
    (body: { readonly name: string }, options) => api(`PATCH ${path}`, { params, body }, options),
    { touches: touched(organizationId), onDone: onClose },
  )
  return (
    <NameDrawer title={`Rename “${account.name}”`} verb="Save" known={account.name} change={change} onClose={onClose} />
  )
}

const verbs = { disable: 'Disable', enable: 'Enable', remove: 'Remove' } as const
type Verb = keyof typeof verbs

function Ask({ organizationId, account, action, onClose }: Props & { readonly action: Verb }) {
  const params = { organizationId, serviceAccountId: account.id }
  const keys = useKeyList(organizationId).filter(({ serviceAccountId }) => serviceAccountId === account.id)
  const change = useChange(
    async (_: null, options) => {
      if (action === 'remove') await api(`DELETE ${path}`, { params }, options)
      else if (action === 'disable') await api(`POST ${path}/disable`, { params }, options)
      else await api(`POST ${path}/enable`, { params }, options)
    },
    { touches: touched(organizationId), onDone: onClose },
  )
  return (
    <Confirm
      title={`${verbs[action]} “${account.name}”`}
      verb={`${verbs[action]} service account`}
      isBad={action !== 'enable'}
      {...(action === 'remove' && { typedName: account.name })}
      change={change}
      onClose={onClose}
      onConfirm={() => void change.run(null)}
    >
      {wordsOf(action, keys.filter(isInUse).length)}
    </Confirm>
  )
}

function wordsOf(action: Verb, keys: number): string {
  const its = keys === 0 ? 'It has no key in use.' : `It has ${formatCounted(keys, 'key')}.`
  if (keys === 0 && action !== 'remove') return its
  switch (action) {
    case 'disable':
      return `${its} Requests with its keys are refused until it is enabled again; running answers end within half a second.`
    case 'enable':
      return `${its} Exactly those are accepted again that were in use when it was disabled.`
    case 'remove':
      return `${its} Its keys are revoked with it, and requests with them are refused at once. This cannot be undone.`
  }
}
