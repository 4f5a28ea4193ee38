import { useState } from 'react'
import { api, type BodyOf } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import type { Budget } from '../../app/budgets/budget-words.ts'
import { useCurrency } from '../../app/queries.ts'
import { useChange } from '../../app/use-change.ts'
import { parseMoney } from '../../format/parse-typed.ts'
import { dayMs, formatInstant } from '../../format/time.ts'
import { Button } from '../../kit/button.tsx'
import { TextField } from '../../kit/field.tsx'
import { Drawer } from '../../kit/layers.tsx'

type Props = { readonly organizationId: string; readonly budget: Budget; readonly onClose: () => void }

/** A higher amount for a time: the budget itself stays as it is, and is in force again when the time is over. */
export function RaiseDrawer({ organizationId, budget, onClose }: Props) {
  const currency = useCurrency()
  const [money, setMoney] = useState('')
  const until = budget.periodEndsAt ?? new Date(Date.now() + 7 * dayMs).toISOString()
  const params = { organizationId, budgetId: budget.id }
  const touches = [['budgets', organizationId]]
  const change = useChange(
    (body: BodyOf<'PUT /api/v1/organizations/{organizationId}/budgets/{budgetId}/raise'>) =>
      api('PUT /api/v1/organizations/{organizationId}/budgets/{budgetId}/raise', { params, body }),
    { touches, onDone: onClose },
  )
  const micros = parseMoney(money)
  const isMoney = budget.microsMax !== null
  const tokens = /^\d+$/.test(money) ? Number(money) : null
  const reason = (isMoney ? micros : tokens) === null ? 'The new amount is needed.' : null
  const raise = () => {
    if (isMoney && micros !== null) void change.run({ microsMax: Number(BigInt(micros)), until })
    else if (tokens !== null) void change.run({ tokensMax: tokens, until })
  }
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
      Raise budget
    </Button>
  )
  return (
    <Drawer
      title="Raise budget"
      isOpen
      onClose={onClose}
      foot={foot}
      onSubmit={raise}
      said={`Until ${formatInstant(until, { zone: 'UTC' })} UTC; after that the budget is as before.`}
    >
      <ChangeProblem problem={change.problem} />
      <TextField
        label={isMoney ? `New amount, ${currency}` : 'New number of tokens'}
        inputMode="decimal"
        value={money}
        onText={setMoney}
      />
    </Drawer>
  )
}
