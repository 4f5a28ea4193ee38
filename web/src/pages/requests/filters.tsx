import { NameFilter } from '../../app/name-filter.tsx'
import { useMemberList } from '../../app/queries.ts'
import { amount, type RequestsSearch } from '../../app/requests/requests-search.ts'
import { DateFilters, ScopeFilters, named } from '../../app/scope-filters.tsx'
import { ZoneFilter } from '../../app/zone-field.tsx'
import { Select } from '../../kit/field.tsx'
import { NumberFilter } from '../../kit/filter-fields.tsx'
import { Disclosure } from '../../kit/page.tsx'
import { SearchField } from '../../kit/search-field.tsx'
import { wholeNumber } from '../../lib/search-codec.ts'

const ranges = [
  { value: 'hour', label: 'This hour' },
  { value: 'today', label: 'Today' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
  { value: 'all', label: 'All' },
  { value: 'custom', label: 'Two dates…' },
] as const
const outcomes = [
  { value: 'any', label: 'All' },
  { value: 'finished', label: 'Finished' },
  { value: 'aborted', label: 'Left by the client' },
  { value: 'failed', label: 'Failed' },
] as const
const formats = [
  { value: 'any', label: 'All' },
  { value: 'chat-completions', label: 'Chat completions' },
  { value: 'messages', label: 'Messages' },
] as const
const streams = [
  { value: 'any', label: 'All' },
  { value: 'yes', label: 'Streams' },
  { value: 'no', label: 'Whole answers' },
] as const
const caches = [
  { value: 'any', label: 'All' },
  { value: 'miss', label: 'Misses only' },
] as const

const wholeMs = {
  isKept: (text: string) => wholeNumber.read(text) !== undefined,
  words: 'A whole number, such as 500.',
}
const anyAmount = { isKept: (text: string) => amount.read(text) !== undefined, words: 'An amount, such as 0.05.' }

type Props = {
  readonly organizationId: string
  readonly search: RequestsSearch
  readonly onChange: (changes: Partial<RequestsSearch>) => void
}

export function RequestFilters({ organizationId, search, onChange }: Props) {
  const isCustom = search.range === 'custom' || search.from !== '' || search.to !== ''
  return (
    <>
      <SearchField label="Request id, or the client’s" value={search.q} onText={(q) => onChange({ q: q.trim() })} />
      <Select
        isInline
        label="Time"
        value={isCustom ? 'custom' : search.range}
        choices={ranges}
        onChoice={(range) => onChange({ range, ...(range !== 'custom' && { from: '', to: '' }) })}
      />
      {isCustom && <DateFilters search={search} onChange={onChange} />}
      <Select
        isInline
        label="Outcome"
        value={search.outcome}
        choices={outcomes}
        onChoice={(outcome) => onChange({ outcome })}
      />
      <ScopeFilters organizationId={organizationId} search={search} onChange={onChange} />
      <MoreFilters organizationId={organizationId} search={search} onChange={onChange} />
    </>
  )
}

/** Those that are seldom needed, open where one of them is in use. */
function MoreFilters({ organizationId, search, onChange }: Props) {
  const members = useMemberList(organizationId)
  const { member, format, stream, cache, slower, dearer } = search
  const inUse = [member, slower, dearer].filter((value) => value !== '').length
  const count = inUse + [format, stream, cache].filter((value) => value !== 'any').length
  return (
    <Disclosure isOpen={count > 0} title={count === 0 ? 'More filters' : `More filters: ${count} in use`}>
      {members.length > 0 && (
        <NameFilter
          label="Owner of the key"
          value={member}
          choices={named(members)}
          onChoice={(chosen) => onChange({ member: chosen })}
        />
      )}
      <Select
        isInline
        label="Format"
        value={format}
        choices={formats}
        onChoice={(chosen) => onChange({ format: chosen })}
      />
      <Select
        isInline
        label="Answers"
        value={stream}
        choices={streams}
        onChoice={(chosen) => onChange({ stream: chosen })}
      />
      <Select
        isInline
        label="Cache"
        value={cache}
        choices={caches}
        onChoice={(chosen) => onChange({ cache: chosen })}
      />
      <NumberFilter
        label="Slower than, ms"
        value={slower}
        rule={wholeMs}
        onText={(text) => onChange({ slower: text })}
      />
      <NumberFilter label="Dearer than" value={dearer} rule={anyAmount} onText={(text) => onChange({ dearer: text })} />
      <ZoneFilter zone={search.zone} onZone={(zone) => onChange({ zone })} />
    </Disclosure>
  )
}
