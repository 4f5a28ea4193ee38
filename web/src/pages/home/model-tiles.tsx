import { formatCount, formatCounted, formatDuration } from '../../format/figures.ts'
import { Card, Grid, KeyValue, StateTag, type Mood } from '../../kit/page.tsx'
import type { Overview } from './overview.ts'

const moods: Readonly<Record<string, Mood>> = {
  ready: 'good',
  loading: 'info',
  asleep: 'off',
  down: 'bad',
  closed: 'off',
}

type Props = Pick<Overview, 'models'> & {
  /** Whether the reader may see what is asked, by which the times are counted. */
  readonly seesRequests: boolean
}

/** The models as the service has them. Who runs the installation also sees how much they have to do. */
export function ModelTiles({ models, seesRequests }: Props) {
  return (
    <Grid>
      {models.map(({ id, state, windowTokens, running, waiting, firstTokenMs }) => (
        <Card key={id} title={id} actions={<StateTag mood={moods[state] ?? 'off'}>{state}</StateTag>}>
          <KeyValue
            rows={[
              ['Window', formatCounted(windowTokens, 'token')],
              ...(running === null ? [] : [['Answering', formatCount(running)] as const]),
              ...(waiting === null ? [] : [['Waiting', formatCount(waiting)] as const]),
              ...(seesRequests ? [['First token, 1 h', wordsOfTimes(firstTokenMs)] as const] : []),
            ]}
          />
        </Card>
      ))}
    </Grid>
  )
}

function wordsOfTimes(times: Overview['models'][number]['firstTokenMs']): string {
  if (times === null) return 'no requests'
  return `${formatDuration(times.p50)}, 1 in 20 after ${formatDuration(times.p95)}`
}
