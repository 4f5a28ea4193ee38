import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { useNames } from '../../app/queries.ts'
import { useReason } from '../../app/session.ts'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { Name } from '../../kit/content.tsx'
import { Stack } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { MappingEditor, SaveMappings, type KnownGroup, type Mappings } from './mapping-editor.tsx'

type Directory = Schemas['Directory']
type Props = { readonly organizationId: string; readonly directory: Directory }

const path = '/api/v1/organizations/{organizationId}/directories/{directoryId}'

/** What the groups of a directory give their members, and whom a change of that would change. */
export function GroupMappings({ organizationId, directory }: Props) {
  const params = { organizationId, directoryId: directory.id }
  const groups = useQuery({
    queryKey: ['directory-groups', organizationId, directory.id],
    queryFn: ({ signal }) => api(`GET ${path}/groups`, { params }, { signal }),
  })
  const known = useQuery({
    queryKey: ['directory-mappings', organizationId, directory.id],
    queryFn: ({ signal }) => api(`GET ${path}/group-mappings`, { params }, { signal }),
  })
  return (
    <Loaded query={groups} what="The groups" rows={2}>
      {({ data }) => (
        <Loaded query={known} what="The mappings" rows={2}>
          {(mappings) =>
            data.length + mappings.data.length === 0 ? (
              <p>It has pushed no group yet.</p>
            ) : (
              <Editor
                {...{ organizationId, directory }}
                groups={data.map(({ name, members }) => ({ name, users: members }))}
                known={mappings.data as Mappings}
              />
            )
          }
        </Loaded>
      )}
    </Loaded>
  )
}

function Editor({
  organizationId,
  directory,
  groups,
  known,
}: Props & { readonly groups: readonly KnownGroup[]; readonly known: Mappings }) {
  const params = { organizationId, directoryId: directory.id }
  const [wanted, setWanted] = useState<Mappings | null>(null)
  const reason = useReason(organizationId, 'directories:update')
  const change = useChange(
    (body: { readonly data: Mappings }, options) => api(`PUT ${path}/group-mappings`, { params, body }, options),
    {
      touches: [['directory-mappings', organizationId, directory.id], ['members']],
      onDone: () => setWanted(null),
    },
  )
  return (
    <Stack>
      <p>
        The first group that somebody is in gives the role, and each its projects, at once. Without one they are{' '}
        {directory.defaultRole}. Nobody becomes an owner by it.
      </p>
      <MappingEditor organizationId={organizationId} mappings={wanted ?? known} groups={groups} onChange={setWanted} />
      {wanted !== null && reason === null && <Preview {...{ organizationId, directory }} mappings={wanted} />}
      <SaveMappings
        isChanged={wanted !== null}
        reason={reason}
        change={change}
        onSave={() => (wanted === null ? undefined : void change.run({ data: wanted }))}
        onLeave={() => setWanted(null)}
      />
    </Stack>
  )
}

function Preview({ organizationId, directory, mappings }: Props & { readonly mappings: Mappings }) {
  const params = { organizationId, directoryId: directory.id }
  const nameOf = useNames(organizationId)
  const text = JSON.stringify(mappings)
  const query = useQuery({
    queryKey: ['directory-preview', organizationId, directory.id, text],
    queryFn: ({ signal }) =>
      api(`GET ${path}/group-mappings/preview`, { params, query: { mappings: text } }, { signal }),
  })
  const columns: readonly Column<Schemas['MappingChange']>[] = [
    { key: 'who', head: 'Whom it changes', cell: ({ name }) => <Name>{name}</Name> },
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
    <Loaded query={query} what="The preview" rows={2}>
      {({ data }) =>
        data.length === 0 ? (
          <p>It changes nobody at the moment.</p>
        ) : (
          <Table name="Preview" columns={columns} items={data} keyOf={({ id }) => id} />
        )
      }
    </Loaded>
  )
}
