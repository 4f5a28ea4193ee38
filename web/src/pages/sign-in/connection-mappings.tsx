import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { useReason } from '../../app/session.ts'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { Stack } from '../../kit/page.tsx'
import { MappingEditor, SaveMappings, type Mappings } from './mapping-editor.tsx'
import type { Connection } from './queries.ts'

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
