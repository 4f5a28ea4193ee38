import { useState, type ReactNode } from 'react'
import { api, type AnswerOf } from '../../api/client.ts'
import { toProblem, type Problem } from '../../api/problem.ts'
import { clients, snippetsOf, type ClientId } from '../../app/clients.ts'
import styles from '../../app/docs/docs.module.css'
import { useSearch } from '../../app/router.tsx'
import { useAnswer } from '../../app/use-answer.ts'
import { formatCount, formatDuration } from '../../format/figures.ts'
import { formatMoney, formatRate } from '../../format/money.ts'
import { Button } from '../../kit/button.tsx'
import { Code, Name, Time } from '../../kit/content.tsx'
import { Select } from '../../kit/field.tsx'
import { Bar, Stats } from '../../kit/figures.tsx'
import { Banner, Card, Grid, KeyValue, Page, Row, Stack, StateTag } from '../../kit/page.tsx'
import { Skeleton } from '../../kit/skeleton.tsx'
import { Table } from '../../kit/table.tsx'
import { oneOf, searchCodec } from '../../lib/search-codec.ts'
import { AskForMore } from './ask-for-more.tsx'
import { DayBars } from './day-bars.tsx'
import { LastRequests } from './last-requests.tsx'

export type Shown = AnswerOf<'GET /api/v1/portal'>
type Limit = Shown['limits'][number]

const kinds: Readonly<Record<Limit['kind'], string>> = {
  'input-tokens': 'Input tokens a minute',
  'output-tokens': 'Output tokens a minute',
  requests: 'Requests a minute',
  concurrency: 'Requests at a time',
}
const whose: Readonly<Record<Limit['of'], string>> = {
  organization: 'organization',
  project: 'project',
  'api-key': 'key',
}
const search = searchCodec({
  client: oneOf<ClientId>(
    clients.map(({ id }) => id),
    'curl',
  ),
})

/** What the owner of a key may know of it. */
export function Portal({ portal, onLeave }: { readonly portal: Shown; readonly onLeave: () => Promise<void> }) {
  const { key, organizationName, projectName, endsAt, limits, currency } = portal
  const [problem, setProblem] = useState<Problem | null>(null)
  const leave = () => {
    setProblem(null)
    onLeave().catch((error: unknown) => setProblem(toProblem(error)))
  }
  return (
    <>
      <header className={styles.top}>
        <span className={styles.brand}>Odyssey</span>
        <nav className={styles.pages} aria-label="Documents">
          <a href="/docs/api" className={styles.link}>
            API reference
          </a>
          <a href="/docs/errors" className={styles.link}>
            Errors
          </a>
        </nav>
        <Button onClick={leave}>Leave</Button>
      </header>
      <main id="main">
        <Page
          title={<Name>{key.name}</Name>}
          said={
            <>
              <code>…{key.lastFour}</code> of <Name>{projectName}</Name>, <Name>{organizationName}</Name>. Shown until{' '}
              <Time at={endsAt} />.
            </>
          }
        >
          {problem !== null && (
            <Banner kind="bad">This browser still shows the key to whoever opens this page: {problem.message}</Banner>
          )}
          <Usage currency={currency} />
          <Card title="Limits" isFlush>
            <Limits limits={limits} />
          </Card>
          <Budgets portal={portal} />
          <Card title="Rules">
            <Rules shown={key} />
          </Card>
          <Prices portal={portal} />
          <AskForMore />
          <LastRequests currency={currency} />
          <Settings />
        </Page>
      </main>
    </>
  )
}

function Usage({ currency }: { readonly currency: string }) {
  const { data, isPending } = useAnswer(() => api('GET /api/v1/portal/usage', {}))
  if (isPending) return <Skeleton rows={3} />
  if (data === undefined) return <Banner kind="bad">The usage could not be read.</Banner>
  const { totals, days } = data
  return (
    <Stack>
      <Stats
        name="The last 30 days"
        figures={[
          { name: 'Cost, 30 days', value: formatMoney(totals.costMicros, { currency }) },
          { name: 'Requests', value: formatCount(totals.requests), said: `${formatCount(totals.failed)} failed` },
          { name: 'Input tokens', value: formatCount(totals.inputTokens) },
          { name: 'Output tokens', value: formatCount(totals.outputTokens) },
        ]}
      />
      <Card title="Requests by the day, UTC">
        <DayBars days={days} />
      </Card>
    </Stack>
  )
}

function Limits({ limits }: { readonly limits: readonly Limit[] }) {
  if (limits.length === 0) return <p style={{ padding: '4px 16px 16px' }}>No limits: nothing holds this key back.</p>
  return (
    <Table
      name="Limits that apply to the key"
      items={limits}
      keyOf={({ of, model, kind, limit }) => `${of} ${model} ${kind} ${limit}`}
      columns={[
        {
          key: 'kind',
          head: 'Limit',
          cell: ({ kind, isEnforced }) => `${kinds[kind]}${isEnforced ? '' : ', told only'}`,
        },
        { key: 'model', head: 'Model', isOneLine: true, cell: ({ model }) => (model === '*' ? 'all together' : model) },
        { key: 'of', head: 'Of the', cell: ({ of }) => whose[of] },
        {
          key: 'left',
          head: 'Left now',
          isRight: true,
          cell: ({ remaining, limit }) => `${formatCount(Math.max(0, remaining))} of ${formatCount(limit)}`,
        },
        {
          key: 'bar',
          head: 'Used',
          phone: 'off',
          cell: ({ remaining, limit }) => <Bar share={limit === 0 ? 1 : 1 - remaining / limit} />,
        },
        {
          key: 'binds',
          head: 'State',
          phone: 'side',
          cell: ({ isBinding, fullInMs }) =>
            isBinding ? (
              <StateTag mood="info">decides</StateTag>
            ) : (
              <span>{fullInMs === null || fullInMs === 0 ? '' : `full in ${formatDuration(fullInMs)}`}</span>
            ),
        },
      ]}
    />
  )
}

function Budgets({ portal: { budgets, currency } }: { readonly portal: Shown }) {
  if (budgets.length === 0) return null
  return (
    <Grid>
      {budgets.map(({ period, microsMax, tokensMax, raisedUntil, spent, periodEndsAt }) => (
        <Card key={period} title={`Budget by the ${period}`}>
          <Stack>
            {microsMax !== null && (
              <p>
                {formatMoney(String(spent.micros), { currency })} of {formatMoney(String(microsMax), { currency })}{' '}
                spent
                <Bar share={microsMax === 0 ? 1 : spent.micros / microsMax} />
              </p>
            )}
            {tokensMax !== null && (
              <p>
                {formatCount(spent.tokens)} of {formatCount(tokensMax)} tokens used
                <Bar share={tokensMax === 0 ? 1 : spent.tokens / tokensMax} />
              </p>
            )}
            {raisedUntil !== null && (
              <p>
                It is raised until <Time at={raisedUntil} />.
              </p>
            )}
            {periodEndsAt !== null && (
              <p>
                It starts anew on <Time at={periodEndsAt} />.
              </p>
            )}
          </Stack>
        </Card>
      ))}
    </Grid>
  )
}

function Rules({ shown: { models, endpoints, addresses, createdAt, endsAt } }: { readonly shown: Shown['key'] }) {
  const rows: readonly (readonly [string, ReactNode])[] = [
    ['Ends', endsAt === null ? 'Never' : <Time key="ends" at={endsAt} />],
    ['Models', models?.join(', ') ?? 'All'],
    ['Formats', endpoints?.join(', ') ?? 'All'],
    ['Addresses', addresses?.join(', ') ?? 'All'],
    ['Made', <Time key="made" at={createdAt} />],
  ]
  return <KeyValue rows={rows} />
}

function Prices({ portal: { prices, currency } }: { readonly portal: Shown }) {
  const money = (micros: number) => formatRate(micros, currency)
  if (prices.every(({ current, announced }) => current === null && announced.length === 0)) return null
  return (
    <Grid>
      {prices.map(({ model, current, announced }) => (
        <Card key={model} title={`Price of ${model}`}>
          <Stack>
            {current === null ? (
              <p>Free of charge.</p>
            ) : (
              <KeyValue
                rows={[
                  ['Input', `${money(current.rates.input)} a million`],
                  ['Cache read', `${money(current.rates.cacheRead)} a million`],
                  ['Output', `${money(current.rates.output)} a million`],
                ]}
              />
            )}
            {announced.map(({ from, rates }) => (
              <p key={from}>
                From <Time at={from} />:{' '}
                {rates === null ? 'free of charge' : `${money(rates.input)} input, ${money(rates.output)} output`}
              </p>
            ))}
          </Stack>
        </Card>
      ))}
    </Grid>
  )
}

function Settings() {
  const [{ client }, change] = useSearch(search)
  return (
    <Card
      title="Settings of your client"
      actions={
        <Select
          isInline
          label="Client"
          value={client}
          choices={clients.map(({ id, name, group }) => ({ value: id, label: `${name} · ${group}` }))}
          onChoice={(chosen) => change({ client: chosen })}
        />
      }
    >
      <Stack>
        <Row>
          <span>The key stands in the variable ODYSSEY_KEY of your shell.</span>
        </Row>
        {snippetsOf(client, { address: window.location.origin, model: 'clarke-1.0' }).map(({ label, text }) => (
          <Code key={label} label={label} text={text} />
        ))}
      </Stack>
    </Card>
  )
}
