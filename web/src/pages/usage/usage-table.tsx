import type { Schemas } from '../../api/types.ts'
import { ExactMoney } from '../../app/exact-money.tsx'
import { requestsHref, type RequestsSearch } from '../../app/requests/requests-search.ts'
import { useReason } from '../../app/session.ts'
import { formatCount, formatShare, formatShortCount } from '../../format/figures.ts'
import { shareOf } from '../../format/money.ts'
import { dayIn } from '../../format/zone.ts'
import { Button } from '../../kit/button.tsx'
import { Name } from '../../kit/content.tsx'
import { Link } from '../../kit/link.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { cachedShareOf, inputOf, type Sums } from './metrics.ts'
import { requestsFilterOf, type Range, type UsageSearch } from './search.ts'

type Group = Schemas['UsageSeries']['groups'][number]
type Props = {
  readonly organizationId: string
  readonly groups: readonly Group[]
  readonly search: UsageSearch
  readonly range: Range
  readonly currency: string
  readonly total: Sums
  readonly onAll: () => void
}

const heads = {
  model: 'Model',
  project: 'Project',
  key: 'API key',
  member: 'Member',
  user: 'End user',
  tag: 'Tag',
  nothing: 'Everything',
} as const

/** Each group's figures as the service has summed them; a row leads to the requests that make it up. */
export function UsageTable({ organizationId, groups, search, range, currency, total, onAll }: Props) {
  const mayOpen = useReason(organizationId, 'requests:read') === null
  const nameOf = ({ id, name, isOthers }: Group) => {
    const href = mayOpen && !isOthers ? hrefOf(organizationId, id, search, range) : null
    if (href !== null) {
      return (
        <Link href={href}>
          <Name>{name}</Name>
        </Link>
      )
    }
    return isOthers && !search.all ? (
      <>
        Others{' '}
        <Button isSmall look="quiet" onClick={onAll}>
          Show them
        </Button>
      </>
    ) : (
      <Name>{name}</Name>
    )
  }
  const columns: readonly Column<Group>[] = [
    { key: 'group', head: heads[search.by], cell: nameOf },
    { key: 'requests', head: 'Requests', isRight: true, cell: ({ totals }) => formatCount(totals.requests) },
    { key: 'input', head: 'Input', isRight: true, cell: ({ totals }) => formatShortCount(inputOf(totals)) },
    { key: 'cached', head: 'of it cached', isRight: true, cell: ({ totals }) => formatShare(cachedShareOf(totals)) },
    { key: 'output', head: 'Output', isRight: true, cell: ({ totals }) => formatShortCount(totals.tokens.output) },
    { key: 'failed', head: 'Failed', isRight: true, phone: 'off', cell: ({ totals }) => formatCount(totals.failed) },
    {
      key: 'cost',
      head: `Cost, ${currency}`,
      isRight: true,
      phone: 'side',
      cell: ({ totals: { costMicros } }) => <ExactMoney micros={costMicros} />,
    },
    {
      key: 'share',
      head: 'Share',
      isRight: true,
      phone: 'off',
      cell: ({ totals }) => formatShare(shareOf(totals.costMicros, total.costMicros)),
    },
  ]
  return (
    <Table
      name={`Usage by ${heads[search.by].toLowerCase()}`}
      columns={columns}
      items={groups}
      keyOf={({ id, isOthers }) => id ?? (isOthers ? 'others' : 'none')}
    />
  )
}

/** Null where no filter of the requests means the group. */
function hrefOf(organizationId: string, id: string | null, search: UsageSearch, range: Range): string | null {
  const { by, zone } = search
  const filter = requestsFilterOf(search)
  if (filter === null || by === 'user' || by === 'tag' || (by !== 'nothing' && id === null)) return null
  const from = dayIn(zone, Date.parse(range.from))
  const to = dayIn(zone, Date.parse(range.to) - 1)
  const group: Partial<RequestsSearch> = by === 'nothing' ? {} : { [by]: id }
  return requestsHref(organizationId, { from, to, ...filter, ...group })
}
