import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api, type BodyOf } from '../../api/client.ts'
import { ChangeProblem } from '../change-problem.tsx'
import { modelChoices, type ModelId } from '../models.ts'
import { organizationsQuery, useCurrency } from '../queries.ts'
import { kinds, type RateName } from './kinds.ts'
import { Preview } from './preview.tsx'
import { useMembership } from '../session.ts'
import { useChange } from '../use-change.ts'
import { parseMoney } from '../../format/parse-typed.ts'
import { Button } from '../../kit/button.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { Drawer } from '../../kit/layers.tsx'

type Rates = Readonly<Record<RateName, string>>
const noRates: Rates = { input: '', cacheRead: '', cacheWriteShort: '', cacheWriteLong: '', output: '' }
type Fields = {
  readonly model: ModelId /** An organization’s id; the empty text is everybody. */
  readonly whom: string
  readonly from: string
  readonly rates: Rates
}

export function PriceDrawer({
  organizationId,
  onClose,
}: {
  readonly organizationId: string | null
  readonly onClose: () => void
}) {
  const currency = useCurrency()
  const organizations = useOrganizations(organizationId)
  const [fields, setFields] = useState<Fields>({ model: 'clarke-1.0', whom: '', from: '', rates: noRates })
  const set = (changes: Partial<Fields>) => setFields({ ...fields, ...changes })
  const change = useChange(
    (body: BodyOf<'POST /api/v1/prices'>, options) => api('POST /api/v1/prices', { body }, options),
    { touches: [['prices']], onDone: onClose },
  )
  const reason = reasonOf(fields)
  const save = () => (reason === null ? void change.run(toBody(fields, currency)) : undefined)
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
      Set price
    </Button>
  )
  return (
    <Drawer
      title="Set price"
      isOpen
      onClose={onClose}
      foot={foot}
      onSubmit={save}
      said="Requests that are under way keep the price they began with."
    >
      <ChangeProblem problem={change.problem} shown={['effectiveAt']} />
      <Select label="Model" value={fields.model} choices={modelChoices} onChoice={(model) => set({ model })} />
      <Select
        label="For"
        value={fields.whom}
        choices={[
          { value: '', label: 'Everybody without a price of their own' },
          ...organizations.map(({ id, name }) => ({ value: id, label: `${name} alone` })),
        ]}
        onChoice={(whom) => set({ whom })}
      />
      {kinds.map(([field, label]) => (
        <TextField
          key={field}
          label={`${label}, ${currency} for a million tokens`}
          inputMode="decimal"
          value={fields.rates[field]}
          fault={change.faultOf(`rates.${field}`)}
          onText={(text) => set({ rates: { ...fields.rates, [field]: text } })}
        />
      ))}
      <Preview body={reason === null ? toBody(fields, currency) : null} currency={currency} />
      <TextField
        label="From, in your time zone"
        type="datetime-local"
        value={fields.from}
        fault={change.faultOf('effectiveAt') ?? faultOfFrom(fields.from) ?? undefined}
        onText={(from) => set({ from })}
        hint="Empty: as soon as possible."
      />
    </Drawer>
  )
}

/** Whose own price it may be: the page's organization, or any where the page is of the whole installation. */
function useOrganizations(organizationId: string | null): readonly { readonly id: string; readonly name: string }[] {
  const own = useMembership(organizationId ?? '')
  const all = useQuery({ ...organizationsQuery, enabled: organizationId === null }).data ?? []
  if (organizationId === null) return all
  return [{ id: organizationId, name: own?.organizationName ?? organizationId }]
}

/** A year that is being typed may have more digits than a time has, or fewer. */
function faultOfFrom(from: string): string | null {
  return from === '' || /^[2-8]\d{3}-/.test(from) ? null : 'This is a day and a time from the year 2000 on.'
}

function reasonOf({ rates, from }: Fields): string | null {
  const wrong = kinds.find(([field]) => parseMoney(rates[field]) === null)
  if (wrong !== undefined) return `${wrong[1]} is an amount such as 3 or 0.30.`
  return micros(rates.cacheRead) > micros(rates.input)
    ? 'Reading from the cache costs more than input then; this is likely a mistake.'
    : faultOfFrom(from)
}

function micros(text: string): number {
  // Rates are small: a million units fit exactly.
  return Number(BigInt(parseMoney(text) ?? '0'))
}

function toBody({ model, whom, from, rates }: Fields, currency: string): BodyOf<'POST /api/v1/prices'> {
  return {
    model,
    currency,
    organizationId: whom === '' ? null : (whom as `org_${string}`),
    ...(from !== '' && { effectiveAt: new Date(from).toISOString() }),
    rates: {
      input: micros(rates.input),
      cacheRead: micros(rates.cacheRead),
      cacheWriteShort: micros(rates.cacheWriteShort),
      cacheWriteLong: micros(rates.cacheWriteLong),
      output: micros(rates.output),
    },
  }
}
