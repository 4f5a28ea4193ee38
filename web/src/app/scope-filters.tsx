import { NameFilter } from './name-filter.tsx'
import { Select } from '../kit/field.tsx'
import { DayField } from '../kit/filter-fields.tsx'
import { modelChoices } from './models.ts'
import { useProjects, useKeyList } from './queries.ts'
import { useReason } from './session.ts'

export type ScopeSearch = { readonly model: string; readonly project: string; readonly key: string }

type Props = {
  readonly organizationId: string
  readonly search: ScopeSearch
  readonly onChange: (changes: Partial<ScopeSearch>) => void
}

/** Whose requests are meant: those of a model, of a project, of a key, or all. */
export function ScopeFilters({ organizationId, search, onChange }: Props) {
  const projects = useProjects(organizationId)
  const keys = useKeyList(organizationId)
  const seesKeys = useReason(organizationId, 'api-keys:read') === null
  return (
    <>
      <Select
        isInline
        label="Model"
        value={search.model}
        choices={[all, ...modelChoices]}
        onChoice={(model) => onChange({ model })}
      />
      <NameFilter
        label="Project"
        value={search.project}
        choices={named(projects)}
        onChoice={(project) => onChange({ project })}
      />
      {seesKeys && (
        <NameFilter label="Key" value={search.key} choices={named(keys)} onChoice={(key) => onChange({ key })} />
      )}
    </>
  )
}

const all = { value: '', label: 'All' }

/** Everything, or one of what has a name. */
export function named(items: readonly { readonly id: string; readonly name: string }[]) {
  return [all, ...items.map(({ id, name }) => ({ value: id, label: name }))]
}

type Dates = { readonly from: string; readonly to: string }

type DateProps = {
  readonly search: Dates
  /** What is shown where the two days are the wrong way round, if that is not nothing. */
  readonly instead?: string
  onChange(changes: Partial<Dates>): void
}

/** The two days of a range that is no named one. */
export function DateFilters({ search, instead, onChange }: DateProps) {
  const [from, to] = [search.from.slice(0, 10), search.to.slice(0, 10)]
  const fault = instead === undefined ? 'This is before From.' : `This is before From, so ${instead} are shown.`
  return (
    <>
      <DayField label="From" value={from} onText={(day) => onChange({ from: day })} />
      <DayField
        label="To"
        value={to}
        fault={to !== '' && to < from ? fault : undefined}
        onText={(day) => onChange({ to: day })}
      />
    </>
  )
}
