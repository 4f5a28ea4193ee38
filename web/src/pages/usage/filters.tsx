import { DateFilters, ScopeFilters } from '../../app/scope-filters.tsx'
import { useReason } from '../../app/session.ts'
import { ZoneFilter } from '../../app/zone-field.tsx'
import { Checkbox, Select } from '../../kit/field.tsx'
import { TextFilter } from '../../kit/filter-fields.tsx'
import type { UsageSearch } from './search.ts'

const ranges = [
  { value: 'today', label: 'Today' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
  { value: 'month', label: 'This month' },
  { value: 'last-month', label: 'Last month' },
  { value: '12m', label: '12 months' },
  { value: 'custom', label: 'Two dates…' },
] as const
const buckets = [
  { value: 'auto', label: 'As fits' },
  { value: 'hour', label: 'Hour' },
  { value: 'day', label: 'Day' },
  { value: 'week', label: 'Week' },
  { value: 'month', label: 'Month' },
] as const
const groups = [
  { value: 'model', label: 'Model' },
  { value: 'project', label: 'Project' },
  { value: 'key', label: 'Key' },
  { value: 'member', label: 'Member' },
  { value: 'user', label: 'End user' },
  { value: 'tag', label: 'Tag' },
  { value: 'nothing', label: 'Nothing' },
] as const

type Props = {
  readonly organizationId: string
  readonly search: UsageSearch
  readonly onChange: (changes: Partial<UsageSearch>) => void
}

export function UsageFilters({ organizationId, search, onChange }: Props) {
  const hidden = [
    useReason(organizationId, 'api-keys:read') === null ? null : 'key',
    useReason(organizationId, 'members:read') === null ? null : 'member',
  ]
  // An address may still ask for them: the service has their sums, without names.
  const shown = groups.filter(({ value }) => value === search.by || !hidden.includes(value))
  return (
    <>
      <Select isInline label="Time" value={search.range} choices={ranges} onChoice={(range) => onChange({ range })} />
      {search.range === 'custom' && <DateFilters search={search} instead="the last 30 days" onChange={onChange} />}
      <Select isInline label="By" value={search.by} choices={shown} onChoice={(by) => onChange({ by })} />
      <Select
        isInline
        label="Bars"
        value={search.bucket}
        choices={buckets}
        onChoice={(bucket) => onChange({ bucket })}
      />
      <ZoneFilter zone={search.zone} onZone={(zone) => onChange({ zone })} />
      <ScopeFilters organizationId={organizationId} search={search} onChange={onChange} />
      <AttributionFilters search={search} onChange={onChange} />
      <Checkbox
        label="Compare with the time before"
        isOn={search.previous}
        onChange={(previous) => onChange({ previous })}
      />
    </>
  )
}

/** Whom requests are for, as far as the organization keeps that: end users by their names, or a tag with its value. */
function AttributionFilters({ search, onChange }: Omit<Props, 'organizationId'>) {
  const { by, user, tagKey, tag } = search
  if (by !== 'tag' && tagKey === '') {
    return <TextFilter label="End user" value={user} onText={(text) => onChange({ user: text })} />
  }
  return (
    <>
      <TextFilter label="Tag" value={tagKey} onText={(text) => onChange({ tagKey: text, tag: '' })} />
      <TextFilter label="Its value" value={tag} onText={(text) => onChange({ tag: text })} />
    </>
  )
}
