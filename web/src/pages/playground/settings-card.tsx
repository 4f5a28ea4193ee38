import { modelChoices } from '../../app/models.ts'
import { Select, TextArea, TextField } from '../../kit/field.tsx'
import { Card, Disclosure, Stack } from '../../kit/page.tsx'
import { Segments } from '../../kit/tabs.tsx'
import { faultOfSchema, faultOfTools } from './conversation.ts'
import { MoreFields } from './more-fields.tsx'
import type { PlaygroundSearch } from './search.ts'

const formats = [
  { value: 'messages', label: 'Messages' },
  { value: 'chat-completions', label: 'Chat completions' },
] as const
const thinking = [
  { value: 'default', label: 'As the model does' },
  { value: 'on', label: 'On' },
  { value: 'off', label: 'Off' },
] as const

/** What is said, which no link carries. */
export type Texts = {
  readonly system: string
  /** A list of `{name, description, parameters}` as JSON; empty for none. */
  readonly tools: string
  /** A JSON Schema that the answer has to keep; empty for none. */
  readonly schema: string
}

type Props = {
  readonly search: PlaygroundSearch
  readonly texts: Texts
  readonly fault: string | null
  readonly onChange: (changes: Partial<PlaygroundSearch>) => void
  readonly onText: (changes: Partial<Texts>) => void
}

export function SettingsCard({ search, texts, fault, onChange, onText }: Props) {
  return (
    <Card title="Settings">
      <Stack>
        <Segments
          name="Wire format"
          tabs={formats}
          chosen={search.format}
          onChoice={(format) => onChange({ format })}
        />
        <Select label="Model" value={search.model} choices={modelChoices} onChoice={(model) => onChange({ model })} />
        <Select
          label="Thinking"
          value={search.thinking}
          choices={thinking}
          onChoice={(chosen) => onChange({ thinking: chosen })}
        />
        {search.compare && (
          <>
            <Select
              label="Other model"
              value={search.other}
              choices={modelChoices}
              onChoice={(other) => onChange({ other })}
            />
            <Select
              label="Thinking of the other"
              value={search.otherThinking}
              choices={thinking}
              onChoice={(chosen) => onChange({ otherThinking: chosen })}
            />
          </>
        )}
        <TextArea label="System" value={texts.system} onText={(system) => onText({ system })} />
        <TextField
          label="Output tokens at most"
          inputMode="numeric"
          value={search.max}
          onText={(max) => onChange({ max: max.replaceAll(/\D/g, '').slice(0, 7) })}
        />
        <TextField
          label="Temperature"
          inputMode="decimal"
          placeholder="as the model does"
          value={search.temperature}
          onText={(temperature) => onChange({ temperature })}
        />
        <MoreFields search={search} onChange={onChange} />
        <Disclosure title="Tools and JSON">
          <TextArea
            label="Tools"
            isMono
            rows={6}
            placeholder={exampleTool}
            value={texts.tools}
            onText={(tools) => onText({ tools })}
            fault={faultOfTools(texts.tools) ?? undefined}
            hint="A JSON list of {name, description, parameters}."
          />
          <TextArea
            label="JSON Schema of the answer"
            isMono
            rows={4}
            placeholder={exampleSchema}
            value={texts.schema}
            onText={(schema) => onText({ schema })}
            fault={faultOfSchema(texts.schema) ?? undefined}
          />
        </Disclosure>
        {fault !== null && <p role="status">{fault}</p>}
      </Stack>
    </Card>
  )
}

const exampleTool =
  '[{"name": "lookup_invoice", "description": "…", "parameters": {"type": "object", "properties": {"id": {"type": "string"}}}}]'
const exampleSchema = '{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}'
