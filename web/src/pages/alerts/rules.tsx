import { Fragment } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../api/types.ts'
import { pagePath } from '../../app/paths.ts'
import { useCurrency } from '../../app/queries.ts'
import { requestsHref } from '../../app/requests/requests-search.ts'
import { useReason } from '../../app/session.ts'
import { Loaded } from '../../app/states.tsx'
import { formatCount } from '../../format/figures.ts'
import { formatMoney } from '../../format/money.ts'
import { Name, Time } from '../../kit/content.tsx'
import { Link } from '../../kit/link.tsx'
import { Badge, Card, Stack } from '../../kit/page.tsx'
import { Skeleton } from '../../kit/skeleton.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { channelsQuery, eventsQuery, rules, wordsOfTopic, type Topic } from './channel-queries.ts'

type Event = Schemas['AlertEvent']

/** When each of them tells. They are always on; what is told goes where a channel asks for it. */
const conditions: Readonly<Partial<Record<Topic, string>>> = {
  'budget.threshold': 'At the shares that are set with each budget.',
  'requests.failing': 'Five requests or more, and one in twenty, failed within five minutes; once an hour.',
  'cost.unusual': 'An hour cost more than three times what the hours in use of the week before cost.',
  'key.ending': '14 days and 3 days before the end of a key in use.',
  'key.new-network': 'A key without a list of addresses, after its first day of use; once for each network.',
  'domain.record-missing':
    'A verified domain has no record any more, and again when it counts for nothing after a week.',
  'audit.broken': 'The log does not go on from what was signed; once a day.',
  'audit.deletion-held': 'A sink in use was not given rows that are old enough to be deleted; once a day.',
}

/** What an organization is told of by itself, over which channels, and what was told lately. */
export function Rules({ organizationId }: { readonly organizationId: string }) {
  const mayReadChannels = useReason(organizationId, 'alert-channels:read') === null
  const read = useQuery({ ...channelsQuery(organizationId), enabled: mayReadChannels })
  const channels = read.data
  const events = useQuery(eventsQuery(organizationId))
  const lastOf = (topic: Topic) => events.data?.find((event) => event.topic === topic)?.at ?? null
  const columns: readonly Column<Topic>[] = [
    { key: 'what', head: 'Rule', cell: (topic) => wordsOfTopic(topic) },
    { key: 'when', head: 'Tells when', cell: (topic) => conditions[topic] ?? '–' },
    ...(mayReadChannels
      ? [
          {
            key: 'channels',
            head: 'Channels',
            cell: (topic: Topic) => {
              // What could not be read is not said to be none.
              if (channels === undefined) return '–'
              const asking = channels.filter(({ topics, disabledAt }) => disabledAt === null && topics.includes(topic))
              if (asking.length === 0) return 'only here'
              return asking.map(({ id, name }, index) => (
                <Fragment key={id}>
                  {index > 0 && ', '}
                  <Name>{name}</Name>
                </Fragment>
              ))
            },
          },
        ]
      : []),
    {
      key: 'last',
      head: 'Last told',
      phone: 'side',
      isOneLine: true,
      cell: (topic) => {
        if (events.data === undefined) return '–'
        const at = lastOf(topic)
        return at === null ? 'not in 30 days' : <Time at={at} isAgo />
      },
    },
  ]
  return (
    <Stack>
      <Card title="Rules" isFlush>
        {read.isLoading || events.isLoading ? (
          <Skeleton rows={rules.length} />
        ) : (
          <Table name="Rules" columns={columns} items={rules} keyOf={(topic) => topic} />
        )}
      </Card>
      <Card title="Told in the last 30 days" isFlush={(events.data?.length ?? 0) > 0}>
        <Loaded query={events} what="What was told" rows={2}>
          {(all) =>
            all.length === 0 ? <p>Nothing was told.</p> : <Told organizationId={organizationId} events={all} />
          }
        </Loaded>
      </Card>
    </Stack>
  )
}

function Told({ organizationId, events }: { readonly organizationId: string; readonly events: readonly Event[] }) {
  const columns: readonly Column<Event>[] = [
    { key: 'what', head: 'What', cell: ({ topic }) => wordsOfTopic(topic) },
    {
      key: 'figures',
      head: 'Figures then',
      cell: (event) => <Figures organizationId={organizationId} event={event} />,
    },
    { key: 'at', head: 'When', phone: 'side', cell: ({ at }) => <Time at={at} /> },
    {
      key: 'silenced',
      head: 'Sent',
      cell: ({ isSilenced }) => (isSilenced ? <Badge>held back by a silence</Badge> : 'to who asked'),
    },
  ]
  return <Table name="Told in the last 30 days, newest first" columns={columns} items={events} keyOf={({ id }) => id} />
}

/** What each of them says, as far as the page knows it. */
type Data = {
  readonly percent?: number
  readonly requests?: number
  readonly failed?: number
  readonly from?: string
  readonly to?: string
  readonly hour?: string
  readonly costMicros?: string
  readonly usualCostMicros?: string
  readonly apiKeyId?: string
  readonly name?: string
  readonly endsAt?: string
  readonly domain?: string
  readonly isVerified?: boolean
  readonly lapsesAt?: string
}

function Figures({ organizationId, event }: { readonly organizationId: string; readonly event: Event }) {
  const currency = useCurrency()
  const { percent, requests, failed, from, to, hour, costMicros, usualCostMicros, ...key } = event.data as Data
  const { apiKeyId, name, endsAt, domain, isVerified, lapsesAt } = key
  const cost = (micros: string) => formatMoney(micros, { currency })
  if (percent !== undefined) return <Link href={pagePath('budgets', { organizationId })}>{`${percent} %`}</Link>
  if (requests !== undefined && failed !== undefined && from !== undefined && to !== undefined) {
    const href = requestsHref(organizationId, { range: 'custom', from, to, outcome: 'failed' })
    return <Link href={href}>{`${formatCount(failed)} of ${formatCount(requests)} failed`}</Link>
  }
  if (hour !== undefined && costMicros !== undefined && usualCostMicros !== undefined) {
    const href = pagePath('usage', { organizationId })
    return <Link href={href}>{`${cost(costMicros)} instead of about ${cost(usualCostMicros)}`}</Link>
  }
  if (apiKeyId !== undefined && endsAt !== undefined) {
    return (
      <>
        <Link href={pagePath('key', { organizationId, apiKeyId })}>
          <Name>{name ?? apiKeyId}</Name>
        </Link>{' '}
        ends <Time at={endsAt} />
      </>
    )
  }
  if (domain !== undefined && lapsesAt !== undefined) {
    return (
      <>
        <Link href={pagePath('signIn', { organizationId })}>
          <Name>{domain}</Name>
        </Link>{' '}
        {isVerified === true ? 'counts until' : 'counts for nothing since'} <Time at={lapsesAt} />
      </>
    )
  }
  return <>–</>
}
