import { Checkbox, CheckboxGroup, Select, TextArea, TextField } from '../../kit/field.tsx'
import { modelChoices, type ModelId } from '../models.ts'
import type { ApiKey } from '../queries.ts'
import { endpointChoices, type EndpointName } from './endpoint-choices.ts'
import { dayMs, formatInstant } from '../../format/time.ts'

const endings = [
  { value: 'never', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: 'date', label: 'On a date' },
] as const
type Ending = (typeof endings)[number]['value']
const turns = [
  { value: 'organization', label: 'As the organization’s' },
  { value: 'interactive', label: 'Interactive: soonest' },
  { value: 'standard', label: 'Standard' },
  { value: 'batch', label: 'Batch: last' },
] as const
type Turn = (typeof turns)[number]['value']

/** A key's rules as a form has them. */
export type RuleFields = {
  readonly name: string
  readonly ending: Ending
  readonly endDate: string
  readonly models: readonly ModelId[]
  readonly endpoints: readonly EndpointName[]
  readonly addresses: string
  readonly turn: Turn
}

export const noRules: RuleFields = {
  name: '',
  ending: 'never',
  endDate: '',
  models: modelChoices.map(({ value }) => value),
  endpoints: endpointChoices.map(({ value }) => value),
  addresses: '',
  turn: 'organization',
}

export function fieldsOf({ name, expiresAt, models, endpoints, addresses, priority }: ApiKey): RuleFields {
  return {
    name,
    ending: expiresAt === null ? 'never' : 'date',
    endDate: expiresAt?.slice(0, 10) ?? '',
    models: models ?? noRules.models,
    endpoints: endpoints ?? noRules.endpoints,
    addresses: addresses?.join('\n') ?? '',
    turn: priority ?? 'organization',
  }
}

/** As the service takes them: what allows everything is no rule, and is null. */
export function toRules({ ending, endDate, models, endpoints, addresses, turn }: RuleFields) {
  const lines = addresses.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]))
  return {
    expiresAt:
      ending === 'never'
        ? null
        : ending === 'date'
          ? `${endDate}T00:00:00Z`
          : new Date(Date.now() + Number(ending) * dayMs).toISOString(),
    models: models.length === modelChoices.length ? null : [...models],
    endpoints: endpoints.length === endpointChoices.length ? null : [...endpoints],
    addresses: lines.length === 0 ? null : lines,
    priority: turn === 'organization' ? null : turn,
  }
}

/** What can be said to be wrong before anything is sent. */
export function reasonOfRules({ name, ending, endDate, models, endpoints }: RuleFields): string | null {
  if (name.trim() === '') return 'A name is needed.'
  if (ending === 'date' && endDate === '') return 'A date is needed.'
  if (models.length === 0) return 'At least one model is needed.'
  return endpoints.length === 0 ? 'At least one format is needed.' : null
}

type Props = {
  readonly fields: RuleFields
  readonly set: (changes: Partial<RuleFields>) => void
  readonly faultOf: (path: string) => string | undefined
  /** When a key that is there already ends, which is seldom at midnight. */
  readonly endsAt?: string | null
}

export function NameField({ fields, set, faultOf }: Props) {
  return (
    <TextField
      label="Name"
      required
      maxLength={200}
      autoComplete="off"
      placeholder="laptop"
      value={fields.name}
      fault={faultOf('name')}
      onText={(name) => set({ name })}
      hint="Where it is used, so that whoever sees it later knows."
    />
  )
}

export function RulesFields({ fields, set, faultOf, endsAt = null }: Props) {
  return (
    <>
      <Select
        label="Ends"
        value={fields.ending}
        choices={endings}
        fault={faultOf('expiresAt')}
        onChoice={(ending) => set({ ending })}
      />
      {fields.ending === 'date' && (
        <TextField
          label="Last day before (UTC)"
          type="date"
          min={new Date().toISOString().slice(0, 10)}
          value={fields.endDate}
          onText={(endDate) => set({ endDate })}
          hint={
            endsAt?.slice(0, 10) === fields.endDate
              ? `It ends on ${formatInstant(endsAt, { zone: 'UTC' })} UTC, and still does if this day stays.`
              : undefined
          }
        />
      )}
      <CheckboxGroup
        label="Models"
        choices={modelChoices}
        chosen={fields.models}
        onChange={(models) => set({ models })}
      />
      <CheckboxGroup
        label="Formats"
        choices={endpointChoices}
        chosen={fields.endpoints}
        onChange={(endpoints) => set({ endpoints })}
      />
      <Select
        label="Turn when requests wait"
        value={fields.turn}
        choices={turns}
        fault={faultOf('priority')}
        onChoice={(turn) => set({ turn })}
        hint="Never sooner than its organization’s."
      />
      <AddressesField fields={fields} set={set} faultOf={faultOf} />
    </>
  )
}

function AddressesField({ fields, set, faultOf }: Props) {
  const isOn = fields.addresses !== ''
  return (
    <>
      <Checkbox
        label="Only from some addresses"
        isOn={isOn}
        onChange={(on) => set({ addresses: on ? '10.0.0.0/8' : '' })}
      />
      {isOn && (
        <TextArea
          label="Addresses"
          isMono
          fault={faultOf('addresses')}
          value={fields.addresses}
          onText={(addresses) => set({ addresses: addresses === '' ? '\n' : addresses })}
          hint="One address or CIDR block a line, such as 10.0.0.0/8."
        />
      )}
    </>
  )
}
