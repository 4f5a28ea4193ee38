import { DocsFrame } from '../../app/docs/docs-frame.tsx'
import styles from '../../app/docs/docs.module.css'
import { Document } from '../../app/docs/read-document.tsx'
import { useSearch } from '../../app/router.tsx'
import { Code } from '../../kit/content.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { Badge, Card, Disclosure, KeyValue, Row, Stack, StateTag } from '../../kit/page.tsx'
import { Segments } from '../../kit/tabs.tsx'
import { oneOf, searchCodec, text } from '../../lib/search-codec.ts'

type Shape = {
  readonly format: string
  readonly status: number
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
}
type ErrorEntry = {
  readonly code: string
  readonly title: string
  readonly means: string
  readonly whose: string
  readonly retry: string
  readonly todo: string
  readonly shapes: readonly Shape[]
}
type Catalogue = { readonly errors: readonly ErrorEntry[] }

const formats = ['chat-completions', 'messages', 'management API'] as const
type Format = (typeof formats)[number]
const search = searchCodec({ format: oneOf<Format>(formats, 'chat-completions'), q: text(), retry: text() })

/** Every error with what it means and what to do, in the shape that the reader's client sees. */
export function Page() {
  const [{ format, q, retry }, change] = useSearch(search)
  return (
    <DocsFrame
      isNarrow
      title="Errors"
      said="Written by the code that answers. Every answer has its id in x-request-id: with it an operator finds the request."
    >
      <Segments
        name="Shape"
        tabs={formats.map((value) => ({ value, label: value }))}
        chosen={format}
        onChoice={(chosen) => change({ format: chosen })}
      />
      <Document<Catalogue> address="/api/v1/errors.json">
        {({ errors }) => {
          const found = errors.filter((entry) => matches(entry, q) && (retry === '' || entry.retry === retry))
          return (
            <Stack>
              <div role="search" aria-label="Filters">
                <Row>
                  <TextField
                    label="Find"
                    placeholder="429, invalid_api_key"
                    value={q}
                    onText={(typed) => change({ q: typed })}
                  />
                  <Select
                    label="Again"
                    value={retry}
                    choices={[
                      { value: '', label: 'any' },
                      ...['no', 'after a while'].map((value) => ({ value, label: value })),
                    ]}
                    onChoice={(chosen) => change({ retry: chosen })}
                  />
                </Row>
              </div>
              <p role="status">
                {found.length === 0 ? 'Nothing matches.' : `${found.length} of ${errors.length} errors`}
              </p>
              {found.map((entry) => (
                <Entry key={entry.code} entry={entry} format={format} />
              ))}
              <Backoff />
            </Stack>
          )
        }}
      </Document>
    </DocsFrame>
  )
}

function matches(entry: ErrorEntry, q: string): boolean {
  const said = JSON.stringify(entry).toLowerCase()
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => said.includes(word))
}

function Entry({ entry, format }: { readonly entry: ErrorEntry; readonly format: Format }) {
  const { code, title, means, whose, retry, todo, shapes } = entry
  const shape = shapes.find((one) => one.format === format)
  return (
    <div id={code} className={styles.error}>
      <Card title={<Title title={title} code={code} />} actions={<Badge>{shape?.status ?? ''}</Badge>}>
        <Stack>
          <p>{means}</p>
          <KeyValue
            rows={[
              ['Whose', whose],
              [
                'Again',
                <StateTag key="retry" mood={retry === 'after a while' ? 'good' : retry === 'no' ? 'off' : 'info'}>
                  {retry}
                </StateTag>,
              ],
              ['What to do', todo],
            ]}
          />
          {shape !== undefined && (
            <Disclosure title="As it is sent">
              <Code label="Body" text={JSON.stringify(shape.body, null, 2)} wraps />
              <Code label="Headers" text={headerText(shape)} wraps />
              <p>
                <a href={`#${code}`}>Link to here</a>
              </p>
            </Disclosure>
          )}
        </Stack>
      </Card>
    </div>
  )
}

/** Several codes share a title, and are told apart by themselves. */
function Title({ title, code }: { readonly title: string; readonly code: string }) {
  return (
    <>
      {title} <code>{code}</code>
    </>
  )
}

function headerText({ headers }: Shape): string {
  return [...Object.entries(headers), ['x-request-id', 'req_…']].map(([name, value]) => `${name}: ${value}`).join('\n')
}

const recipe = `async function askAgain(ask, tries = 5) {
  for (let one = 0; ; one += 1) {
    const answer = await ask()
    const may = answer.headers.get('x-should-retry') !== 'false' && (answer.status === 429 || answer.status >= 500)
    if (!may || one === tries) return answer
    const told = Number(answer.headers.get('retry-after') ?? 0) * 1000
    await new Promise((resolve) => setTimeout(resolve, Math.max(told, 500 * 2 ** one * (0.75 + Math.random() / 2))))
  }
}`

function Backoff() {
  return (
    <Card title="Asking again">
      <Stack>
        <p>
          The official libraries do this by themselves. Who writes their own waits as long as <code>retry-after</code>{' '}
          says, and gives up where <code>x-should-retry</code> is <code>false</code>.
        </p>
        <Code label="JavaScript" text={recipe} />
      </Stack>
    </Card>
  )
}
