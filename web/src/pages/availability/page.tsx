import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { addressOf, api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { ExactMoney } from '../../app/exact-money.tsx'
import type { PageParams } from '../../app/paths.ts'
import { useSearch } from '../../app/router.tsx'
import { Empty, Loaded } from '../../app/states.tsx'
import { formatCount } from '../../format/figures.ts'
import { Time } from '../../kit/content.tsx'
import { Select } from '../../kit/field.tsx'
import { Card, Grid, KeyValue, Page as Frame, StateTag } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { searchCodec, textThat } from '../../lib/search-codec.ts'
import { causesInWords, percentOf, promiseInWords } from './words.ts'

type Month = Schemas['AvailabilityMonth']
type Model = Month['models'][number]
type Down = Model['down'][number] & { readonly model: string }

const monthsShown = 13
/** The empty text is this month. */
const availabilitySearch = searchCodec({ month: textThat((given) => lastMonths(new Date()).includes(given)) })

/** How available the models were to an organization, month by month, and what was promised. */
export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  const months = lastMonths(new Date())
  const [search, change] = useSearch(availabilitySearch)
  const month = search.month === '' ? (months[0] ?? '') : search.month
  const query = useQuery({
    queryKey: ['availability', organizationId, month],
    queryFn: ({ signal }) => api(operation, { params: { organizationId, month } }, { signal }),
    placeholderData: keepPreviousData,
  })
  const choices = months.map((value) => ({ value, label: value }))
  return (
    <Frame
      title="Availability"
      said="Of the requests in the ledger, and of what the service asks itself. Months are in UTC."
      filters={
        <Select
          isInline
          label="Month"
          value={month}
          choices={choices}
          onChoice={(chosen) => change({ month: chosen === months[0] ? '' : chosen })}
        />
      }
    >
      <Loaded query={query} what="The availability">
        {(found) => <MonthShown found={found} address={addressOf(reportPath, { organizationId, month })} />}
      </Loaded>
    </Frame>
  )
}

const operation = 'GET /api/v1/organizations/{organizationId}/sla/{month}' as const
const reportPath = '/api/v1/organizations/{organizationId}/sla/{month}/export'

function lastMonths(now: Date): string[] {
  return Array.from({ length: monthsShown }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7),
  )
}

function MonthShown({ found, address }: { readonly found: Month; readonly address: string }) {
  const { models, objective, exclusions, report, versions } = found
  if (models.length === 0)
    return (
      <Empty>
        Nothing is known of this month. Its minutes are counted while the service runs, and stand here once one is over.
      </Empty>
    )
  const down = models
    .flatMap(({ model, down: intervals }) => intervals.map((one) => ({ ...one, model })))
    .toSorted((one, other) => Date.parse(other.from) - Date.parse(one.from))
  return (
    <>
      <Grid>
        {models.map((model) => (
          <ModelCard key={model.model} model={model} objective={objective} />
        ))}
      </Grid>
      <Card title="Down" isFlush={down.length > 0}>
        {down.length === 0 ? <p>No model was down.</p> : <DownTable down={down} />}
      </Card>
      <Card title="Agreed">
        <KeyValue
          rows={[
            ['Promised', promiseInWords(objective)],
            ['Measured from', <Time key="from" at={found.measuredFrom} />],
            ['Measured until', <Time key="until" at={found.measuredUntil} />],
            [
              'Maintenance that does not count',
              exclusions.length === 0 ? 'None' : <Maintenance key="maintenance" list={exclusions} />,
            ],
            [
              'Report',
              report === null ? (
                'Signed when the month is over'
              ) : (
                <Report key="report" address={address} versions={versions} />
              ),
            ],
          ]}
        />
      </Card>
    </>
  )
}

function ModelCard({ model, objective }: { readonly model: Model; readonly objective: Month['objective'] }) {
  const { uptimePpm, minutes, requests, budgetLeftPpm, creditMicros } = model
  const uptime = uptimePpm[objective.basis]
  const isKept = uptime === null || uptime >= objective.availabilityPpm
  const tag = <StateTag mood={isKept ? 'good' : 'bad'}>{isKept ? 'As promised' : 'Below the promise'}</StateTag>
  return (
    <Card title={model.model} actions={objective.id === null ? undefined : tag}>
      <KeyValue
        rows={[
          [
            'Minutes up',
            `${percentOf(uptimePpm.minutes)}, ${formatCount(minutes.down)} of ${formatCount(minutes.counted)} down`,
          ],
          [
            'Requests served',
            `${percentOf(uptimePpm.requests)}, ${formatCount(requests.bad)} of ${formatCount(requests.valid)} bad`,
          ],
          ['First token too late', formatCount(requests.slow)],
          ['Error budget left', percentOf(budgetLeftPpm)],
          ['Given back', <ExactMoney key="credit" micros={creditMicros} />],
        ]}
      />
    </Card>
  )
}

const columns: readonly Column<Down>[] = [
  { key: 'model', head: 'Model', isOneLine: true, cell: ({ model }) => model },
  { key: 'from', head: 'From', isOneLine: true, cell: ({ from }) => <Time at={from} /> },
  { key: 'until', head: 'Until', isOneLine: true, cell: ({ until }) => <Time at={until} /> },
  { key: 'minutes', head: 'Minutes', isRight: true, cell: ({ minutes }) => formatCount(minutes) },
  { key: 'why', head: 'Why', cell: ({ causes }) => causesInWords(causes) },
  {
    key: 'requests',
    head: 'Bad requests',
    isRight: true,
    cell: ({ bad, valid }) => (valid === 0 ? 'none came' : `${formatCount(bad)} of ${formatCount(valid)}`),
  },
]

function DownTable({ down }: { readonly down: readonly Down[] }) {
  return (
    <Table
      name="When models were down"
      columns={columns}
      items={down}
      keyOf={({ model, from }) => `${model} ${from}`}
    />
  )
}

function Maintenance({ list }: { readonly list: Month['exclusions'] }) {
  return (
    <ul>
      {list.map(({ id, from, until, reason }) => (
        <li key={id}>
          <Time at={from} /> to <Time at={until} />: {reason}
        </li>
      ))}
    </ul>
  )
}

function Report({ address, versions }: { readonly address: string; readonly versions: number }) {
  return (
    <>
      <a href={address}>Signed report</a>
      {versions > 1 && `, version ${versions}`}
    </>
  )
}
