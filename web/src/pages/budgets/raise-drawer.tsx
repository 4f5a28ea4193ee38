import { useState } from 'react'
import { api, type BodyOf } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { amountsOf, type Budget } from '../../app/budgets/budget-words.ts'
import { useCurrency } from '../../app/queries.ts'
import { useChange } from '../../app/use-change.ts'
import { parseCount, parseMoney } from '../../format/parse-typed.ts'
import { dayMs, formatInstant } from '../../format/time.ts'
import { Button } from '../../kit/button.tsx'
import { TextField } from '../../kit/field.tsx'
import { Drawer } from '../../kit/layers.tsx'

type Props = { readonly organizationId: string; readonly budget: Budget; readonly onClose: () => void }

/** Higher amounts for a time: the budget itself stays as it is, and is in force again when the time is over. */
export function RaiseDrawer({ organizationId, budget, onClose }: Props) {
  const currency = useCurrency()
  const [money, setMoney] = useState('')
  const [tokens, setTokens] = useState('')
  const until = budget.periodEndsAt ?? new Date(Date.now() + 7 * dayMs).toISOString()
  const params = { organizationId, budgetId: budget.id }
  const touches = [['budgets', organizationId]]
  const change = useChange(
    (body: BodyOf<'PUT /api/v1/organizations/{organizationId}/budgets/{budgetId}/raise'>) =>
      api('PUT /api/v1/organizations/{organizationId}/budgets/{budgetId}/raise', { params, body }),
    { touches, onDone: onClose },
  )
  const micros = parseMoney(money)
  const amounts = { microsMax: micros === null ? null : Number(BigInt(micros)), tokensMax: parseCount(tokens) }
  const faultOf = (name: AmountName, typed: string) =>
    typed.trim() === '' ? null : faultOfAmount(name, { to: amounts[name], from: budget[name], currency })
  const faults = { microsMax: faultOf('microsMax', money), tokensMax: faultOf('tokensMax', tokens) }
  const isNone = amounts.microsMax === null && amounts.tokensMax === null
  const reason = faults.microsMax ?? faults.tokensMax ?? (isNone ? 'The new amount is needed.' : null)
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
      Raise budget
    </Button>
  )
  const field = (name: AmountName, label: string) => ({ label, fault: faults[name] ?? change.faultOf(name) })
  return (
    <Drawer
      title="Raise budget"
      isOpen
      onClose={onClose}
      foot={foot}
      onSubmit={() => (reason === null ? void change.run({ ...given(amounts), until }) : undefined)}
      said={`Until ${formatInstant(until, { zone: 'UTC' })} UTC; after that the budget is as before.`}
    >
      <ChangeProblem problem={change.problem} shown={['microsMax', 'tokensMax']} />
      {budget.microsMax !== null && (
        <TextField
          {...field('microsMax', `New amount, ${currency}`)}
          inputMode="decimal"
          value={money}
          onText={setMoney}
        />
      )}
      {budget.tokensMax !== null && (
        <TextField
          {...field('tokensMax', 'New number of tokens')}
          inputMode="numeric"
          value={tokens}
          onText={setTokens}
        />
      )}
    </Drawer>
  )
}

type AmountName = 'microsMax' | 'tokensMax'
type Raised = { readonly to: number | null; readonly from: number | null; readonly currency: string }

function faultOfAmount(name: AmountName, { to, from, currency }: Raised): string | null {
  if (to === null)
    return name === 'tokensMax' ? 'Tokens are a whole number.' : 'An amount such as 100, 0.50 or 1,000.50.'
  if (from === null || to > from) return null
  const had = { micros: null, tokens: null, [name === 'tokensMax' ? 'tokens' : 'micros']: from }
  return `The budget has ${amountsOf(had, currency)} already: more than that is needed.`
}

/** What is not typed stays as it is. */
function given({ microsMax, tokensMax }: Readonly<Record<AmountName, number | null>>) {
  return { ...(microsMax !== null && { microsMax }), ...(tokensMax !== null && { tokensMax }) }
}
