import { useQuery } from '@tanstack/react-query'
import { budgetsQuery } from '../../app/budgets/budgets-query.ts'
import { sharesOf } from '../../app/budgets/budget-words.ts'
import { pagePath } from '../../app/paths.ts'
import { useNames } from '../../app/queries.ts'
import { useMembership, useReason } from '../../app/session.ts'
import { formatShare } from '../../format/figures.ts'
import { LinkButton } from '../../kit/button.tsx'
import { Name } from '../../kit/content.tsx'
import { Bar } from '../../kit/figures.tsx'
import { Card, KeyValue } from '../../kit/page.tsx'

/** How much is left of what may be spent, the nearest to its end first. */
export function Budgets({ organizationId }: { readonly organizationId: string }) {
  const mayRead = useReason(organizationId, 'budgets:read') === null
  const budgets = useQuery({ ...budgetsQuery(organizationId), enabled: mayRead }).data
  const nameOf = useNames(organizationId)
  const organization = useMembership(organizationId)?.organizationName ?? ''
  if (budgets === undefined) return null
  const nearest = budgets.toSorted((one, other) => sharesOf(other).spent - sharesOf(one).spent).slice(0, 5)
  return (
    <Card
      title="Budgets"
      actions={
        <LinkButton isSmall href={pagePath('budgets', { organizationId })}>
          All
        </LinkButton>
      }
    >
      {nearest.length === 0 && <p>No budgets. A budget stops spending at an amount you choose.</p>}
      <KeyValue
        rows={nearest.map((budget) => {
          const { spent, reserved } = sharesOf(budget)
          const name = budget.subject.kind === 'organization' ? organization : nameOf(budget.subject.id)
          return [
            `${name}, ${budget.period}`,
            <span key={budget.id}>
              <Name>{formatShare(spent)}</Name> spent
              <Bar share={spent} second={reserved} />
            </span>,
          ]
        })}
      />
    </Card>
  )
}
