import { useState } from 'react'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { wordsOfWanted } from '../../app/limits/asking.tsx'
import { pagePath } from '../../app/paths.ts'
import { useNames } from '../../app/queries.ts'
import { useReason } from '../../app/session.ts'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { TextField } from '../../kit/field.tsx'
import { Dialog } from '../../kit/layers.tsx'
import { Link } from '../../kit/link.tsx'
import { Card, Disclosure, Row, StateTag, type Mood } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'

export type LimitRequest = Schemas['LimitRequest']

const requestsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['limit-requests', organizationId],
    queryFn: ({ signal }) =>
      api('GET /api/v1/organizations/{organizationId}/limit-requests', { params: { organizationId } }, { signal }).then(
        ({ data }) => data,
      ),
  })

type Props = {
  readonly organizationId: string
  /** Why the reader cannot answer; null where they can. */
  readonly reason: string | null
  /** Opens the form of a limit, filled in with what is wanted. */
  readonly onApprove: (request: LimitRequest) => void
}

/** What members and owners of keys ask for; nothing is shown where nobody has asked. */
export function AskedFor({ organizationId, reason, onApprove }: Props) {
  const query = useQuery(requestsQuery(organizationId))
  const [declined, setDeclined] = useState<LimitRequest | null>(null)
  if (query.data?.length === 0) return null
  return (
    <Card title="Requests for more" isFlush>
      <Loaded query={query} what="The requests for more" rows={2}>
        {(requests) => {
          const open = requests.filter(({ state }) => state === 'open')
          const answered = requests.filter(({ state }) => state !== 'open')
          return (
            <>
              {open.length === 0 ? (
                <p style={{ padding: '4px 16px' }}>Nobody waits for an answer.</p>
              ) : (
                <Requests
                  name="Requests that wait for an answer"
                  organizationId={organizationId}
                  requests={open}
                  reason={reason}
                  onApprove={onApprove}
                  onDecline={setDeclined}
                />
              )}
              {answered.length > 0 && (
                <div style={{ padding: '0 16px 12px' }}>
                  <Disclosure title={`Answered (${answered.length})`}>
                    <Requests name="Answered requests" organizationId={organizationId} requests={answered} />
                  </Disclosure>
                </div>
              )}
            </>
          )
        }}
      </Loaded>
      {declined !== null && (
        <Decline organizationId={organizationId} request={declined} onClose={() => setDeclined(null)} />
      )}
    </Card>
  )
}

const states: Readonly<Record<LimitRequest['state'], readonly [string, Mood]>> = {
  open: ['waits', 'info'],
  approved: ['approved', 'good'],
  declined: ['declined', 'off'],
}

type RequestsProps = {
  readonly name: string
  readonly organizationId: string
  readonly requests: readonly LimitRequest[]
  readonly reason?: string | null
  readonly onApprove?: (request: LimitRequest) => void
  readonly onDecline?: (request: LimitRequest) => void
}

function Requests({ name, organizationId, requests, reason = null, onApprove, onDecline }: RequestsProps) {
  const nameOf = useNames(organizationId)
  const mayOpen = useReason(organizationId, 'api-keys:read') === null
  const columns: readonly Column<LimitRequest>[] = [
    {
      key: 'key',
      head: 'Key',
      cell: ({ apiKeyId, apiKeyName }) =>
        mayOpen ? (
          <Link href={pagePath('key', { organizationId, apiKeyId })}>
            <Name>{apiKeyName}</Name>
          </Link>
        ) : (
          <Name>{apiKeyName}</Name>
        ),
    },
    {
      key: 'wanted',
      head: 'Wants',
      cell: ({ wanted, model }) => `${wordsOfWanted(wanted)}, ${model === '*' ? 'all models' : model}`,
    },
    { key: 'reason', head: 'For', cell: ({ reason: why }) => <bdi style={{ overflowWrap: 'anywhere' }}>{why}</bdi> },
    {
      key: 'who',
      head: 'Who',
      cell: ({ askedBy, apiKeyId, contact }) => (
        <Name>{contact ?? (askedBy === apiKeyId ? 'the key’s owner' : nameOf(askedBy))}</Name>
      ),
    },
    { key: 'at', head: 'Asked', cell: ({ askedAt }) => <Time at={askedAt} isAgo /> },
    onApprove === undefined
      ? {
          key: 'state',
          head: 'Answer',
          phone: 'side' as const,
          cell: ({ state, answer }: LimitRequest) => (
            <>
              <StateTag mood={states[state][1]}>{states[state][0]}</StateTag> <bdi>{answer}</bdi>
            </>
          ),
        }
      : {
          key: 'actions',
          head: '',
          phone: 'line' as const,
          cell: (request: LimitRequest) => (
            <Row>
              <Button isSmall reason={reason} onClick={() => onApprove(request)}>
                Approve…
              </Button>
              <Button isSmall reason={reason} onClick={() => onDecline?.(request)}>
                Decline…
              </Button>
            </Row>
          ),
        },
  ]
  return <Table name={name} columns={columns} items={requests} keyOf={({ id }) => id} />
}

export function useAnswer(organizationId: string, onDone: () => void) {
  return useChange(
    ({
      request,
      verb,
      answer,
    }: {
      readonly request: LimitRequest
      readonly verb: Verb
      readonly answer: string | null
    }) => {
      const params = { organizationId, limitRequestId: request.id }
      const path = `POST /api/v1/organizations/{organizationId}/limit-requests/{limitRequestId}/${verb}` as const
      return api(path, { params, body: { answer } })
    },
    { touches: [['limit-requests', organizationId]], onDone },
  )
}

type Verb = 'approve' | 'decline'

type DeclineProps = {
  readonly organizationId: string
  readonly request: LimitRequest
  readonly onClose: () => void
}

function Decline({ organizationId, request, onClose }: DeclineProps) {
  const [answer, setAnswer] = useState('')
  const change = useAnswer(organizationId, onClose)
  const send = () => void change.run({ request, verb: 'decline', answer: answer.trim() === '' ? null : answer.trim() })
  const foot = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button type="submit" look="primary" isBusy={change.isBusy}>
        Decline
      </Button>
    </>
  )
  return (
    <Dialog title={`Decline more for ${request.apiKeyName}`} isOpen onClose={onClose} foot={foot} onSubmit={send}>
      <ChangeProblem problem={change.problem} />
      <TextField
        label="Why, in a sentence"
        maxLength={1_000}
        value={answer}
        onText={setAnswer}
        hint="Whoever asked reads it."
      />
    </Dialog>
  )
}
