import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { keyLine } from '../../app/clients.ts'
import type { ModelId } from '../../app/models.ts'
import { Loaded } from '../../app/states.tsx'
import type { WireFormat } from '../../lib/wire.ts'
import { Code } from '../../kit/content.tsx'
import { Select } from '../../kit/field.tsx'
import { Banner, Row, Stack } from '../../kit/page.tsx'
import { Segments } from '../../kit/tabs.tsx'

type Client = Schemas['Client']
export type Format = Client['formats'][number]
export type Wanted = { readonly client: string; readonly model: ModelId; readonly format: Format | 'any' }

/** The settings of every client, as the command line prints them, for this address and a model. */
const clientsQuery = ({ model, format }: Pick<Wanted, 'model' | 'format'>) =>
  queryOptions({
    queryKey: ['clients', model, format],
    queryFn: ({ signal }) =>
      api(
        'GET /api/v1/clients',
        { query: { address: window.location.origin, model, ...(format !== 'any' && { format }) } },
        { signal },
      ).then(({ data }) => data),
    placeholderData: (before) => before,
    staleTime: 300_000,
  })

/** In which format a client asks, for a test that asks as it does. */
export function useWireFormat(wanted: Wanted): WireFormat {
  const client = useQuery(clientsQuery(wanted)).data?.find(({ name }) => name === wanted.client)
  return formatOf(client, wanted.format) === 'messages' ? 'messages' : 'chat-completions'
}

function formatOf(client: Client | undefined, format: Format | 'any'): Format {
  return client?.formats.find((one) => one === format) ?? client?.formats[0] ?? 'chat'
}

type Props = Wanted & {
  readonly apiKey: string
  readonly onChange: (changes: { readonly client?: string; readonly format?: Format }) => void
}

/** What is to be put where for one client. The secret stands in one line, and everything else reads it from there. */
export function ClientSettings({ client, model, format, apiKey, onChange }: Props) {
  const query = useQuery(clientsQuery({ model, format }))
  return (
    <Loaded query={query} what="The clients" rows={4}>
      {(clients) => {
        const chosen = clients.find(({ name }) => name === client) ?? clients.find(({ name }) => name === 'curl')
        if (chosen === undefined) return null
        return (
          <Stack>
            <Row>
              <Select
                isInline
                label="Client"
                value={chosen.name}
                choices={clients.map(({ name, title }) => ({ value: name, label: title }))}
                onChoice={(name) => onChange({ client: name })}
              />
              {chosen.formats.length > 1 && (
                <Segments
                  name="Wire format"
                  tabs={chosen.formats.map((value) => ({ value, label: formatNames[value] }))}
                  chosen={formatOf(chosen, format)}
                  onChoice={(value) => onChange({ format: value })}
                />
              )}
            </Row>
            {chosen.reason === null ? <Setup client={chosen} apiKey={apiKey} /> : <Banner>{chosen.reason}</Banner>}
          </Stack>
        )
      }}
    </Loaded>
  )
}

const formatNames: Readonly<Record<Format, string>> = { chat: 'Chat completions', messages: 'Messages' }

function Setup({ client: { name, parts, notes }, apiKey }: { readonly client: Client; readonly apiKey: string }) {
  const isFile = parts.some(({ kind }) => kind === 'file')
  return (
    <>
      <Code label="The one line with the key" text={keyLine(apiKey === '' ? 'sk-ody-…' : apiKey)} />
      {parts.map(({ title, code }) => (
        <Code key={title} label={title} text={code} />
      ))}
      {isFile && (
        <>
          <p>The key stands in the place of YOUR_ODYSSEY_KEY. Or, on this machine, have the file written:</p>
          <Code label="Shell" text={`npx odyssey connect ${name} --write`} />
        </>
      )}
      {notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
    </>
  )
}
