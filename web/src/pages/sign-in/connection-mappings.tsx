import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { useNames } from '../../app/queries.ts'
import { useReason } from '../../app/session.ts'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { Name } from '../../kit/content.tsx'
import { TextField } from '../../kit/field.tsx'
import { KeyValue, Stack } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { MappingEditor, SaveMappings, type Mappings } from './mapping-editor.tsx'
import type { Connection } from './queries.ts'

type Change = Schemas['MappingPreview']['data'][number]
type Props = { readonly organizationId: string; readonly connection: Connection }

/** What the groups that a provider names give whoever signs in. Nobody tells before which groups there are. */
export function ConnectionMappings({ organizationId, connection }: Props) {
  const params = { organizationId, connectionId: connection.id }
  const path = '/api/v1/organizations/{organizationId}/connections/{connectionId}/group-mappings'
  const query = useQuery({
    queryKey: ['connection-mappings', organizationId, connection.id],
    queryFn: ({ signal }) => api(`GET ${path}`, { params }, { signal }),
  })
  const [wanted, setWanted] = useState<Mappings | null>(null)
  const reason = useReason(organizationId, 'connections:update')
  const change = useChange(
    (body: { readonly data: Mappings }, options) => api(`PUT ${path}`, { params, body }, options),
    { touches: [['connection-mappings', organizationId, connection.id]], onDone: () => setWanted(null) },
  )
  return (
    <Loaded query={query} what="The mappings" rows={2}>
      {({ data }) => (
        <Stack>
          <p>
            The first group that somebody is in gives the role, and each its projects, whenever they sign in. Without
            one they are {connection.defaultRole}. Nobody becomes an owner by it.
          </p>
          <MappingEditor
            organizationId={organizationId}
            mappings={wanted ?? (data as Mappings)}
            groups={null}
            onChange={setWanted}
          />
          {reason === null && <Preview {...{ organizationId, connection }} mappings={wanted ?? (data as Mappings)} />}
          <SaveMappings
            isChanged={wanted !== null}
            reason={reason}
            change={change}
            onSave={() => (wanted === null ? undefined : void change.run({ data: wanted }))}
            onLeave={() => setWanted(null)}
          />
        </Stack>
      )}
    </Loaded>
  )
}

/** What typed groups make of somebody, and whom the mappings change at their next sign-in. */
function Preview({ organizationId, connection, mappings }: Props & { readonly mappings: Mappings }) {
  const [typed, setTyped] = useState('')
  const groups = typed
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const nameOf = useNames(organizationId)
  const text = JSON.stringify(mappings)
  const params = { organizationId, connectionId: connection.id }
  const path = '/api/v1/organizations/{organizationId}/connections/{connectionId}/group-mappings/preview'
  const query = useQuery({
    queryKey: ['connection-preview', organizationId, connection.id, text, groups.join(',')],
    queryFn: ({ signal }) =>
      api(
        `GET ${path}`,
        { params, query: { mappings: text, ...(groups.length > 0 && { group: groups }) } },
        { signal },
      ),
  })
  const columns: readonly Column<Change>[] = [
    { key: 'who', head: 'Whom it changes', cell: ({ name }) => <Name>{name}</Name> },
    { key: 'groups', head: 'Last named', phone: 'off', cell: ({ groups: named }) => <Name>{named.join(', ')}</Name> },
    { key: 'from', head: 'From', cell: ({ roleBefore }) => roleBefore },
    { key: 'to', head: 'To', cell: ({ roleAfter }) => roleAfter },
    {
      key: 'projects',
      head: 'Projects',
      cell: ({ opened, closed }) => {
        const words = [...opened.map((id) => `opens ${nameOf(id)}`), ...closed.map((id) => `closes ${nameOf(id)}`)]
        return <Name>{words.length === 0 ? 'as before' : words.join(', ')}</Name>
      },
    },
  ]
  return (
    <Stack>
      <TextField
        label="Try groups"
        autoComplete="off"
        placeholder="engineers, leads"
        hint="As the provider would name them, with commas between them."
        value={typed}
        onText={setTyped}
      />
      <Loaded query={query} what="The preview" rows={2}>
        {({ made, data }) => (
          <>
            {made !== null && (
              <KeyValue
                rows={[
                  ['They are', made.role],
                  ['In projects', made.projectIds.map(nameOf).join(', ') || 'of no mapping'],
                  ['They may', `${made.permissions.length} things: ${made.permissions.join(', ')}`],
                ]}
              />
            )}
            {data.length === 0 ? (
              <p>Of those who have signed in before it changes nobody.</p>
            ) : (
              <Table name="Whom mappings change" columns={columns} items={data} keyOf={({ id }) => id} />
            )}
          </>
        )}
      </Loaded>
    </Stack>
  )
}
