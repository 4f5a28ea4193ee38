import { isInUse } from '../../app/keys/key-state.tsx'
import { ownerOf, useProjects, useNames, type ApiKey } from '../../app/queries.ts'
import { SearchField } from '../../kit/search-field.tsx'
import { Select } from '../../kit/field.tsx'
import type { KeysSearch } from '../../app/keys/keys-search.ts'

const states = [
  { value: 'in-use', label: 'In use' },
  { value: 'active', label: 'Active' },
  { value: 'disabled', label: 'Disabled' },
  { value: 'ended', label: 'Ended or revoked' },
  { value: 'all', label: 'All' },
] as const
const unused = [
  { value: 'any', label: 'Any time' },
  { value: '30', label: 'Not for 30 days' },
  { value: '90', label: 'Not for 90 days' },
] as const

type Props = {
  readonly organizationId: string
  readonly search: KeysSearch
  readonly onChange: (changes: Partial<KeysSearch>) => void
  readonly keys: readonly ApiKey[]
}

export function KeyFilters({ organizationId, search, onChange, keys }: Props) {
  const projects = useProjects(organizationId)
  const nameOf = useNames(organizationId)
  const owners = [...new Set(keys.map(ownerOf).filter((id) => id !== null))]
  const hidden = search.state === 'in-use' ? keys.filter((key) => !isInUse(key)).length : 0
  const all = { value: '', label: 'All' }
  return (
    <>
      <SearchField label="Name, last four or id" value={search.q} onText={(q) => onChange({ q })} />
      <Select isInline label="State" value={search.state} choices={states} onChoice={(state) => onChange({ state })} />
      <Select
        isInline
        label="Project"
        value={search.project}
        choices={[all, ...projects.map(({ id, name }) => ({ value: id, label: name }))]}
        onChoice={(project) => onChange({ project })}
      />
      <Select
        isInline
        label="Owner"
        value={search.owner}
        choices={[all, ...owners.map((id) => ({ value: id, label: nameOf(id) }))]}
        onChoice={(owner) => onChange({ owner })}
      />
      <Select
        isInline
        label="Used"
        value={search.unused}
        choices={unused}
        onChoice={(value) => onChange({ unused: value })}
      />
      {hidden > 0 && <span>{hidden} ended hidden</span>}
    </>
  )
}
