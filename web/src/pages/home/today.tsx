import { ExactMoney } from '../../app/exact-money.tsx'
import { pagePath } from '../../app/paths.ts'
import { useCurrency } from '../../app/queries.ts'
import { useReason } from '../../app/session.ts'
import { formatChange, formatCount, formatShortCount } from '../../format/figures.ts'
import { formatMoney, toUnits } from '../../format/money.ts'
import { Link } from '../../kit/link.tsx'
import { Stats, type Figure } from '../../kit/page.tsx'
import type { Overview } from './overview.ts'

type Props = { readonly organizationId: string; readonly overview: Overview }

/** What is asked at the moment, what today and this month cost, and what wants to be seen. */
export function Today({ organizationId, overview }: Props) {
  const currency = useCurrency()
  const mayReadAlerts = useReason(organizationId, 'alerts:read') === null
  const { costTodayMicros, costYesterdaySameTimeMicros, monthMicros, forecastMicros, openAlerts, minutes } = overview
  const change = formatChange(toUnits(costTodayMicros), toUnits(costYesterdaySameTimeMicros))
  // The minute that runs is not over, so the last whole one says how much is asked.
  const last = minutes.at(-2)
  const figures: readonly Figure[] = [
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
    { name: 'Requests, last minute', value: formatShortCount(last?.requests ?? 0) },
    { name: 'Output tokens, last minute', value: formatShortCount(last?.outputTokens ?? 0) },
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
  return <Stats name="Today" figures={figures} />
}
