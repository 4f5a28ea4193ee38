import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { modelChoices, type ModelId } from '../../app/models.ts'
import { useKeyList } from '../../app/queries.ts'
import { Loaded } from '../../app/states.tsx'
import { SubjectName, useSubjectName } from '../../app/subject-name.tsx'
import { formatCount, formatDuration } from '../../format/figures.ts'
import { Select } from '../../kit/field.tsx'
import { Bar } from '../../kit/figures.tsx'
import { Card, Row, Stack, StateTag } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'

type Standing = Schemas['LimitStanding']
const everyMs = 5_000

const standingQuery = (organizationId: string, apiKeyId: string, model: ModelId | null) =>
  queryOptions({
    queryKey: ['limits', organizationId, 'standing', apiKeyId, model],
    queryFn: ({ signal }) =>
      api(
        'GET /api/v1/organizations/{organizationId}/api-keys/{apiKeyId}/limits',
        { params: { organizationId, apiKeyId }, query: model === null ? {} : { model } },
        { signal, isBackground: true },
      ),
    staleTime: 1_000,
    refetchInterval: everyMs,
  })

const kinds: Readonly<Record<Standing['kind'], string>> = {
  'input-tokens': 'Input tokens a minute',
  'output-tokens': 'Output tokens a minute',
  requests: 'Requests a minute',
  concurrency: 'Requests at a time',
}

type Props = {
  readonly organizationId: string
  readonly apiKeyId: string
  readonly model: string
  readonly onChange: (changes: { readonly key?: string; readonly model?: string }) => void
}

/** Every limit that a key's requests come under, as it stands now, those that would refuse first on top. */
export function WhichBinds({ organizationId, apiKeyId, model, onChange }: Props) {
  const keys = useKeyList(organizationId).filter(({ state }) => state === 'active')
  const known = modelChoices.find(({ value }) => value === model)?.value ?? null
  return (
    <Card title="Which limit binds?">
      <Stack>
        <Row>
          <Select
            isInline
            label="Key"
            value={apiKeyId}
            choices={[
              { value: '', label: 'Choose a key' },
              ...keys.map(({ id, name, lastFour }) => ({ value: id, label: `${name} (…${lastFour})` })),
            ]}
            onChoice={(key) => onChange({ key })}
          />
          <Select
            isInline
            label="Model"
            value={model}
            choices={[{ value: '', label: 'Any' }, ...modelChoices]}
            onChoice={(chosen) => onChange({ model: chosen })}
          />
        </Row>
        {apiKeyId === '' ? (
          <p>Choose a key, and see every limit that its requests come under with what is left of each.</p>
        ) : (
          <Standings organizationId={organizationId} apiKeyId={apiKeyId} model={known} />
        )}
      </Stack>
    </Card>
  )
}

type StandingsProps = { readonly organizationId: string; readonly apiKeyId: string; readonly model: ModelId | null }

function Standings({ organizationId, apiKeyId, model }: StandingsProps) {
  const query = useQuery(standingQuery(organizationId, apiKeyId, model))
  const nameOf = useSubjectName(organizationId)
  const columns: readonly Column<Standing>[] = [
    { key: 'kind', head: 'Limit', cell: ({ kind }) => kinds[kind] },
    { key: 'subject', head: 'Of', cell: ({ subject }) => <SubjectName {...nameOf(subject)} /> },
    {
      key: 'model',
      head: 'Model',
      isOneLine: true,
      phone: 'off',
      cell: ({ model: of }) => (of === '*' ? 'all together' : of),
    },
    { key: 'state', head: 'Effect', phone: 'side', cell: (standing) => <Effect standing={standing} /> },
    {
      key: 'left',
      head: 'Left now',
      isRight: true,
      cell: ({ remaining, limit }) => (
        <>
          {formatCount(remaining)} of {formatCount(limit)}
          <Bar share={limit === 0 ? 1 : 1 - remaining / limit} />
        </>
      ),
    },
    {
      key: 'full',
      head: 'Full again',
      isRight: true,
      phone: 'off',
      cell: ({ fullInMs, kind }) =>
        kind === 'concurrency'
          ? 'as requests end'
          : fullInMs === null || fullInMs === 0
            ? 'now'
            : `in ${formatDuration(fullInMs)}`,
    },
  ]
  return (
    <Loaded query={query} what="The limits of the key" rows={3}>
      {({ data }) =>
        data.length === 0 ? (
          <p>Nothing holds this key back: no limit of its own, of its project or of its organization.</p>
        ) : (
          <Table
            name="Limits that apply, the binding ones first"
            columns={columns}
            items={data.toSorted((one, other) => Number(other.isBinding) - Number(one.isBinding))}
            keyOf={({ kind, subject, model: of, setBy }) => `${kind} ${subject.id} ${of} ${setBy}`}
          />
        )
      }
    </Loaded>
  )
}

function Effect({ standing: { isBinding, isEnforced, remaining } }: { readonly standing: Standing }) {
  if (!isEnforced) return <StateTag mood="off">Shown only</StateTag>
  if (!isBinding) return <StateTag mood="off">Not reached first</StateTag>
  return remaining === 0 ? <StateTag mood="bad">Refuses now</StateTag> : <StateTag mood="info">Binds</StateTag>
}
