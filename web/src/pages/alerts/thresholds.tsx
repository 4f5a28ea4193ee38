import { amountsOf, type Budget } from '../../app/budgets/budget-words.ts'
import { pagePath } from '../../app/paths.ts'
import { useCurrency } from '../../app/queries.ts'
import { SubjectName, useSubjectName } from '../../app/subject-name.tsx'
import { LinkButton } from '../../kit/button.tsx'
import { Card, Row, StateTag } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'

type Props = { readonly organizationId: string; readonly budgets: readonly Budget[] }

/** At which shares each budget tells, and which of them were reached in its period. */
export function Thresholds({ organizationId, budgets }: Props) {
  const subjectOf = useSubjectName(organizationId)
  const currency = useCurrency()
  const columns: readonly Column<Budget>[] = [
    { key: 'subject', head: 'Budget of', cell: ({ subject }) => <SubjectName {...subjectOf(subject)} /> },
    {
      key: 'amount',
      head: 'Amount',
      phone: 'side',
      cell: ({ microsMax, tokensMax, period }) =>
        `${amountsOf({ micros: microsMax, tokens: tokensMax }, currency)}, ${period}`,
    },
    {
      key: 'alerts',
      head: 'Tells at',
      cell: ({ alerts }) =>
        alerts.length === 0 ? (
          'nothing'
        ) : (
          <Row>
            {alerts.map(({ percent, reachedAt }) => (
              <StateTag key={percent} mood={reachedAt === null ? 'off' : 'warn'}>
                {`${percent} %${reachedAt === null ? '' : ', reached'}`}
              </StateTag>
            ))}
          </Row>
        ),
    },
  ]
  return (
    <Card
      title="Thresholds"
      isFlush
      actions={
        <LinkButton isSmall href={pagePath('budgets', { organizationId })}>
          Change them with the budgets
        </LinkButton>
      }
    >
      {budgets.length === 0 ? (
        <p style={{ padding: '4px 16px 16px' }}>
          No budgets yet. One tells at 50, 80 and 100 % unless it is set otherwise.
        </p>
      ) : (
        <Table name="Thresholds" columns={columns} items={budgets} keyOf={({ id }) => id} />
      )}
    </Card>
  )
}
