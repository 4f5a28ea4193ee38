import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, type AnswerOf } from '../../api/client.ts'
import type { MenuEntry } from '../../kit/layers.tsx'
import { formatCounted } from '../../format/figures.ts'
import { Confirm } from '../confirm.tsx'
import type { Member } from '../queries.ts'
import { useGrantReason, useReason } from '../session.ts'
import { useChange } from '../use-change.ts'
import { ChangeDrawer, type MemberProps } from './change-drawer.tsx'

export type MemberAction = 'change' | 'suspend' | 'restore' | 'remove'
type Consequences = AnswerOf<'GET /api/v1/organizations/{organizationId}/members/{memberId}/consequences'>

export function stateOf({ removedAt, suspendedAt }: Member): 'active' | 'suspended' | 'removed' {
  return removedAt !== null ? 'removed' : suspendedAt !== null ? 'suspended' : 'active'
}

type Entries = (member: Member, act: (action: MemberAction) => void) => readonly MenuEntry[]

/** What it would lead to if a member were removed or suspended. */
export const consequencesQuery = (params: { readonly organizationId: string; readonly memberId: string }) =>
  queryOptions({
    queryKey: ['member', params.organizationId, params.memberId, 'consequences'],
    queryFn: ({ signal }) =>
      api('GET /api/v1/organizations/{organizationId}/members/{memberId}/consequences', { params }, { signal }),
  })

/** What may be done to a member, with the reason where it may not. */
export function useMemberEntries(organizationId: string, members: readonly Member[]): Entries {
  const updateReason = useReason(organizationId, 'members:update')
  const removeReason = useReason(organizationId, 'members:remove')
  const grantUpdate = useGrantReason(organizationId, 'members:update')
  const grantRemove = useGrantReason(organizationId, 'members:remove')
  const owners = members.filter((member) => member.role === 'owner' && stateOf(member) === 'active')
  return (member, act) => {
    const isLast = owners.length === 1 && owners[0]?.id === member.id
    const isSuspended = stateOf(member) === 'suspended'
    const above = `${member.name} may do more than you: somebody who gives the role ${member.role} does this.`
    const update = updateReason ?? (grantUpdate(member.role) === null ? null : above)
    const remove = removeReason ?? (grantRemove(member.role) === null ? null : above)
    const entry = (label: string, action: MemberAction, reason: string | null, isBad = false): MenuEntry => {
      return { kind: 'action', label, reason, isBad, act: () => act(action) }
    }
    return [
      entry('Role and projects…', 'change', update),
      isSuspended
        ? entry('Restore…', 'restore', update)
        : entry('Suspend…', 'suspend', isLast ? 'The last owner cannot be suspended.' : update),
      entry('Remove…', 'remove', isLast ? 'The last owner cannot be removed.' : remove, true),
    ]
  }
}

type Props = MemberProps & { readonly action: MemberAction }

export function MemberActionDialog({ action, ...props }: Props) {
  return action === 'change' ? <ChangeDrawer {...props} /> : <Ask {...props} action={action} />
}

const verbs = { suspend: 'Suspend', restore: 'Restore', remove: 'Remove' } as const

type AskProps = MemberProps & { readonly action: Exclude<MemberAction, 'change'> }

function Ask({ organizationId, member, action, onClose }: AskProps) {
  const params = { organizationId, memberId: member.id }
  const consequences = useQuery(consequencesQuery(params))
  const change = useChange(
    async (_: null) => {
      if (action === 'remove') await api('DELETE /api/v1/organizations/{organizationId}/members/{memberId}', { params })
      else await api(`POST /api/v1/organizations/{organizationId}/members/{memberId}/${action}`, { params })
    },
    {
      touches: [
        ['members', organizationId],
        ['member', organizationId],
        ['keys', organizationId],
      ],
      onDone: onClose,
    },
  )
  return (
    <Confirm
      title={`${verbs[action]} ${member.name}`}
      verb={`${verbs[action]} member`}
      isBad={action !== 'restore'}
      {...(action === 'remove' && { typedName: member.name })}
      change={change}
      onClose={onClose}
      onConfirm={() => void change.run(null)}
    >
      {consequences.data === undefined ? 'Reading what it leads to …' : wordsOf(action, consequences.data)}
    </Confirm>
  )
}

/** What follows, with the figures of this very member. */
function wordsOf(action: AskProps['action'], found: Consequences): string {
  const { keysOwned, keysMadeForOthers, managementKeysMade, sessions, agents } = found
  const keys = count(keysOwned.length, 'key')
  if (action === 'restore')
    return `They are let in again, and ${keys} of theirs ${be(keysOwned.length)} accepted again.`
  const ended = endedWords({ sessions, agents })
  const stays = keysMadeForOthers.length + managementKeysMade.length
  const rest =
    stays === 0
      ? ''
      : ` ${count(stays, 'key')} that they made for others ${stays === 1 ? 'stays' : 'stay'}: look at them.`
  const fate = action === 'remove' ? 'revoked, which cannot be undone' : 'refused until they are restored'
  return `${keys} of theirs ${be(keysOwned.length)} ${fate}. ${ended}; running answers end within half a second.${rest}`
}

/** What of them ends, as the beginning of a sentence. */
export function endedWords({ sessions, agents }: Pick<Consequences, 'sessions' | 'agents'>): string {
  const ended = `${count(sessions, 'session')} ${be(sessions)} ended`
  return agents === 0 ? ended : `${ended} and ${count(agents, 'coding agent')} ${be(agents)} signed out`
}

function count(number: number, word: string): string {
  return number === 0 ? `No ${word}` : formatCounted(number, word)
}

function be(number: number): string {
  return number > 1 ? 'are' : 'is'
}
