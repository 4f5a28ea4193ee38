import { useQuery } from '@tanstack/react-query'
import { modelsQuery } from '../../app/queries.ts'
import { Loaded } from '../../app/states.tsx'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { formatBytes, formatCount, formatDuration, formatShare } from '../../format/figures.ts'
import { Code, Id } from '../../kit/content.tsx'
import { Bar, Badge, Banner, Card, KeyValue, Page as Frame, Row, Stack, StateTag, type Mood } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'

type Weights = Schemas['LoadedWeights']
type Queue = Schemas['Queue']
type Waiting = Queue['upcoming'][number]
const everyMs = 2_000
const moods: Readonly<Record<Weights['state'], Mood>> = { ready: 'good', loading: 'info', down: 'bad', closed: 'off' }

/** What is loaded, who is being answered and who waits. */
export function Page() {
  const models = useQuery({ ...modelsQuery, refetchInterval: everyMs })
  const weights = useQuery({
    queryKey: ['weights'],
    queryFn: ({ signal }) => api('GET /api/v1/weights', {}, { signal }),
    refetchInterval: everyMs,
    retry: false,
  })
  return (
    <Frame title="Models and engines" said="Read anew every 2 seconds.">
      <Loaded query={models} what="The models">
        {({ models: known, queues }) => <Files models={known} queues={queues} weights={weights.data?.data ?? []} />}
      </Loaded>
      <Card title="Other weights">
        <Stack>
          <p>
            Weights are chosen on this machine: the command fetches them, checks them and swaps them while requests go
            on.
          </p>
          <Code label="Shell" text="npx odyssey models pull clarke-1.0 owner/repo/file.gguf" />
        </Stack>
      </Card>
    </Frame>
  )
}

type FilesProps = {
  readonly models: readonly Schemas['ModelStatus'][]
  readonly queues: readonly Queue[]
  readonly weights: readonly Weights[]
}

/** One card for each loaded file: models may share one. */
function Files({ models, queues, weights }: FilesProps) {
  return (
    <Stack>
      {queues.map((queue) => {
        const own = models.filter(({ id }) => queue.models.includes(id))
        const file = weights.find(({ model }) => queue.models.includes(model))
        return (
          <Card
            key={queue.models.join(' ')}
            title={queue.models.join(', ')}
            actions={own[0] !== undefined && <StateTag mood={moods[own[0].state]}>{own[0].state}</StateTag>}
          >
            <Stack>
              {typeof file?.reason === 'string' && <Banner kind="bad">{file.reason}</Banner>}
              {file !== undefined && file.loading !== null && <Loading loading={file.loading} />}
              <KeyValue
                rows={[
                  ...fileRows(file),
                  ['Window', `${formatCount(own[0]?.windowTokens ?? 0)} tokens`],
                  ['Answering', <Slots key="slots" queue={queue} />],
                  [
                    'Waiting',
                    queue.waiting === 0
                      ? 'nobody'
                      : `${formatCount(queue.waiting)}, the longest for ${formatDuration(queue.oldestWaitMs)}`,
                  ],
                ]}
              />
              {queue.upcoming.length > 0 && <WaitingTable waiting={queue.upcoming} />}
            </Stack>
          </Card>
        )
      })}
    </Stack>
  )
}

function Loading({ loading: { share, readyInMs } }: { readonly loading: NonNullable<Weights['loading']> }) {
  return (
    <p>
      Loading: {formatShare(share)}
      {readyInMs !== null && `, ready in about ${formatDuration(readyInMs)}`}
      <Bar share={Math.min(share, 0.79)} />
    </p>
  )
}

function fileRows(file: Weights | undefined): readonly (readonly [string, React.ReactNode])[] {
  if (file === undefined) return []
  return [
    [
      'Weights',
      <Row key="file">
        <code style={{ overflowWrap: 'anywhere' }}>{file.path.split(/[\\/]/).at(-1)}</code> {formatBytes(file.bytes)}{' '}
        {file.isBuiltIn && <Badge>starter weights</Badge>}
      </Row>,
    ],
    ['Process', file.enginePid === null ? 'not running' : `${file.enginePid}`],
  ]
}

function Slots({ queue: { running, slots } }: { readonly queue: Queue }) {
  return (
    <span>
      {formatCount(running)} of {formatCount(slots)} slots
      <Bar share={slots === 0 ? 0 : Math.min(0.79, running / slots)} />
    </span>
  )
}

function WaitingTable({ waiting }: { readonly waiting: readonly Waiting[] }) {
  const columns: readonly Column<Waiting>[] = [
    { key: 'position', head: 'Position', cell: ({ position }) => formatCount(position) },
    { key: 'request', head: 'Request', cell: ({ requestId }) => <Id id={requestId} /> },
    { key: 'model', head: 'Model', cell: ({ model }) => model },
    { key: 'key', head: 'Key', cell: ({ apiKeyId }) => <Id id={apiKeyId} /> },
    {
      key: 'tokens',
      head: 'Input',
      isRight: true,
      cell: ({ inputTokens }) => (inputTokens === null ? '–' : formatCount(inputTokens)),
    },
    { key: 'waited', head: 'Waited', isRight: true, phone: 'side', cell: ({ waitedMs }) => formatDuration(waitedMs) },
  ]
  return <Table name="Who waits" columns={columns} items={waiting} keyOf={({ requestId }) => requestId} />
}
