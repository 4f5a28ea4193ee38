import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api, type BodyOf } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import type { Budget } from '../../app/budgets/budget-words.ts'
import { useSetterReason } from '../../app/limits/use-setter-reason.ts'
import { modelIds } from '../../app/models.ts'
import { priceInForce } from '../../app/prices/price-in-force.ts'
import { pricesQuery, useCurrency, type Subject } from '../../app/queries.ts'
import { useReason } from '../../app/session.ts'
import { SubjectField } from '../../app/subject-field.tsx'
import { useChange } from '../../app/use-change.ts'
import { parseCount, parseMoney } from '../../format/parse-typed.ts'
import { Button } from '../../kit/button.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { Drawer } from '../../kit/layers.tsx'
import { Banner } from '../../kit/page.tsx'

const periods = [
  { value: 'day', label: 'Day' },
  { value: 'week', label: 'Week' },
  { value: 'month', label: 'Month' },
  { value: 'year', label: 'Year' },
  { value: 'lifetime', label: 'Once, for good' },
] as const
type Place = { readonly subject: Subject; readonly period: Budget['period'] }
type Values = { readonly money: string; readonly tokens: string; readonly alerts: string }
type Props = {
  readonly organizationId: string
  /** All that there are, since setting one for a place that has one changes that. */
  readonly budgets: readonly Budget[]
  readonly budget: Budget | null
  readonly onClose: () => void
}

export function BudgetDrawer({ organizationId, budgets, budget, onClose }: Props) {
  const [place, setPlace] = useState<Place>(budget ?? ofOrganization(organizationId))
  const [typed, setTyped] = useState<Partial<Values>>({})
  const there = budget ?? budgets.find((one) => isAt(one, place)) ?? null
  const fields = { ...valuesOf(there), ...typed }
  const set = (changes: Partial<Values>) => setTyped({ ...typed, ...changes })
  const change = useChange(
    (body: BodyOf<'PUT /api/v1/organizations/{organizationId}/budgets'>) =>
      api('PUT /api/v1/organizations/{organizationId}/budgets', { params: { organizationId }, body }),
    {
      touches: [['budgets', organizationId]],
      onDone: onClose,
    },
  )
  const body = toBody(place, fields)
  const reasonOf = useSetterReason(organizationId, 'budgets:update')
  const reason = reasonOf(there?.setBy ?? 'organization') ?? (typeof body === 'string' ? body : null)
  const micros = typeof body === 'string' ? null : body.microsMax
  const stops = isSpent(there, micros)
  const foot = (
    <Button type="submit" look={stops ? 'danger' : 'primary'} isBusy={change.isBusy} reason={reason}>
      {budget === null ? 'Set budget' : 'Save'}
    </Button>
  )
  return (
    <Drawer
      title={budget === null ? 'Set budget' : 'Edit budget'}
      isOpen
      onClose={onClose}
      foot={foot}
      onSubmit={() => (typeof body === 'string' || reason !== null ? undefined : void change.run(body))}
    >
      <ChangeProblem problem={change.problem} shown={['microsMax', 'tokensMax', 'alertPercents']} />
      {typeof micros === 'number' && <Unpriced organizationId={organizationId} />}
      {stops && <Banner kind="warn">More than this is spent already: requests stop at once.</Banner>}
      {budget === null && (
        <PlaceFields organizationId={organizationId} place={place} isTaken={there !== null} onChoice={setPlace} />
      )}
      <ValueFields values={fields} set={set} faultOf={change.faultOf} />
    </Drawer>
  )
}

/** Whether so much is spent already, so that requests stop at once. */
function isSpent(budget: Budget | null, micros: number | null | undefined): boolean {
  return budget !== null && typeof micros === 'number' && micros <= budget.spent.micros
}

type ValueProps = {
  readonly values: Values
  readonly set: (changes: Partial<Values>) => void
  readonly faultOf: (path: string) => string | undefined
}

function ValueFields({ values, set, faultOf }: ValueProps) {
  const currency = useCurrency()
  return (
    <>
      <TextField
        label={`Amount, ${currency}`}
        inputMode="decimal"
        placeholder="no limit"
        value={values.money}
        fault={faultOf('microsMax')}
        onText={(money) => set({ money })}
      />
      <TextField
        label="Tokens"
        inputMode="numeric"
        placeholder="no limit"
        value={values.tokens}
        fault={faultOf('tokensMax')}
        onText={(tokens) => set({ tokens })}
      />
      <TextField
        label="Alert at, in percent"
        value={values.alerts}
        fault={faultOf('alertPercents')}
        onText={(alerts) => set({ alerts })}
        hint="Several with commas between them."
      />
    </>
  )
}

type PlaceProps = {
  readonly organizationId: string
  readonly place: Place
  readonly isTaken: boolean
  readonly onChoice: (place: Place) => void
}

function PlaceFields({ organizationId, place, isTaken, onChoice }: PlaceProps) {
  return (
    <>
      <SubjectField
        organizationId={organizationId}
        subject={place.subject}
        onChoice={(subject) => onChoice({ ...place, subject })}
      />
      <Select
        label="Period"
        value={place.period}
        choices={periods}
        onChoice={(period) => onChoice({ ...place, period })}
        hint="Periods begin at midnight UTC; weeks on Monday."
      />
      {isTaken && (
        <Banner kind="info">There is a budget for this already. It is filled in here, and will be changed.</Banner>
      )}
    </>
  )
}

/** Nothing is said to who may not see prices. */
function Unpriced({ organizationId }: { readonly organizationId: string }) {
  const enabled = useReason(organizationId, 'prices:read') === null
  const prices = useQuery({ ...pricesQuery(organizationId), enabled }).data
  if (prices === undefined) return null
  const priceOf = priceInForce(prices, organizationId)
  const models = modelIds.filter((model) => !priceOf(model)?.rates)
  if (models.length === 0) return null
  return (
    <Banner kind="warn">
      No price: {models.join(', ')}. What they answer costs nothing, so money does not bound it. Set their prices, or
      bound tokens.
    </Banner>
  )
}

function ofOrganization(id: string): Place {
  return { subject: { kind: 'organization', id }, period: 'month' }
}

function isAt(budget: Budget, { subject: { kind, id }, period }: Place): boolean {
  return budget.period === period && budget.subject.kind === kind && budget.subject.id === id
}

function valuesOf(budget: Budget | null): Values {
  return {
    money:
      budget?.microsMax === null || budget === null
        ? ''
        : (BigInt(budget.microsMax) / 1_000_000n).toString() + decimalsOf(budget.microsMax),
    tokens: budget?.tokensMax === null || budget === null ? '' : String(budget.tokensMax),
    alerts: budget?.alertPercents.join(', ') ?? '50, 80, 100',
  }
}

function decimalsOf(micros: number): string {
  const part = String(micros % 1_000_000)
    .padStart(6, '0')
    .replace(/0+$/, '')
  return part === '' ? '' : `.${part}`
}

/** The body, or what is still missing. */
function toBody(
  { subject, period }: Place,
  { money, tokens, alerts }: Values,
): BodyOf<'PUT /api/v1/organizations/{organizationId}/budgets'> | string {
  const micros = money.trim() === '' ? null : parseMoney(money)
  if (money.trim() !== '' && micros === null) return 'The amount is a number such as 100, 0.50 or 1,000.50.'
  const count = tokens.trim() === '' ? null : parseCount(tokens)
  if (tokens.trim() !== '' && count === null) return 'Tokens are a whole number.'
  if (micros === null && count === null) return 'An amount or a number of tokens is needed.'
  const percents = alerts.split(',').flatMap((part) => (part.trim() === '' ? [] : [Number(part.trim())]))
  if (!percents.every((percent) => Number.isInteger(percent) && percent > 0))
    return 'Alerts are whole percents, such as 50, 80, 100.'
  // The route takes micros as a number, which is exact up to nine thousand million units.
  return {
    subject,
    period,
    microsMax: micros === null ? null : Number(BigInt(micros)),
    tokensMax: count,
    alertPercents: percents,
  }
}
