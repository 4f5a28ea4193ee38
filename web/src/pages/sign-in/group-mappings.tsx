import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api, type BodyOf } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { useReason } from '../../app/session.ts'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Name } from '../../kit/content.tsx'
import { Select } from '../../kit/field.tsx'
import { Row, Stack } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'

type Directory = Schemas['Directory']
type Group = Schemas['DirectoryGroup']
type Props = { readonly organizationId: string; readonly directory: Directory }
type Mappings = BodyOf<'PUT /api/v1/organizations/{organizationId}/directories/{directoryId}/group-mappings'>['data']
type MappedRole = Mappings[number]['role']

const choices = [
  { value: '', label: 'Nothing' },
  { value: 'admin', label: 'Admin' },
  { value: 'developer', label: 'Developer' },
  { value: 'billing', label: 'Billing' },
  { value: 'auditor', label: 'Auditor' },
] as const satisfies readonly { readonly value: MappedRole | ''; readonly label: string }[]

/** What the groups of a directory give their members, and whom a change of that would change. */
export function GroupMappings({ organizationId, directory }: Props) {
  const params = { organizationId, directoryId: directory.id }
  const groups = useQuery({
    queryKey: ['directory-groups', organizationId, directory.id],
    queryFn: ({ signal }) =>
      api('GET /api/v1/organizations/{organizationId}/directories/{directoryId}/groups', { params }, { signal }),
  })
  const known = useQuery({
    queryKey: ['directory-mappings', organizationId, directory.id],
    queryFn: ({ signal }) =>
      api(
        'GET /api/v1/organizations/{organizationId}/directories/{directoryId}/group-mappings',
        { params },
        { signal },
      ),
  })
  return (
    <Loaded query={groups} what="The groups" rows={2}>
      {({ data }) => (
        <Loaded query={known} what="The mappings" rows={2}>
          {(mappings) =>
            data.length === 0 ? (
              <p>It has pushed no group yet.</p>
            ) : (
              <Editor {...{ organizationId, directory }} groups={data} known={mappings.data as Mappings} />
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
}: Props & { readonly groups: readonly Group[]; readonly known: Mappings }) {
  const params = { organizationId, directoryId: directory.id }
  const [wanted, setWanted] = useState<Mappings | null>(null)
  const mappings = wanted ?? known
  const reason = useReason(organizationId, 'directories:update')
  const change = useChange(
    (body: { readonly data: Mappings }, options) =>
      api(
        'PUT /api/v1/organizations/{organizationId}/directories/{directoryId}/group-mappings',
        { params, body },
        options,
      ),
    {
      touches: [['directory-mappings', organizationId, directory.id], ['members']],
      onDone: () => setWanted(null),
    },
  )
  const choose = (group: string, role: MappedRole | '') => {
    const others = mappings.filter((one) => one.group !== group)
    const own = mappings.find((one) => one.group === group)
    setWanted(role === '' ? others : [...others, { group, projectIds: own?.projectIds ?? [], role }])
  }
  const columns: readonly Column<Group>[] = [
    { key: 'name', head: 'Group', cell: ({ name }) => <Name>{name}</Name> },
    { key: 'members', head: 'Users', cell: ({ members }) => members },
    {
      key: 'gives',
      head: 'Gives',
      cell: ({ name }) => (
        <Select
          label={`What ${name} gives`}
          isInline
          value={mappings.find(({ group }) => group === name)?.role ?? ''}
          choices={choices}
          onChoice={(role) => choose(name, role)}
        />
      ),
    },
  ]
  return (
    <Stack>
      <Table name="Groups" columns={columns} items={groups} keyOf={({ id }) => id} />
      <ChangeProblem problem={change.problem} />
      {wanted !== null && <Preview {...{ organizationId, directory }} mappings={wanted} />}
      <Row>
        <Button
          look="primary"
          isBusy={change.isBusy}
          reason={reason ?? (wanted === null ? 'Nothing was changed.' : null)}
          onClick={() => (wanted === null ? undefined : void change.run({ data: wanted }))}
        >
          Save mappings
        </Button>
      </Row>
    </Stack>
  )
}

function Preview({ organizationId, directory, mappings }: Props & { readonly mappings: Mappings }) {
  const params = { organizationId, directoryId: directory.id }
  const text = JSON.stringify(mappings)
  const query = useQuery({
    queryKey: ['directory-preview', organizationId, directory.id, text],
    queryFn: ({ signal }) =>
      api(
        'GET /api/v1/organizations/{organizationId}/directories/{directoryId}/group-mappings/preview',
        { params, query: { mappings: text } },
        { signal },
      ),
  })
  const columns: readonly Column<Schemas['MappingChange']>[] = [
    { key: 'who', head: 'Whom it changes', cell: ({ name }) => <Name>{name}</Name> },
    { key: 'from', head: 'From', cell: ({ roleBefore }) => roleBefore },
    { key: 'to', head: 'To', cell: ({ roleAfter }) => roleAfter },
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
