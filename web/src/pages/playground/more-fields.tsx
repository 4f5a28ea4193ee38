import { Select, TextArea, TextField } from '../../kit/field.tsx'
import { Disclosure } from '../../kit/page.tsx'
import { numberRules, unsaidIn } from './more-settings.ts'
import type { PlaygroundSearch } from './search.ts'

const choices = [
  { value: 'auto', label: 'As the model likes' },
  { value: 'any', label: 'One at least' },
  { value: 'none', label: 'None' },
] as const
const caches = [
  { value: 'none', label: 'No mark' },
  { value: '5m', label: 'Kept for 5 minutes' },
  { value: '1h', label: 'Kept for an hour' },
] as const

type Props = {
  readonly search: PlaygroundSearch
  readonly onChange: (changes: Partial<PlaygroundSearch>) => void
}

/** Fields that the chosen format does not have are not there; what was set of them is named. */
export function MoreFields({ search, onChange }: Props) {
  const { format } = search
  const unsaid = unsaidIn(format, search)
  return (
    <Disclosure title="More">
      {numberRules
        .filter(({ as }) => as[format] !== null)
        .map(({ field, name }) => (
          <TextField
            key={field}
            label={name}
            inputMode="decimal"
            placeholder="as the model does"
            value={search[field]}
            onText={(text) => onChange({ [field]: text.trim() })}
          />
        ))}
      <TextArea
        label="Stop sequences"
        isMono
        rows={2}
        value={search.stops}
        onText={(stops) => onChange({ stops })}
        hint="One to a line."
      />
      <Select
        label="Calls of tools"
        value={search.choice}
        choices={choices}
        onChoice={(choice) => onChange({ choice })}
      />
      {format === 'messages' && (
        <Select label="Cache mark" value={search.cache} choices={caches} onChoice={(cache) => onChange({ cache })} />
      )}
      {unsaid.length > 0 && <p role="status">This format cannot say: {unsaid.join(', ')}. It is left out.</p>}
    </Disclosure>
  )
}
