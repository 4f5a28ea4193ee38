import { pagePath } from '../../app/paths.ts'
import { TimeBars } from '../../charts/time-bars.tsx'
import { formatCount, formatShortCount } from '../../format/figures.ts'
import { formatDay, formatHour } from '../../format/time.ts'
import { LinkButton } from '../../kit/button.tsx'
import { Card } from '../../kit/page.tsx'
import type { Overview } from './overview.ts'

type Minute = Overview['minutes'][number]

const parts = [
  {
    name: 'Finished',
    color: 'var(--series-1)',
    count: ({ requests, failed, aborted }: Minute) => requests - failed - aborted,
  },
  { name: 'Left by the client', color: 'var(--series-others)', count: ({ aborted }: Minute) => aborted },
  { name: 'Failed, ours', color: 'var(--bad)', count: ({ failed }: Minute) => failed },
] as const

type Props = { readonly organizationId: string; readonly minutes: readonly Minute[] }

/** The last sixty minutes, each by how its requests ended. */
export function LastHour({ organizationId, minutes }: Props) {
  const starts = minutes.map(({ startsAt }) => startsAt)
  return (
    <Card
      title="Requests by the minute, last 60 minutes"
      actions={
        <LinkButton isSmall href={pagePath('usage', { organizationId })}>
          Usage and cost
        </LinkButton>
      }
    >
      {minutes.every(({ requests }) => requests === 0) ? (
        <p>No requests in this time.</p>
      ) : (
        <TimeBars
          summary="Requests by the minute in the last hour, by how they ended. The page Requests lists them."
          labels={starts.map((start) => formatHour(start, 'UTC'))}
          titles={starts.map((start) => `${formatDay(start, 'UTC')} ${formatHour(start, 'UTC')}, UTC`)}
          series={parts.map(({ name, color, count }) => {
            const values = minutes.map(count)
            return { name, color, values, words: values.map(formatCount) }
          })}
          formatTick={formatShortCount}
          isWhole
        />
      )}
    </Card>
  )
}
