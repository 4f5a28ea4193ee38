import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { readAll } from '../../app/queries.ts'
import type { Choice } from '../../kit/field.tsx'

export type Channel = Schemas['AlertChannel']
export type Silence = Schemas['AlertSilence']
export type Topic = Channel['topics'][number]

/** What an organization is told of, in the order in which people look for it. */
const words: Readonly<Record<Topic, string>> = {
  'budget.threshold': 'A share of a budget is spent',
  'audit.broken': 'The audit log does not go on from what was signed',
  'audit.deletion-held': 'Old rows of the audit log wait for a sink',
  'key.ending': 'A key ends soon',
  'key.new-network': 'A key is used from a new network',
  'domain.record-missing': 'The record of a domain is gone',
  'requests.failing': 'Requests fail on our side',
  'cost.unusual': 'An hour costs far more than usual',
  'usage.hour': 'The sums of each hour and model',
  'request.finished': 'Every request',
  'disk.near-full': 'The disk is almost full',
  'certificate.ending': 'The certificate ends soon',
  'spool.growing': 'Ever more rows of the ledger wait for the database',
  'availability.burning': 'An error budget is used up too fast',
  'engine.crash-loop': 'An engine ends again and again',
}

/**
 * What somebody should look at. Sums and requests come with every hour and every request, too many for a log or a mailbox; disk,
 * engines and error budgets happen to the installation, whose channels the operator's commands make.
 */
export const rules: readonly Topic[] = [
  'budget.threshold',
  'requests.failing',
  'cost.unusual',
  'key.ending',
  'key.new-network',
  'domain.record-missing',
  'audit.broken',
  'audit.deletion-held',
]
const ofOrganization: readonly Topic[] = [...rules, 'usage.hour', 'request.finished']

export function wordsOfTopic(topic: Topic | null): string {
  return topic === null ? 'Everything' : words[topic]
}

export function topicChoices(kind: Channel['kind']): readonly Choice<Topic>[] {
  return (kind === 'webhook' ? ofOrganization : rules).map((topic) => ({ value: topic, label: words[topic] }))
}

/** Read again and again while a test message is under way. */
export const channelsQuery = (organizationId: string, isWaiting = false) =>
  queryOptions({
    queryKey: ['alert-channels', organizationId],
    queryFn: ({ signal }) =>
      readAll((after) =>
        api(
          'GET /api/v1/organizations/{organizationId}/alert-channels',
          { params: { organizationId }, query: { limit: 200, ...(after !== undefined && { after }) } },
          { signal },
        ),
      ),
    refetchInterval: isWaiting ? 1_000 : false,
  })

/** The newest of what was told; nobody looks through more of it here. */
export const eventsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['alert-events', organizationId],
    queryFn: ({ signal }) =>
      api(
        'GET /api/v1/organizations/{organizationId}/alert-events',
        { params: { organizationId }, query: { limit: 100 } },
        { signal },
      ).then(({ data }) => data),
  })

export const silencesQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['alert-silences', organizationId],
    queryFn: async ({ signal }) =>
      (
        await api(
          'GET /api/v1/organizations/{organizationId}/alert-silences',
          { params: { organizationId } },
          { signal },
        )
      ).data,
  })
