import { useQuery } from '@tanstack/react-query'
import { amountsOf, type Budget } from '../../app/budgets/budget-words.ts'
import { useCurrency } from '../../app/queries.ts'
import { Loaded } from '../../app/states.tsx'
import { useSubjectName } from '../../app/subject-name.tsx'
import { usageSeriesQuery } from '../../app/usage-sums.ts'
import { formatCount } from '../../format/figures.ts'
import { formatMoney } from '../../format/money.ts'
import { formatDay } from '../../format/time.ts'
import { addDays, dayIn } from '../../format/zone.ts'
import { Drawer } from '../../kit/layers.tsx'
import { Table } from '../../kit/table.tsx'

type Props = { readonly organizationId: string; readonly budget: Budget; readonly onClose: () => void }
type Spent = { readonly startsAt: string; readonly costMicros: string; readonly tokens: number }

/** Those whose sums the service keeps apart. */
const periods = ['day', 'week', 'month'] as const
type Period = (typeof periods)[number]
const periodsShown = 12

/** Why a budget has no history; null where it has one. */
export function historyReason({ period }: Budget): string | null {
  return isPeriod(period) ? null : `It goes on for a ${period}: there are no periods before it to compare.`
}

function isPeriod(period: string): period is Period {
  return periods.some((one) => one === period)
}

/** What was spent in each of the last periods, by the same sums as the page Usage, beside what may be spent now. */
export function HistoryDrawer({ organizationId, budget, onClose }: Props) {
  const { period, subject, microsMax, tokensMax } = budget
  const currency = useCurrency()
  const { name } = useSubjectName(organizationId)(subject)
  const series = useQuery({
    ...usageSeriesQuery(organizationId, {
      from: `${firstDay(isPeriod(period) ? period : 'month')}T00:00:00Z`,
      bucket: isPeriod(period) ? period : 'month',
      ...(subject.kind === 'project' && { projectId: [subject.id] }),
      ...(subject.kind === 'api-key' && { apiKeyId: [subject.id] }),
    }),
  })
  return (
    <Drawer
      title={`Spent by ${name}`}
      isOpen
      onClose={onClose}
      said={`Each ${period} by UTC. Now ${amountsOf({ micros: microsMax, tokens: tokensMax }, currency)} may be spent.`}
    >
      <Loaded query={series} what="What was spent">
        {({ startsAt, costMicros, tokens }) => {
          const [input = [], read = [], written = [], output = []] = [
            tokens.inputUncached?.[0],
            tokens.inputCacheRead?.[0],
            tokens.inputCacheWrite?.[0],
            tokens.output?.[0],
          ]
          const rows = startsAt.map((start, index): Spent => {
            const all = [input, read, written, output].map((counts) => counts[index] ?? 0)
            return {
              startsAt: start,
              costMicros: costMicros[0]?.[index] ?? '0',
              tokens: all.reduce((sum, count) => sum + count, 0),
            }
          })
          return (
            <Table
              name={`Spent in each ${period}, newest first`}
              columns={[
                { key: 'start', head: 'From', cell: (row) => formatDay(row.startsAt, 'UTC') },
                {
                  key: 'cost',
                  head: `Cost, ${currency}`,
                  isRight: true,
                  phone: 'side',
                  cell: (row) => formatMoney(row.costMicros, { currency }),
                },
                { key: 'tokens', head: 'Tokens', isRight: true, cell: (row) => formatCount(row.tokens) },
              ]}
              items={rows.toReversed()}
              keyOf={(row) => row.startsAt}
            />
          )
        }}
      </Loaded>
    </Drawer>
  )
}

/** The first day of the period that is eleven before this one, by UTC; weeks begin on Monday. */
function firstDay(period: Period): string {
  const today = dayIn('UTC', Date.now())
  const before = periodsShown - 1
  if (period === 'day') return addDays(today, -before)
  if (period === 'week') return addDays(today, -(((new Date(today).getUTCDay() + 6) % 7) + 7 * before))
  const [year = 0, month = 1] = today.split('-').map(Number)
  return new Date(Date.UTC(year, month - 1 - before, 1)).toISOString().slice(0, 10)
}
