import { useMemo, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { budgetsQuery } from '../../app/budgets/budgets-query.ts'
import { amountsOf, maxNow, sharesOf, type Budget } from '../../app/budgets/budget-words.ts'
import type { PageParams } from '../../app/paths.ts'
import { useSetterReason } from '../../app/limits/use-setter-reason.ts'
import { useCurrency } from '../../app/queries.ts'
import { useReason } from '../../app/session.ts'
import { useKeys } from '../../app/shortcuts.ts'
import { Empty, Loaded } from '../../app/states.tsx'
import { RemoveFromSubject, SubjectName, useSubjectName } from '../../app/subject-name.tsx'
import { formatShare } from '../../format/figures.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { Time } from '../../kit/content.tsx'
import { Menu, type MenuEntry } from '../../kit/layers.tsx'
import { Bar } from '../../kit/figures.tsx'
import { Badge, Page as Frame, StateTag } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { BudgetDrawer } from './budget-drawer.tsx'
import { HistoryDrawer, historyReason } from './history-drawer.tsx'
import { RaiseDrawer } from './raise-drawer.tsx'

type Open =
  | { readonly kind: 'set'; readonly budget: Budget | null }
  | { readonly kind: 'raise' | 'remove' | 'history'; readonly budget: Budget }

export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  const query = useQuery(budgetsQuery(organizationId))
  const [open, setOpen] = useState<Open | null>(null)
  const reason = useReason(organizationId, 'budgets:update')
  useKeys(
    useMemo(() => ({ c: () => (reason === null ? setOpen({ kind: 'set', budget: null }) : undefined) }), [reason]),
  )
  const close = () => setOpen(null)
  const set = (
    <Button
      look="primary"
      icon="plus"
      shortcut="c"
      reason={reason}
      onClick={() => setOpen({ kind: 'set', budget: null })}
    >
      Set budget
    </Button>
  )
  return (
    <Frame title="Budgets" actions={set}>
      <Loaded query={query} what="The budgets">
        {(budgets) =>
          budgets.length === 0 ? (
            <Empty action={set}>No budgets. A budget stops spending at an amount you choose.</Empty>
          ) : (
            <BudgetTable organizationId={organizationId} budgets={budgets} onOpen={setOpen} />
          )
        }
      </Loaded>
      {open?.kind === 'set' && (
        <BudgetDrawer organizationId={organizationId} budgets={query.data ?? []} budget={open.budget} onClose={close} />
      )}
      {open?.kind === 'history' && (
        <HistoryDrawer organizationId={organizationId} budget={open.budget} onClose={close} />
      )}
      {open?.kind === 'raise' && <RaiseDrawer organizationId={organizationId} budget={open.budget} onClose={close} />}
      {open?.kind === 'remove' && (
        <RemoveFromSubject
          organizationId={organizationId}
          what="budget"
          subject={open.budget.subject}
          remove={() => removeBudget(organizationId, open.budget)}
          onClose={close}
        >
          Nothing stops its spending any more, from the next request on.
        </RemoveFromSubject>
      )}
    </Frame>
  )
}

function removeBudget(organizationId: string, { id: budgetId }: Budget) {
  return api('DELETE /api/v1/organizations/{organizationId}/budgets/{budgetId}', {
    params: { organizationId, budgetId },
  })
}

type TableProps = {
  readonly organizationId: string
  readonly budgets: readonly Budget[]
  readonly onOpen: (open: Open) => void
}

function BudgetTable({ organizationId, budgets, onOpen }: TableProps) {
  const reasonOf = useSetterReason(organizationId, 'budgets:update')
  const nameOf = useSubjectName(organizationId)
  const currency = useCurrency()
  const usageReason = useReason(organizationId, 'usage:read')
  const changesOf = (budget: Budget): readonly MenuEntry[] => {
    const reason = reasonOf(budget.setBy)
    return [
      { kind: 'action', label: 'Raise for a time…', reason, act: () => onOpen({ kind: 'raise', budget }) },
      { kind: 'action', label: 'Edit…', reason, act: () => onOpen({ kind: 'set', budget }) },
      { kind: 'action', label: 'Remove…', isBad: true, reason, act: () => onOpen({ kind: 'remove', budget }) },
    ]
  }
  const columns: readonly Column<Budget>[] = [
    { key: 'subject', head: 'For', cell: ({ subject }) => <SubjectName {...nameOf(subject)} /> },
    { key: 'state', head: 'State', phone: 'side', cell: (budget) => <BudgetState budget={budget} /> },
    { key: 'period', head: 'Period', cell: ({ period }) => period },
    {
      key: 'amount',
      head: 'Amount',
      isRight: true,
      cell: (budget) => (
        <>
          {amountsOf({ micros: maxNow(budget, 'microsMax'), tokens: maxNow(budget, 'tokensMax') }, currency)}
          {budget.raise !== null && (
            <>
              {' '}
              <Badge>raised</Badge>
            </>
          )}
        </>
      ),
    },
    {
      key: 'spent',
      head: 'Spent',
      isRight: true,
      cell: (budget) =>
        amountsOf(
          {
            micros: budget.microsMax === null ? null : budget.spent.micros,
            tokens: budget.tokensMax === null ? null : budget.spent.tokens,
          },
          currency,
        ),
    },
    { key: 'share', head: 'Used', cell: (budget) => <Share budget={budget} /> },
    {
      key: 'alerts',
      head: 'Alert at',
      phone: 'off',
      isOneLine: true,
      cell: ({ alertPercents }) => (alertPercents.length === 0 ? '–' : `${alertPercents.join(', ')} %`),
    },
    {
      key: 'anew',
      head: 'Starts anew',
      phone: 'off',
      cell: ({ periodEndsAt }) => (periodEndsAt === null ? 'Never' : <Time at={periodEndsAt} />),
    },
    { key: 'by', head: 'Set by', phone: 'off', cell: ({ setBy }) => setBy },
    {
      key: 'actions',
      head: '',
      isRight: true,
      phone: 'side',
      cell: (budget) => (
        <Menu
          name={`Actions for the budget of ${nameOf(budget.subject).name}`}
          trigger={<IconButton icon="more" name="Actions" isSmall />}
          entries={[
            {
              kind: 'action',
              label: 'Periods before…',
              reason: usageReason ?? historyReason(budget),
              act: () => onOpen({ kind: 'history', budget }),
            },
            ...changesOf(budget),
          ]}
        />
      ),
    },
  ]
  return <Table name="Budgets" columns={columns} items={budgets} keyOf={({ id }) => id} />
}

function BudgetState({ budget }: { readonly budget: Budget }) {
  const { spent, reserved } = sharesOf(budget)
  if (spent >= 1) return <StateTag mood="bad">Stopped</StateTag>
  return spent + reserved >= 0.8 ? <StateTag mood="warn">Near</StateTag> : <StateTag mood="good">Fine</StateTag>
}

function Share({ budget }: { readonly budget: Budget }) {
  const { spent, reserved } = sharesOf(budget)
  return (
    <span title={reserved > 0 ? `and ${formatShare(reserved)} reserved for requests under way` : undefined}>
      {formatShare(spent)}
      <Bar share={spent} second={reserved} />
    </span>
  )
}
