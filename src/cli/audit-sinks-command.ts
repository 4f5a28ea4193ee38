import { readFileSync } from 'node:fs'
import { createSink, listSinks, readSink, removeSink, testSink, updateSink } from '../alerts/audit-sinks/sinks.ts'
import { sinkFormats } from '../core/alert-topic.ts'
import type { OrganizationId } from '../core/ids.ts'
import { installationChain } from '../db/change.ts'
import type { Installation } from '../service/joins/open-installation.ts'
import {
  operator,
  print,
  printList,
  readAll,
  readOrganizationId,
  requireId,
  withInstallation,
} from './accounts/with-installation.ts'
import { parseArguments } from './parse-arguments.ts'
import { describeDelivery, describeMade } from './receiver-lines.ts'
import { UsageError } from './usage-error.ts'

const text = { type: 'string' } as const
const options = {
  organization: text,
  installation: { type: 'boolean', default: false },
  kind: { type: 'string', default: 'webhook' },
  name: text,
  address: text,
  format: { type: 'string', default: 'json' },
  from: { type: 'string', default: 'now' },
  header: text,
  ca: text,
  certificate: text,
  'private-key': text,
  json: { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof readArguments>['values']
type Given = { readonly organizationId: OrganizationId; readonly id: string | undefined; readonly values: Values }
type Action = (installation: Installation, given: Given) => Promise<void>

const actions: Readonly<Record<string, Action>> = {
  list,
  create,
  enable: (installation, given) => setEnabled(installation, given, true),
  disable: (installation, given) => setEnabled(installation, given, false),
  test: leaveRow,
  remove,
}

const words = { list: 0, create: 0, enable: 1, disable: 1, test: 1, remove: 1 }

/** `odyssey audit-sinks`: works on the database directly; a service that runs pushes. */
export async function auditSinksCommand(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args)
  const [verb = '', id] = positionals
  const action = Object.hasOwn(actions, verb) ? actions[verb] : undefined
  if (action === undefined) throw new UsageError(`audit-sinks takes ${Object.keys(actions).join(', ')}.`)
  if (values.installation && values.organization !== undefined)
    throw new UsageError('audit-sinks takes --organization or --installation.')
  await withInstallation((installation) => {
    const organizationId = values.installation
      ? installationChain
      : readOrganizationId(values.organization, installation)
    return action(installation, { organizationId, id, values })
  })
}

function readArguments(args: string[]) {
  return parseArguments({ args, options, words })
}

async function list({ accounts }: Installation, { organizationId, values }: Given): Promise<void> {
  const found = await readAll((cursor) =>
    listSinks(accounts, operator, { organizationId, ...(cursor !== undefined && { cursor }) }),
  )
  const sinks = await Promise.all(found.map(({ id }) => readSink(accounts, operator, { organizationId, id })))
  const lines = sinks.map((sink) => {
    const { id, kind, format, target, name, givenUp, lastGivenUp } = sink
    const delivery = describeDelivery(sink)
    const state = sink.disabledAtMs === null ? `${sink.behind.rows} rows behind  ${delivery}` : delivery
    const lost = givenUp > 0 ? `  ${givenUp} given up, last ${lastGivenUp ?? ''}` : ''
    return `${id}  ${kind}  ${format}  ${target}  ${state}${lost}  ${name}`
  })
  printList(values.json, 'sinks', sinks, lines)
}

async function create({ accounts, secrets }: Installation, { organizationId, values }: Given): Promise<void> {
  const { name, address, kind, from } = values
  if (kind !== 'webhook' && kind !== 'syslog') throw new UsageError('--kind takes webhook or syslog.')
  if (from !== 'now' && from !== 'begin') throw new UsageError('--from takes now or begin.')
  const format = sinkFormats.find((known) => known === values.format)
  if (format === undefined) throw new UsageError(`--format takes ${sinkFormats.join(' or ')}.`)
  if (name === undefined || address === undefined)
    throw new UsageError('audit-sinks create needs --name NAME and --address URL.')
  const read = (path: string | undefined) => (path === undefined ? null : readFileSync(path, 'utf8'))
  const tls = { ca: read(values.ca), certificate: read(values.certificate), privateKey: read(values['private-key']) }
  const wanted = { organizationId, kind, format, name, address, from, ...tls } as const
  const parts = { ...accounts, alertKey: secrets.alertKey }
  const made = await createSink(parts, operator, { ...wanted, header: readHeader(values.header) })
  print(values.json, made, describeMade(made))
}

/** As `Name: value`; from a file where it begins with @, since others see what stands on a command line. */
function readHeader(given: string | undefined) {
  if (given === undefined) return null
  const line = given.startsWith('@') ? readFileSync(given.slice(1), 'utf8').trim() : given
  const [, name = '', value = ''] = /^([^:\s]+):\s*(.+)$/.exec(line) ?? []
  if (name === '') throw new UsageError('--header takes "Name: value", or @FILE with such a line in it.')
  return { name, value }
}

async function setEnabled({ accounts }: Installation, given: Given, isEnabled: boolean): Promise<void> {
  const reference = referenceOf(given)
  await updateSink(accounts, operator, { ...reference, isEnabled })
  const state = isEnabled ? 'goes on with what it missed' : 'is given nothing'
  print(given.values.json, { ...reference, isEnabled }, [`${reference.id} ${state}.`])
}

async function leaveRow({ accounts }: Installation, given: Given): Promise<void> {
  const reference = referenceOf(given)
  await testSink(accounts, operator, reference)
  print(given.values.json, reference, ['The service pushes a row now: "audit-sinks list" says what became of it.'])
}

async function remove({ accounts }: Installation, given: Given): Promise<void> {
  const reference = referenceOf(given)
  await removeSink(accounts, operator, reference)
  print(given.values.json, reference, [`${reference.id} is removed.`])
}

function referenceOf({ organizationId, id }: Given) {
  return { organizationId, id: requireId(id, 'sink') }
}
