import { useQuery } from '@tanstack/react-query'
import { pagePath } from '../../app/paths.ts'
import { useCurrency } from '../../app/queries.ts'
import { useReason } from '../../app/session.ts'
import { usageByGroupQuery } from '../../app/usage-sums.ts'
import { formatCount, formatShare } from '../../format/figures.ts'
import { formatMoney } from '../../format/money.ts'
import { dayBefore } from '../../format/time.ts'
import { LinkButton } from '../../kit/button.tsx'
import { Stats } from '../../kit/figures.tsx'
import { Card } from '../../kit/page.tsx'
import { Skeleton } from '../../kit/skeleton.tsx'

type Props = { readonly organizationId: string; readonly apiKeyId: string }

/** What was asked with the key in the last 30 days and what it cost. */
export function KeySums({ organizationId, apiKeyId }: Props) {
  const currency = useCurrency()
  const { data, isLoading } = useQuery({
    ...usageByGroupQuery(organizationId, { from: dayBefore(29), to: dayBefore(-1), apiKeyId: [apiKeyId] }),
    enabled: useReason(organizationId, 'usage:read') === null,
  })
  if (isLoading) return <Skeleton rows={3} />
  const sums = data?.get('')
  if (sums === undefined || sums.requests === 0) return null
  return (
    <Card
      title="Last 30 days"
      actions={
        <LinkButton isSmall href={`${pagePath('usage', { organizationId })}?key=${apiKeyId}`}>
          Usage and cost
        </LinkButton>
      }
    >
      <Stats
        name="Last 30 days"
        figures={[
          { name: 'Cost', value: formatMoney(sums.costMicros, { currency }) },
          {
            name: 'Requests',
            value: formatCount(sums.requests),
            said: `${formatShare(sums.finished / sums.requests)} finished`,
          },
          { name: 'Output tokens', value: formatCount(sums.tokens.output) },
        ]}
      />
    </Card>
  )
}
