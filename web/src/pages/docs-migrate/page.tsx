import { useEffect, useState } from 'react'
import { DocsFrame } from '../../app/docs/docs-frame.tsx'
import { Document, readDocument } from '../../app/docs/read-document.tsx'
import { useSearch } from '../../app/router.tsx'
import { snippetsOf } from '../../app/clients.ts'
import { Code } from '../../kit/content.tsx'
import { TextField } from '../../kit/field.tsx'
import { Banner, Card, KeyValue, Stack } from '../../kit/page.tsx'
import { Table } from '../../kit/table.tsx'
import { searchCodec, text } from '../../lib/search-codec.ts'

type Equivalent = { readonly kind: string; readonly model: string; readonly examples: readonly string[] }
type Equivalents = { readonly found: Equivalent | null; readonly equivalents: readonly Equivalent[] }
const equivalentsAddress = '/api/v1/equivalents.json'

const search = searchCodec({ model: text() })

/** What changes for a program that has asked another service before. */
export function Page() {
  const [{ model }, change] = useSearch(search)
  const address = window.location.origin
  return (
    <DocsFrame isNarrow title="Moving here" said="Three values change. The libraries, and the code around them, stay.">
      <Card title="Which model">
        <Stack>
          <TextField
            label="The model you used before"
            placeholder="claude-sonnet-5, gpt-5-mini"
            value={model}
            onText={(typed) => change({ model: typed })}
          />
          {model.trim() !== '' && <Answer name={model} />}
          <Document<Equivalents> address={equivalentsAddress}>
            {({ equivalents }) => (
              <Table
                name="Which model stands for which names"
                columns={[
                  { key: 'kind', head: 'Before', cell: ({ kind, examples }) => `${kind}: ${examples.join(', ')}` },
                  { key: 'model', head: 'Here', phone: 'side', cell: (row) => <code>{row.model}</code> },
                ]}
                items={equivalents}
                keyOf={({ kind }) => kind}
              />
            )}
          </Document>
        </Stack>
      </Card>
      <Card title="Three values">
        <KeyValue
          rows={[
            ['Base address', <code key="chat">{`${address}/v1`}</code>],
            ['… for messages', <code key="messages">{address}</code>],
            ['Key', 'one that begins with sk-ody-, from API keys in the dashboard'],
            ['Model', 'one of the three above'],
          ]}
        />
      </Card>
      <Card title="A coding agent">
        <Stack>
          {snippetsOf('claude-code', { address, model: 'clarke-1.0' }).map(({ label, text: code }) => (
            <Code key={label} label={label} text={code} />
          ))}
          <p>
            <code>npx odyssey connect</code> on this machine lists the other clients that it knows.
          </p>
        </Stack>
      </Card>
      <Differences />
    </DocsFrame>
  )
}

function Answer({ name }: { readonly name: string }) {
  const found = useEquivalent(name)
  if (found === undefined) return null
  if (found === null)
    return <Banner kind="info">Nothing is known by this name: clarke-1.0 is the general model.</Banner>
  return (
    <Banner kind="good">
      By its name {name.trim()} is a {found.kind}: use <code>{found.model}</code> here.
    </Banner>
  )
}

/** What stands in for a name, as the service says; undefined until it has said so. */
function useEquivalent(name: string): Equivalent | null | undefined {
  const [found, setFound] = useState<Equivalent | null>()
  useEffect(() => {
    let isOver = false
    readDocument<Equivalents>(`${equivalentsAddress}?name=${encodeURIComponent(name.trim())}`)
      .then((answer) => !isOver && setFound(answer.found))
      .catch(() => {})
    return () => {
      isOver = true
    }
  }, [name])
  return found
}

const differences: readonly (readonly [string, string])[] = [
  ['Read the last text block', 'An answer may begin with a block of thinking. What is meant for the reader is text.'],
  ['Cache marks go by order', 'Tools, then system, then messages: a mark keeps everything before it, four at most.'],
  [
    'What is not honoured is refused',
    'A field that would change the answer and cannot be kept is a 400 with its name.',
  ],
  ['Nothing is cut off', 'A prompt that does not fit the window is refused with the exact numbers.'],
  ['Nothing is kept', 'Answers are not stored for clients, so there are no threads, files or batches to come back to.'],
  ['Images', 'The models read text. A request with an image is refused, and says so.'],
]

function Differences() {
  return (
    <Card title="Differences worth knowing">
      <KeyValue rows={differences} />
    </Card>
  )
}
