import { ExactMoney } from '../../app/exact-money.tsx'
import { formatChange, formatCount, formatShare, formatShortCount } from '../../format/figures.ts'
import { toUnits } from '../../format/money.ts'
import { Stats } from '../../kit/figures.tsx'
import { cachedShareOf, inputOf, type Sums } from './metrics.ts'

type Props = { readonly sums: Sums; readonly before: Sums | null }

/** The whole time's sums, each with how far it is from the time before where that is asked for. */
export function SumStats({ sums, before }: Props) {
  const change = (read: (of: Sums) => number) => {
    const text = before === null ? null : formatChange(read(sums), read(before))
    return text === null ? null : { said: `${text} on the time before` }
  }
  const figures = [
    {
      name: 'Cost',
      value: <ExactMoney micros={sums.costMicros} />,
      ...change(({ costMicros }) => toUnits(costMicros)),
    },
    {
      name: 'Requests',
      value: <span title={formatCount(sums.requests)}>{formatShortCount(sums.requests)}</span>,
      ...(sums.requests > 0 && { said: `${formatShare(sums.finished / sums.requests)} finished` }),
      ...change(({ requests }) => requests),
    },
    {
      name: 'Input tokens',
      value: <span title={formatCount(inputOf(sums))}>{formatShortCount(inputOf(sums))}</span>,
      ...change(inputOf),
    },
    {
      name: 'Output tokens',
      value: <span title={formatCount(sums.tokens.output)}>{formatShortCount(sums.tokens.output)}</span>,
      ...change(({ tokens }) => tokens.output),
    },
    {
      name: 'Read from cache',
      value: formatShare(cachedShareOf(sums)),
      said: `${formatShortCount(sums.tokens.inputCacheRead)} tokens`,
    },
    {
      name: 'Failed, ours',
      value: formatCount(sums.failed),
      said: `${formatCount(sums.aborted)} left by the client`,
    },
  ]
  return <Stats name="Sums" figures={figures} />
}
