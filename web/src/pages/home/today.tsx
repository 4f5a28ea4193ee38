import { ExactMoney } from '../../app/exact-money.tsx'
import { pagePath } from '../../app/paths.ts'
import { useCurrency } from '../../app/queries.ts'
import { useReason } from '../../app/session.ts'
import { formatChange, formatCount, formatShortCount } from '../../format/figures.ts'
import { formatMoney, toUnits } from '../../format/money.ts'
import { Link } from '../../kit/link.tsx'
import { Stats, type Figure } from '../../kit/figures.tsx'
import type { Overview } from './overview.ts'

type Props = { readonly organizationId: string; readonly overview: Overview }

/** What is asked at the moment, what today and this month cost, and what wants to be seen. */
export function Today({ organizationId, overview }: Props) {
  const currency = useCurrency()
  const mayReadAlerts = useReason(organizationId, 'alerts:read') === null
  const { openAlerts } = overview
  const figures: readonly Figure[] = [
    ...costsOf(overview, currency),
    ...requestsOf(overview),
    ...(mayReadAlerts
      ? [
          {
            name: 'Open alerts',
            value: <Link href={pagePath('alerts', { organizationId })}>{formatCount(openAlerts)}</Link>,
            said: openAlerts === 0 ? 'nothing waits' : 'not acknowledged yet',
          },
        ]
      : []),
  ]
  return figures.length === 0 ? null : <Stats name="Today" figures={figures} />
}

/** None for who may not see usage. */
function costsOf(overview: Overview, currency: string): readonly Figure[] {
  const { costTodayMicros, costYesterdaySameTimeMicros, monthMicros, forecastMicros } = overview
  if (costTodayMicros === null || costYesterdaySameTimeMicros === null || monthMicros === null) return []
  const change = formatChange(toUnits(costTodayMicros), toUnits(costYesterdaySameTimeMicros))
  return [
    {
      name: 'Cost today',
      value: <ExactMoney micros={costTodayMicros} />,
      said: change === null ? 'day of UTC' : `${change} on yesterday at this hour`,
    },
    {
      name: 'Cost this month',
      value: <ExactMoney micros={monthMicros} />,
      said: forecastMicros === null ? 'months of UTC' : `${formatMoney(forecastMicros, { currency })} if it goes on so`,
    },
  ]
}

/** Likewise. The minute that runs is not over, so the last whole one says how much is asked. */
function requestsOf({ minutes }: Overview): readonly Figure[] {
  const last = minutes.at(-2)
  if (last === undefined) return []
  return [
    { name: 'Requests, last minute', value: formatShortCount(last.requests) },
    { name: 'Output tokens, last minute', value: formatShortCount(last.outputTokens) },
  ]
}
