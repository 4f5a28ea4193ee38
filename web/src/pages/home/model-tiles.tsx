import { formatCount, formatDuration } from '../../format/figures.ts'
import { Card, Grid, KeyValue, StateTag, type Mood } from '../../kit/page.tsx'
import type { Overview } from './overview.ts'

const moods: Readonly<Record<string, Mood>> = {
  ready: 'good',
  loading: 'info',
  asleep: 'off',
  down: 'bad',
  closed: 'off',
}

/** The models as the service has them. Who runs the installation also sees how much they have to do. */
export function ModelTiles({ models }: Pick<Overview, 'models'>) {
  return (
    <Grid>
      {models.map(({ id, state, windowTokens, running, waiting, firstTokenMs }) => (
        <Card key={id} title={id} actions={<StateTag mood={moods[state] ?? 'off'}>{state}</StateTag>}>
          <KeyValue
            rows={[
              ['Window', `${formatCount(windowTokens)} tokens`],
              ...(running === null ? [] : [['Answering', formatCount(running)] as const]),
              ...(waiting === null ? [] : [['Waiting', formatCount(waiting)] as const]),
              [
                'First token, 1 h',
                firstTokenMs === null
                  ? 'no requests'
                  : `${formatDuration(firstTokenMs.p50)}, 1 in 20 after ${formatDuration(firstTokenMs.p95)}`,
              ],
            ]}
          />
        </Card>
      ))}
    </Grid>
  )
}
