import { useCallback, useMemo } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { alertsQuery, type Alert } from './alert-queries.ts'
import { budgetsQuery } from '../../app/budgets/budgets-query.ts'
import { amountsOf, type Budget } from '../../app/budgets/budget-words.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import type { PageParams } from '../../app/paths.ts'
import { useCurrency, useNames } from '../../app/queries.ts'
import { useSearch } from '../../app/router.tsx'
import { useReason } from '../../app/session.ts'
import { useKeys } from '../../app/shortcuts.ts'
import { Empty, Loaded } from '../../app/states.tsx'
import { SubjectName, useSubjectName } from '../../app/subject-name.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { Page as Frame, StateTag } from '../../kit/page.tsx'
import { Segments } from '../../kit/tabs.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { oneOf, searchCodec } from '../../lib/search-codec.ts'
import { Channels } from './channels.tsx'
import { Rules } from './rules.tsx'
import { Silences } from './silences.tsx'
import { Thresholds } from './thresholds.tsx'

const alertsSearch = searchCodec({ state: oneOf(['open', 'acknowledged'], 'open') })

/** What was reached and waits to be seen, what was seen, and at which shares of which budgets that happens. */
export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  const [{ state }, change] = useSearch(alertsSearch)
  const query = useQuery(alertsQuery(organizationId, state))
  const mayReadBudgets = useReason(organizationId, 'budgets:read') === null
  const budgets = useQuery({ ...budgetsQuery(organizationId), enabled: mayReadBudgets }).data ?? []
  const byId = new Map(budgets.map((budget) => [budget.id, budget]))
  const reason = useReason(organizationId, 'alerts:update')
  const mayReadChannels = useReason(organizationId, 'alert-channels:read') === null
  const seen = useChange(
    (alertId: string, options) =>
      api(
        'POST /api/v1/organizations/{organizationId}/alerts/{alertId}/acknowledge',
        { params: { organizationId, alertId } },
        options,
      ),
    {
      touches: [
        ['alerts', organizationId],
        ['overview', organizationId],
      ],
    },
  )
  const { run } = seen
  const acknowledge = useCallback((id: string) => (reason === null ? void run(id) : undefined), [reason, run])
  const newest = state === 'open' ? query.data?.[0]?.id : undefined
  useKeys(useMemo(() => ({ e: () => (newest === undefined ? undefined : acknowledge(newest)) }), [newest, acknowledge]))
  const tabs = [
    { value: 'open', label: 'Open' },
    { value: 'acknowledged', label: 'Acknowledged' },
  ] as const
  return (
    <Frame
      title="Alerts"
      said="What was reached or went wrong stands here; channels carry it to where somebody is."
      actions={<Segments name="State" tabs={tabs} chosen={state} onChoice={(chosen) => change({ state: chosen })} />}
    >
      <ChangeProblem problem={seen.problem} />
      <Loaded query={query} what="The alerts">
        {(alerts) =>
          alerts.length === 0 ? (
            <Empty>
              {state === 'open'
                ? 'Nothing is open: a share of a budget that is reached waits here until somebody acknowledges it.'
                : 'None was acknowledged yet.'}
            </Empty>
          ) : (
            <AlertTable
              organizationId={organizationId}
              alerts={alerts}
              budgets={byId}
              reason={reason}
              isBusy={seen.isBusy}
              onSeen={acknowledge}
            />
          )
        }
      </Loaded>
      <Rules organizationId={organizationId} />
      {mayReadBudgets && <Thresholds organizationId={organizationId} budgets={budgets} />}
      {mayReadChannels && (
        <>
          <Channels organizationId={organizationId} />
          <Silences organizationId={organizationId} />
        </>
      )}
    </Frame>
  )
}

type TableProps = {
  readonly organizationId: string
  readonly alerts: readonly Alert[]
  readonly budgets: ReadonlyMap<string, Budget>
  readonly reason: string | null
  readonly isBusy: boolean
  readonly onSeen: (id: string) => void
}

function AlertTable({ organizationId, alerts, budgets, reason, isBusy, onSeen }: TableProps) {
  const subjectOf = useSubjectName(organizationId)
  const nameOf = useNames(organizationId)
  const currency = useCurrency()
  const columns: readonly Column<Alert>[] = [
    {
      key: 'subject',
      head: 'Budget of',
      cell: ({ budgetId }) => {
        const budget = budgets.get(budgetId)
        return budget === undefined ? <code>{budgetId}</code> : <SubjectName {...subjectOf(budget.subject)} />
      },
    },
    {
      key: 'reached',
      head: 'Reached',
      phone: 'side',
      cell: ({ percent }) => <StateTag mood={percent >= 100 ? 'bad' : 'warn'}>{`${percent} %`}</StateTag>,
    },
    { key: 'at', head: 'When', cell: ({ reachedAt }) => <Time at={reachedAt} /> },
    {
      key: 'spent',
      head: 'Spent then',
      isRight: true,
      cell: ({ budgetId, spent }) => {
        const budget = budgets.get(budgetId)
        const micros = budget?.microsMax === null ? null : spent.micros
        return amountsOf({ micros, tokens: budget?.tokensMax === null ? null : spent.tokens }, currency)
      },
    },
    { key: 'period', head: 'Period', phone: 'off', cell: ({ budgetId }) => budgets.get(budgetId)?.period ?? '–' },
    {
      key: 'seen',
      head: 'Acknowledged',
      isRight: true,
      cell: ({ id, percent, acknowledgedAt, acknowledgedBy }) =>
        acknowledgedAt === null ? (
          <Button isSmall reason={reason} isBusy={isBusy} onClick={() => onSeen(id)}>
            Acknowledge<span className="unseen"> {percent} %</span>
          </Button>
        ) : (
          <>
            <Time at={acknowledgedAt} /> by <Name>{nameOf(acknowledgedBy)}</Name>
          </>
        ),
    },
  ]
  return <Table name="Alerts, newest first" columns={columns} items={alerts} keyOf={({ id }) => id} />
}
