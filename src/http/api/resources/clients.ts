import { z } from 'zod'
import { allClients } from '../../../clients/all-clients.ts'
import { isSupported, type Client, type SettingsFile, type Snippet } from '../../../clients/client.ts'
import type { Connection, OfferedModel } from '../../../clients/connection.ts'
import { codeOf, tellPath } from '../../../clients/describe-setup.ts'
import type { RouteParts } from '../route.ts'
import { defineRoute, type Route } from '../route.ts'
import { model, nowhere } from '../schemas.ts'

const format = z.enum(['chat', 'messages'])
const part = z.strictObject({
  kind: z.enum(['file', 'snippet']),
  title: z.string().describe('Of a file its path, from the home folder on.'),
  language: z.string(),
  code: z.string().describe('With YOUR_ODYSSEY_KEY in the place of the key, or the variable ODYSSEY_KEY.'),
})
const client = z
  .strictObject({
    name: z.string().describe('As `odyssey connect` has it.'),
    title: z.string(),
    formats: z.array(format).describe('The one to prefer first; none for a client that cannot be connected.'),
    reason: z.string().nullable().describe('Why it cannot be connected.'),
    parts: z.array(part),
    notes: z.array(z.string()),
  })
  .meta({ id: 'Client' })

/** It goes into code and commands, between quotation marks of several kinds. */
const address = z
  .string()
  .max(300)
  .regex(/^https?:\/\/[\w.:[\]-]+$/)
  .describe('Where clients reach the service, without a path.')

export const clientRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/clients',
    permission: 'public',
    scope: 'installation',
    summary: 'List the settings of every client that is known, as `odyssey connect` prints them',
    params: nowhere,
    query: z.strictObject({
      address: address.default('http://127.0.0.1:8080'),
      model: model.default('clarke-1.0'),
      format: format.optional().describe('For clients that can use either; the preferred one where it is left out.'),
    }),
    answer: z.strictObject({ data: z.array(client) }),
    work({ parts, query: { address: at, model: id, format: wanted } }) {
      const connection = connectionTo(parts, { address: at, model: id })
      return Promise.resolve({ data: allClients.map((known) => show(known, connection, wanted)) })
    },
  }),
]

type Told = Pick<Connection, 'address'> & { readonly model: z.output<typeof model> }

function connectionTo({ catalog }: RouteParts, { address: at, model: id }: Told): Omit<Connection, 'format'> {
  const models: OfferedModel[] = catalog.list().map((entry) => entry.model)
  const pick = (wanted: string) => {
    const found = models.find((one) => one.id === wanted)
    if (found === undefined) throw new Error(`${wanted} is not offered.`)
    return found
  }
  const chosen = pick(id)
  return {
    address: at,
    key: null,
    model: chosen,
    smallModel: pick('tycho-1.0'),
    models: [chosen, ...models.filter((other) => other !== chosen)],
    folders: { home, variables: {} },
  }
}

/** Stands for the folder of whoever reads it. */
const home = '/home'

function show(
  known: Client,
  connection: Omit<Connection, 'format'>,
  wanted: z.output<typeof format> | undefined,
): z.input<typeof client> {
  const { name, title } = known
  if (!isSupported(known)) return { name, title, formats: [], reason: known.reason, parts: [], notes: [] }
  const { parts, notes = [] } = known.setUp({
    ...connection,
    format: known.formats.find((one) => one === wanted) ?? known.formats[0],
  })
  return {
    name,
    title,
    formats: [...known.formats],
    reason: null,
    parts: parts.map(showPart),
    notes: [...notes],
  }
}

function showPart(written: SettingsFile | Snippet): z.input<typeof part> {
  const isFile = written.kind === 'file'
  return {
    kind: written.kind,
    title: isFile ? tellPath(written.path, home) : written.title,
    language: isFile ? written.syntax : written.language,
    code: codeOf(written),
  }
}
