import { createChannel, listChannels, removeChannel, testChannel, updateChannel } from '../alerts/channels.ts'
import type { MailRules } from '../alerts/channel-target.ts'
import { createReachable, type Reachable } from '../alerts/private-addresses.ts'
import { createSilence, listSilences, removeSilence } from '../alerts/silences.ts'
import { alertTopics, channelKinds, type AlertTopic } from '../core/alert-topic.ts'
import type { OrganizationId } from '../core/ids.ts'
import { installationChain } from '../db/change.ts'
import { literalAddressOf } from '../lib/network/public-address.ts'
import type { Installation } from '../service/joins/open-installation.ts'
import { parseDuration } from './accounts/moments.ts'
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
const flag = { type: 'boolean', default: false } as const
const options = {
  organization: text,
  installation: flag,
  kind: { type: 'string', default: 'webhook' },
  name: text,
  address: text,
  topics: text,
  topic: text,
  for: text,
  reason: text,
  json: flag,
} as const

type Values = ReturnType<typeof readArguments>['values']
type Given = {
  readonly organizationId: OrganizationId
  readonly id: string | undefined
  readonly values: Values
  readonly mail: MailRules | null
  readonly isReachable: Reachable
}
type Action = (installation: Installation, given: Given) => Promise<void>

const actions: Readonly<Record<string, Action>> = {
  list,
  create,
  enable: (installation, given) => setEnabled(installation, given, true),
  disable: (installation, given) => setEnabled(installation, given, false),
  test: sendTest,
  remove,
  silence,
  silences,
  unsilence,
}

const words = {
  list: 0,
  create: 0,
  enable: 1,
  disable: 1,
  test: 1,
  remove: 1,
  silence: 0,
  silences: 0,
  unsilence: 1,
}

/** `odyssey alerts`: works on the database directly; a service that runs delivers. */
export async function alertsCommand(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args)
  const [verb = '', id] = positionals
  const action = Object.hasOwn(actions, verb) ? actions[verb] : undefined
  if (action === undefined) throw new UsageError(`alerts takes ${Object.keys(actions).join(', ')}.`)
  if (values.installation && values.organization !== undefined)
    throw new UsageError('alerts takes --organization or --installation.')
  await withInstallation((installation, { alerts: { mail, allowedNetworks } }) => {
    const organizationId = values.installation
      ? installationChain
      : readOrganizationId(values.organization, installation)
    return action(installation, { organizationId, id, values, mail, isReachable: createReachable(allowedNetworks) })
  })
}

function readArguments(args: string[]) {
  return parseArguments({ args, options, words })
}

async function list({ accounts }: Installation, { organizationId, values }: Given): Promise<void> {
  const channels = await readAll((cursor) =>
    listChannels(accounts, operator, { organizationId, ...(cursor !== undefined && { cursor }) }),
  )
  const lines = channels.map((channel) => {
    const { id, kind, target, name, topics } = channel
    return `${id}  ${kind}  ${describeDelivery(channel)}  ${target}  ${topics.join(',')}  ${name}`
  })
  printList(values.json, 'channels', channels, lines)
}

async function create({ accounts, secrets }: Installation, given: Given): Promise<void> {
  const { organizationId, values, mail } = given
  const kind = channelKinds.find((known) => known === values.kind)
  if (kind === undefined) throw new UsageError(`--kind takes ${channelKinds.join(', ')}.`)
  if (values.name === undefined || values.topics === undefined)
    throw new UsageError('alerts create needs --name NAME and --topics LIST.')
  const topics = values.topics.split(',').map(readTopic)
  const parts = { ...accounts, alertKey: secrets.alertKey, mail }
  const wanted = { organizationId, kind, name: values.name, address: values.address ?? null, topics }
  const made = await createChannel(parts, operator, wanted)
  if (kind === 'webhook') warnOfPrivate(values.address ?? '', given.isReachable)
  print(values.json, made, describeMade(made))
}

/** It is made all the same: the setting may follow, and what a name leads to is known when something is sent. */
function warnOfPrivate(address: string, isReachable: Reachable): void {
  const url = URL.parse(address)
  const literal = url === null ? null : literalAddressOf(url)
  if (literal === null || isReachable(literal)) return
  console.error(
    `Nothing is sent to ${literal}, which is a private address, unless alerts.allowedNetworks in odyssey.json names it ` +
      'and the service was started anew since.',
  )
}

function readTopic(given: string): AlertTopic {
  const topic = alertTopics.find((known) => known === given.trim())
  if (topic === undefined) throw new UsageError(`A topic is one of ${alertTopics.join(', ')}.`)
  return topic
}

async function setEnabled({ accounts }: Installation, given: Given, isEnabled: boolean): Promise<void> {
  const reference = referenceOf(given, 'chan')
  await updateChannel(accounts, operator, { ...reference, isEnabled })
  print(given.values.json, { ...reference, isEnabled }, [
    `${reference.id} is ${isEnabled ? 'told again' : 'told nothing'}.`,
  ])
}

async function sendTest({ accounts }: Installation, given: Given): Promise<void> {
  const reference = referenceOf(given, 'chan')
  await testChannel(accounts, operator, reference)
  print(given.values.json, reference, ['The service sends a message now: "alerts list" says what became of it.'])
}

async function remove({ accounts }: Installation, given: Given): Promise<void> {
  const reference = referenceOf(given, 'chan')
  await removeChannel(accounts, operator, reference)
  print(given.values.json, reference, [`${reference.id} is removed.`])
}

async function silence({ accounts }: Installation, { organizationId, values }: Given): Promise<void> {
  const { for: length, reason, topic } = values
  if (length === undefined || reason === undefined)
    throw new UsageError('alerts silence needs --for TIME, as 8h or 2d, and --reason TEXT.')
  const fromMs = accounts.clock.nowMs()
  const times = { fromMs, untilMs: fromMs + parseDuration(length, '--for') }
  const wanted = { organizationId, topic: topic === undefined ? null : readTopic(topic), ...times, reason }
  const made = await createSilence(accounts, operator, wanted)
  print(values.json, made, [`${made.id} is in force until ${new Date(made.untilMs).toISOString()}.`])
}

async function silences({ accounts }: Installation, { organizationId, values }: Given): Promise<void> {
  const found = await listSilences(accounts, operator, organizationId)
  const lines = found.map(({ id, topic, untilMs, reason }) => {
    return `${id}  ${topic ?? 'everything'}  until ${new Date(untilMs).toISOString()}  ${reason}`
  })
  printList(values.json, 'silences', found, lines)
}

async function unsilence({ accounts }: Installation, given: Given): Promise<void> {
  const reference = referenceOf(given, 'silence')
  await removeSilence(accounts, operator, reference)
  print(given.values.json, reference, [`${reference.id} is over.`])
}

function referenceOf({ organizationId, id }: Given, prefix: 'chan' | 'silence') {
  return { organizationId, id: requireId(id, prefix) }
}
