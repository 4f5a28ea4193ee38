import { useQuery } from '@tanstack/react-query'
import { useReason } from '../../app/session.ts'
import { Name, Time } from '../../kit/content.tsx'
import { StateTag } from '../../kit/page.tsx'
import type { Column } from '../../kit/table.tsx'
import { ConnectDrawer } from './connect-drawer.tsx'
import { ConnectionDrawer } from './connection-drawer.tsx'
import { ListCard } from './list-card.tsx'
import { connectionsQuery, type Connection } from './queries.ts'

const kindWords = { oidc: 'OpenID Connect', saml: 'SAML 2.0' } as const

const columns: readonly Column<Connection>[] = [
  { key: 'name', head: 'Name', cell: ({ name }) => <Name>{name}</Name> },
  { key: 'kind', head: 'By', cell: ({ kind }) => kindWords[kind] },
  { key: 'state', head: 'State', phone: 'side', cell: (connection) => <State connection={connection} /> },
  {
    key: 'tested',
    head: 'Tried',
    cell: ({ testedAt }) => (testedAt === null ? 'Never' : <Time at={testedAt} isAgo />),
  },
]

/** The identity providers by which members sign in. */
export function Connections({ organizationId }: { readonly organizationId: string }) {
  const query = useQuery(connectionsQuery(organizationId))
  const reason = useReason(organizationId, 'connections:create')
  return (
    <ListCard
      title="Identity providers"
      what="The connections"
      none="None yet: members sign in with passkeys or passwords of their own."
      verb="Connect"
      reason={reason}
      query={query}
      columns={columns}
      adding={({ onClose, onShow }) => (
        <ConnectDrawer organizationId={organizationId} onClose={onClose} onMade={onShow} />
      )}
      opened={(connection, onClose) => (
        <ConnectionDrawer organizationId={organizationId} connection={connection} onClose={onClose} />
      )}
    />
  )
}

function State({ connection: { state, enforcedAt } }: { readonly connection: Connection }) {
  if (enforcedAt !== null) return <StateTag mood="good">The only way in</StateTag>
  if (state === 'on') return <StateTag mood="good">On</StateTag>
  return state === 'draft' ? <StateTag mood="info">Draft</StateTag> : <StateTag mood="off">Off</StateTag>
}
