import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { pagePath } from '../../app/paths.ts'
import { handOver } from '../../app/playground-draft.ts'
import { useReason, useSession } from '../../app/session.ts'
import { Loaded } from '../../app/states.tsx'
import { Button } from '../../kit/button.tsx'
import { Code, Time } from '../../kit/content.tsx'
import { Card, Row, Stack } from '../../kit/page.tsx'
import { location } from '../../lib/location.ts'
import type { WireFormat } from '../../lib/wire.ts'

type Props = { readonly organizationId: string; readonly details: Schemas['RequestDetails'] }
type Kept = Schemas['Recording']

const notKept = {
  'too-large': 'What was said was too large to be kept.',
  'no-room': 'Too much was being kept at that moment, so nothing of this request was.',
} as const

/** What was said in a request, where that is kept. It is read when somebody asks for it, since each reading is audited. */
export function ContentCard({ organizationId, details: { charge, recording } }: Props) {
  const [isShown, setShown] = useState(false)
  if (recording === null) return <NotKept organizationId={organizationId} words="Nothing of what was said is kept." />
  if (recording.state !== 'kept') return <NotKept organizationId={organizationId} words={notKept[recording.state]} />
  return (
    <Card title="Content">
      <Stack>
        <p>
          What was said is kept until <Time at={recording.endsAt} />. Whoever looks at it leaves a row in the audit.
        </p>
        {isShown ? (
          <Content organizationId={organizationId} projectId={charge.projectId} requestId={charge.requestId} />
        ) : (
          <Row>
            <Button onClick={() => setShown(true)}>Show what was said</Button>
          </Row>
        )}
      </Stack>
    </Card>
  )
}

function NotKept({ organizationId, words }: { readonly organizationId: string; readonly words: string }) {
  const reason = useReason(organizationId, 'recordings:read')
  const isPossible = useSession()?.features.recording ?? false
  return (
    <Card title="Content">
      <p>
        {words} {reason === null && isPossible && 'An owner can have it kept for a project, in the settings.'}
      </p>
    </Card>
  )
}

type Place = { readonly organizationId: string; readonly projectId: string; readonly requestId: string }

function Content({ organizationId, projectId, requestId }: Place) {
  const params = { organizationId, requestId }
  const query = useQuery({
    queryKey: ['recording-content', requestId],
    queryFn: ({ signal }) =>
      api('GET /api/v1/organizations/{organizationId}/requests/{requestId}/recording', { params }, { signal }),
    // Each reading is a row of the audit: only whoever asks again reads again.
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  const reason = useReason(organizationId, 'models:use')
  return (
    <Loaded query={query} what="What was said" rows={4}>
      {({ protocol, body, answers }) => (
        <Stack>
          <Code label="Request" wraps text={indented(body ?? '')} />
          {(answers ?? []).map((answer, index) => (
            <Code
              key={index}
              label={(answers ?? []).length === 1 ? 'Answer' : `Answer ${index + 1}`}
              wraps
              text={textOf(answer)}
            />
          ))}
          <Row>
            <Button
              reason={reason}
              onClick={() => {
                handOver({ format: protocol as WireFormat, body: body ?? '', projectId })
                void location.go(pagePath('playground', { organizationId }))
              }}
            >
              Open in playground
            </Button>
          </Row>
        </Stack>
      )}
    </Loaded>
  )
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

function textOf({ blocks, reason }: NonNullable<Kept['answers']>[number]): string {
  const parts = blocks.map(({ kind, name, text }) => {
    if (kind === 'thinking') return `(thinking) ${text}`
    return kind === 'tool-call' ? `${name ?? ''}(${text})` : text
  })
  return [...parts, reason === null ? '(here it broke off)' : `(${reason})`].join('\n\n')
}
