import type { AnswerOf } from '../../api/client.ts'
import { titlesOf } from '../../charts/bucket-titles.ts'
import { TimeBars } from '../../charts/time-bars.tsx'
import { formatCount } from '../../format/figures.ts'

type Day = AnswerOf<'GET /api/v1/portal/usage'>['days'][number]

/** Requests by the day, those that failed on the service's side apart. */
export function DayBars({ days }: { readonly days: readonly Day[] }) {
  const good = days.map(({ requests, failed }) => requests - failed)
  const failed = days.map((day) => day.failed)
  return (
    <TimeBars
      summary={`${formatCount(days.reduce((sum, { requests }) => sum + requests, 0))} requests in 30 days.`}
      {...titlesOf(
        days.map(({ startsAt }) => startsAt),
        { zone: 'UTC', bucket: 'day' },
      )}
      series={[
        { name: 'Answered', color: 'var(--series-1)', values: good, words: good.map(formatCount) },
        { name: 'Failed', color: 'var(--bad)', values: failed, words: failed.map(formatCount) },
      ]}
      formatTick={formatCount}
      isWhole
    />
  )
}
