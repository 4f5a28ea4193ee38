import type { ReactNode } from 'react'
import type { Schemas } from '../../api/types.ts'
import { formatBytes, formatCount, formatCounted, formatDuration, formatShare } from '../../format/figures.ts'
import { Button } from '../../kit/button.tsx'
import { Id } from '../../kit/content.tsx'
import { Bar } from '../../kit/figures.tsx'
import { Badge, Banner, Card, KeyValue, Row, Stack, StateTag, type Mood } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import type { LoadedFile } from '../../app/weights/queries.ts'

type Waiting = LoadedFile['upcoming'][number]
type ModelId = Schemas['ModelStatus']['id']

const moods: Readonly<Record<LoadedFile['state'], Mood>> = {
  ready: 'good',
  loading: 'info',
  asleep: 'off',
  down: 'bad',
  closed: 'off',
}

type Props = {
  readonly file: LoadedFile
  /** Why other weights cannot be chosen by this reader; null where they can. */
  readonly reason: string | null
  readonly onUse: (model: ModelId) => void
}

/** One loaded file: models may share one. */
export function FileCard({ file, reason, onUse }: Props) {
  const { models, state, weights, loading, upcoming } = file
  return (
    <Card
      title={models.length === 0 ? 'Old weights' : models.join(', ')}
      actions={<StateTag mood={moods[state]}>{models.length === 0 ? 'ending' : state}</StateTag>}
    >
      <Stack>
        {models.length === 0 && <p>{wordsOfRest(file.running)}</p>}
        {file.reason !== null && <Banner kind="bad">{file.reason}</Banner>}
        {loading !== null && <Loading loading={loading} />}
        {weights.isBuiltIn && models.length > 0 && (
          <Banner>These are the starter weights: they answer, and know little. Fetch larger ones for real work.</Banner>
        )}
        <KeyValue rows={[...weightsRows(file), ...workRows(file)]} />
        {upcoming.length > 0 && <WaitingTable waiting={upcoming} />}
        {models.length > 0 && <Choices file={file} reason={reason} onUse={onUse} />}
      </Stack>
    </Card>
  )
}

function wordsOfRest(running: number): string {
  if (running === 0) return 'They are let go of.'
  return `${formatCount(running)} ${running === 1 ? 'answer that has' : 'answers that have'} begun with them still ${running === 1 ? 'runs' : 'run'}.`
}

/** A model whose weights the config file names is read-only here, and says so. */
function Choices({ file: { models, weights }, reason, onUse }: Props) {
  return (
    <Row>
      {models.map((model) => {
        const isFixed = weights.fixedByConfig.includes(model)
        const why = isFixed ? `The config file names the weights of ${model}; they are changed there.` : reason
        return (
          <Button key={model} isSmall reason={why} onClick={() => onUse(model)}>
            Other weights for {model}
          </Button>
        )
      })}
    </Row>
  )
}

function Loading({ loading: { share, readyInMs } }: { readonly loading: NonNullable<LoadedFile['loading']> }) {
  return (
    <p>
      Loading: {formatShare(share)}
      {readyInMs !== null && `, ready in about ${formatDuration(readyInMs)}`}
      <Bar share={Math.min(share, 0.79)} />
    </p>
  )
}

function weightsRows({ weights, enginePid, windowTokens }: LoadedFile): readonly (readonly [string, ReactNode])[] {
  return [
    [
      'Weights',
      <Row key="file">
        <code style={{ overflowWrap: 'anywhere' }}>{weights.name}</code> {formatBytes(weights.bytes)}{' '}
        {weights.isBuiltIn && <Badge>starter weights</Badge>}
        {weights.fixedByConfig.length > 0 && <Badge>named in the config file</Badge>}
      </Row>,
    ],
    ...(weights.source === null ? [] : [['Fetched from', <bdi key="source">{weights.source}</bdi>] as const]),
    ...(weights.sha256 === null
      ? []
      : [['SHA-256', <code key="hash" title={weights.sha256}>{`${weights.sha256.slice(0, 16)}…`}</code>] as const]),
    ['Window', windowTokens === null ? 'not known yet' : formatCounted(windowTokens, 'token')],
    ['Process', enginePid === null ? 'not running' : `${enginePid}`],
  ]
}

function workRows({ slots, running, waiting, oldestWaitMs }: LoadedFile): readonly (readonly [string, ReactNode])[] {
  const waits = waiting === 0 ? 'nobody' : `${formatCount(waiting)}, the longest for ${formatDuration(oldestWaitMs)}`
  return [
    [
      'Answering',
      <span key="slots">
        {formatCount(running)} of {formatCount(slots)} slots
        <Bar share={slots === 0 ? 0 : Math.min(0.79, running / slots)} />
      </span>,
    ],
    ['Waiting', waits],
  ]
}

function WaitingTable({ waiting }: { readonly waiting: readonly Waiting[] }) {
  const columns: readonly Column<Waiting>[] = [
    { key: 'position', head: 'Position', cell: ({ position }) => formatCount(position) },
    { key: 'request', head: 'Request', cell: ({ requestId }) => <Id id={requestId} /> },
    { key: 'organization', head: 'Organization', cell: ({ organizationId }) => <Id id={organizationId} /> },
    { key: 'key', head: 'Key', cell: ({ apiKeyId }) => <Id id={apiKeyId} /> },
    { key: 'model', head: 'Model', isOneLine: true, cell: ({ model }) => model },
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
