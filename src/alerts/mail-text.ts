import type { AlertTopic } from '../core/alert-topic.ts'

export const topicWords: Readonly<Record<AlertTopic | 'channel.test', string>> = {
  'audit.broken': 'The audit log does not go on from what was signed',
  'audit.deletion-held': 'Old rows of the audit log are kept for a sink that does not take them',
  'availability.burning': 'An error budget is used up too fast',
  'budget.threshold': 'A share of a budget is spent',
  'certificate.ending': 'The certificate ends soon',
  'channel.test': 'This is a test',
  'cost.unusual': 'An hour cost far more than usual',
  'disk.near-full': 'The disk is almost full',
  'domain.record-missing': 'The record that shows a domain to be yours is gone',
  'engine.crash-loop': 'A model is down',
  'key.ending': 'A key ends soon',
  'key.new-network': 'A key was used from a new network',
  'request.finished': 'A request was recorded',
  'requests.failing': 'Requests fail on our side',
  'spool.growing': 'Ever more rows of the ledger wait for the database',
  'usage.hour': 'An hour of usage is over',
}

/** One line is read by people; what is longer is looked up where it is kept. */
const valueLengthMax = 500

export type Told = {
  readonly id: string
  readonly topic: AlertTopic | 'channel.test'
  readonly atMs: number
  readonly data: unknown
  /** Of whom it is told. */
  readonly organization: { readonly id: string; readonly name: string }
  readonly channel: string
  /** The page where channels are changed; null where browsers reach the service on its own machine alone. */
  readonly page: string | null
}

/** The subject and the text of a message about an event: its words first, then all that is known, a line each. */
export function writeMail(told: Told): { readonly subject: string; readonly text: string } {
  const { id, topic, atMs, data, organization, channel, page } = told
  const words = topicWords[topic]
  const lines = [
    `${words}.`,
    '',
    ...linesOf(data),
    '',
    `Of: ${organization.name} (${organization.id})`,
    `At: ${new Date(atMs).toISOString()}`,
    `Event: ${topic} ${id}`,
    '',
    `You are told by the channel "${channel}"${page === null ? '' : `, which is changed at ${page}`}.`,
    '',
  ]
  return { subject: `[Odyssey] ${words}: ${organization.name}`, text: lines.join('\n') }
}

function linesOf(value: unknown, path = ''): string[] {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, below]) => linesOf(below, path === '' ? key : `${path}.${key}`))
  }
  const text = String(value).replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
  return [`${path}: ${text.slice(0, valueLengthMax)}`]
}
