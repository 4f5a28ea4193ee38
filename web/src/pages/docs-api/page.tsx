import { useMemo } from 'react'
import { DocsFrame } from '../../app/docs/docs-frame.tsx'
import { operationsOf, type OpenApi, type Operation } from '../../app/docs/openapi.ts'
import { languages, type Language } from '../../app/docs/operation-code.ts'
import { Document } from '../../app/docs/read-document.tsx'
import { useSearch } from '../../app/router.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { Row, Stack } from '../../kit/page.tsx'
import { Segments } from '../../kit/tabs.tsx'
import { oneOf, searchCodec, text } from '../../lib/search-codec.ts'
import { OperationEntry } from './operation-entry.tsx'

const documents = { models: '/v1/openapi.json', management: '/api/v1/openapi.json' } as const
type Which = keyof typeof documents

const search = searchCodec({
  of: oneOf<Which>(['models', 'management'], 'models'),
  q: text(),
  tag: text(),
  language: oneOf<Language>(['curl', 'typescript', 'python'], 'curl'),
})

const tabs = [
  { value: 'models', label: 'Models' },
  { value: 'management', label: 'Management' },
] as const

/** The reference of both APIs, from the documents that the service itself serves. */
export function Page() {
  const [state, change] = useSearch(search)
  const { of, language } = state
  return (
    <DocsFrame
      title="API reference"
      said="Made of the schemas that read requests, so it says what this service does and nothing else."
    >
      <Row>
        <Segments name="API" tabs={tabs} chosen={of} onChoice={(chosen) => change({ of: chosen, tag: '', q: '' })} />
        <Segments
          name="Language"
          tabs={languages}
          chosen={language}
          onChoice={(chosen) => change({ language: chosen })}
        />
        <a href={documents[of]}>The document as JSON</a>
      </Row>
      <Document<OpenApi> key={of} address={documents[of]}>
        {(document) => <Operations document={document} state={state} onChange={change} />}
      </Document>
    </DocsFrame>
  )
}

type State = { readonly of: Which; readonly q: string; readonly tag: string; readonly language: Language }
type Props = {
  readonly document: OpenApi
  readonly state: State
  readonly onChange: (changes: Partial<State>) => void
}

function Operations({ document, state: { of, q, tag, language }, onChange }: Props) {
  const all = useMemo(() => operationsOf(document), [document])
  const tags = [...new Set(all.map((operation) => operation.tag))]
  const found = all.filter((operation) => (tag === '' || operation.tag === tag) && matches(operation, q))
  return (
    <Stack>
      <div role="search" aria-label="Filters">
        <Row>
          <TextField
            label="Find"
            placeholder="keys, limits, /v1/messages"
            value={q}
            onText={(typed) => onChange({ q: typed })}
          />
          <Select
            label="About"
            value={tag}
            choices={[{ value: '', label: 'everything' }, ...tags.map((one) => ({ value: one, label: one }))]}
            onChoice={(chosen) => onChange({ tag: chosen })}
          />
        </Row>
      </div>
      <p role="status">{found.length === 0 ? 'Nothing matches.' : `${found.length} of ${all.length} operations`}</p>
      {found.map((operation) => (
        <OperationEntry
          key={`${operation.method} ${operation.path}`}
          operation={operation}
          document={document}
          language={language}
          isManagement={of === 'management'}
        />
      ))}
    </Stack>
  )
}

function matches({ path, method, summary, operationId }: Operation, q: string): boolean {
  const said = `${method} ${path} ${summary} ${operationId}`.toLowerCase()
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => said.includes(word))
}
