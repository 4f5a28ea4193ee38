import { api } from '../../api/client.ts'
import { ChangeProblem } from '../change-problem.tsx'
import { useChange } from '../use-change.ts'
import { formatBytes, formatDuration, formatShare } from '../../format/figures.ts'
import { Button } from '../../kit/button.tsx'
import { Time } from '../../kit/content.tsx'
import { Bar } from '../../kit/figures.tsx'
import { Card, Disclosure, Row, Stack, StateTag, type Mood } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { touched, type Job } from './queries.ts'

const states: Readonly<Record<Job['state'], readonly [string, Mood]>> = {
  'under-way': ['under way', 'info'],
  done: ['done', 'good'],
  failed: ['failed', 'bad'],
  cancelled: ['stopped', 'off'],
}

const phases: Readonly<Record<Job['phase'], string>> = {
  waiting: 'Waits its turn',
  fetching: 'Fetching',
  checking: 'Checking the hash',
  loading: 'Loading beside the old weights, then one answer as a test',
  over: 'Over',
}

/** What is done with weights now, and what was done lately. */
export function JobList({ jobs, reason }: { readonly jobs: readonly Job[]; readonly reason: string | null }) {
  const running = jobs.filter(({ state }) => state === 'under-way')
  const over = jobs.filter(({ state }) => state !== 'under-way')
  const [latest] = over
  if (jobs.length === 0) return null
  return (
    <Card title="Work on weights">
      <Stack>
        {running.map((job) => (
          <RunningJob key={job.id} job={job} reason={reason} />
        ))}
        {running.length === 0 && latest !== undefined && <Latest job={latest} />}
        {over.length > 0 && (
          <Disclosure title={`What was done lately (${over.length})`}>
            <History jobs={over} />
          </Disclosure>
        )}
      </Stack>
    </Card>
  )
}

function RunningJob({ job, reason }: { readonly job: Job; readonly reason: string | null }) {
  const { id, phase, bytesDone, bytesTotal, bytesPerSecond } = job
  const change = useChange(
    (_: null, options) =>
      api('POST /api/v1/installation/jobs/{jobId}/cancel', { params: { jobId: id as `job_${string}` } }, options),
    { touches: touched },
  )
  const isFetching = phase === 'fetching' || phase === 'checking'
  const share = bytesTotal === null || bytesTotal === 0 ? null : bytesDone / bytesTotal
  return (
    <section aria-label={titleOf(job)}>
      <ChangeProblem problem={change.problem} />
      <Row>
        <strong style={{ overflowWrap: 'anywhere' }}>{titleOf(job)}</strong>
        {phase !== 'loading' && (
          <Button isSmall icon="stop" isBusy={change.isBusy} reason={reason} onClick={() => void change.run(null)}>
            Stop
          </Button>
        )}
      </Row>
      <p role="status">
        {phases[phase]}
        {isFetching && bytesTotal !== null && `: ${formatBytes(bytesDone)} of ${formatBytes(bytesTotal)}`}
        {isFetching && share !== null && `, ${formatShare(share)}`}
        {isFetching && bytesPerSecond !== null && `, ${formatBytes(bytesPerSecond)} a second${timeLeft(job)}`}
      </p>
      {isFetching && share !== null && <Bar share={Math.min(0.79, share)} />}
    </section>
  )
}

function timeLeft({ bytesDone, bytesTotal, bytesPerSecond }: Job): string {
  if (bytesTotal === null || bytesPerSecond === null || bytesPerSecond < 1) return ''
  return `, about ${formatDuration(((bytesTotal - bytesDone) / bytesPerSecond) * 1_000)} left`
}

function Latest({ job }: { readonly job: Job }) {
  const [word, mood] = states[job.state]
  return (
    <div>
      <Row>
        <StateTag mood={mood}>{word}</StateTag>
        <strong style={{ overflowWrap: 'anywhere' }}>{titleOf(job)}</strong>
      </Row>
      {job.message !== '' && <p style={{ overflowWrap: 'anywhere' }}>{job.message}</p>}
    </div>
  )
}

function titleOf({ kind, source, model }: Job): string {
  if (kind === 'use') return `${model ?? ''} gets ${source}`
  return model === null ? `Fetch ${source}` : `Fetch ${source} for ${model}`
}

function History({ jobs }: { readonly jobs: readonly Job[] }) {
  const columns: readonly Column<Job>[] = [
    { key: 'what', head: 'What', cell: (job) => <span style={{ overflowWrap: 'anywhere' }}>{titleOf(job)}</span> },
    {
      key: 'state',
      head: 'State',
      phone: 'side',
      cell: ({ state }) => <StateTag mood={states[state][1]}>{states[state][0]}</StateTag>,
    },
    { key: 'message', head: 'What came of it', cell: ({ message }) => message },
    { key: 'at', head: 'Ended', cell: ({ endedAt }) => (endedAt === null ? '–' : <Time at={endedAt} />) },
  ]
  return <Table name="What was done lately" columns={columns} items={jobs} keyOf={({ id }) => id} />
}
