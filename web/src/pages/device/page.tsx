import { useState, type FormEvent } from 'react'
import { api } from '../../api/client.ts'
import type { WaitingAgent } from '../../api/answers.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { usePlace } from '../../app/router.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { Banner, Card, KeyValue, Page as Frame, Row, Stack } from '../../kit/page.tsx'

type Told = 'allowed' | 'denied'

/** Where a coding agent sends its person, who says here that it is theirs. A code that came along is sent by nobody else. */
export function Page() {
  const { search } = usePlace()
  const [code, setCode] = useState(new URLSearchParams(search).get('code') ?? '')
  const [agent, setAgent] = useState<WaitingAgent | null>(null)
  const [told, setTold] = useState<Told | null>(null)
  const look = useChange((asked: string) => api('POST /api/v1/me/agents/look', { body: { code: asked } }), {
    touches: [],
    onDone: setAgent,
  })
  const send = (event: FormEvent) => {
    event.preventDefault()
    void look.run(code)
  }
  if (told !== null) return <Done told={told} />
  if (agent !== null) return <Allow code={code} agent={agent} onDone={setTold} />
  return (
    <Frame title="Sign in to a coding agent" isNarrow>
      <Card title="Its code">
        <form onSubmit={send}>
          <Stack>
            <ChangeProblem problem={look.problem} />
            <TextField
              label="Code"
              hint="The agent shows it in your terminal: eight letters. It is good for ten minutes."
              isMono
              required
              autoComplete="off"
              value={code}
              onText={setCode}
            />
            <Row>
              <Button look="primary" type="submit" isBusy={look.isBusy}>
                Go on
              </Button>
            </Row>
          </Stack>
        </form>
      </Card>
    </Frame>
  )
}

function Done({ told }: { readonly told: Told }) {
  return (
    <Frame title={told === 'allowed' ? 'The agent is signed in' : 'The agent was turned away'} isNarrow>
      <p>
        {told === 'allowed'
          ? 'Go back to your terminal; this page can be closed. Under Account you see the agents that you are signed in to.'
          : 'It gets nothing. If you have not started it, somebody else has.'}
      </p>
    </Frame>
  )
}

type AllowProps = {
  readonly code: string
  readonly agent: WaitingAgent
  readonly onDone: (told: Told) => void
}

function Allow({ code, agent, onDone }: AllowProps) {
  const { client, address, begunAt, projects } = agent
  const [projectId, setProject] = useState(projects[0]?.projectId ?? '')
  const chosen = projects.find((one) => one.projectId === projectId)
  const allow = useChange(
    ({ organizationId, projectId: where }: (typeof projects)[number]) =>
      api('POST /api/v1/me/agents', { body: { code, organizationId, projectId: where } }),
    { touches: [['agents']], onDone: () => onDone('allowed') },
  )
  const deny = useChange((_: null) => api('POST /api/v1/me/agents/deny', { body: { code } }), {
    touches: [],
    onDone: () => onDone('denied'),
  })
  return (
    <Frame title="Sign in to a coding agent" isNarrow>
      <Card title="Is this yours?">
        <Stack>
          <ChangeProblem problem={allow.problem ?? deny.problem} />
          <KeyValue
            rows={[
              ['Code', <Name key="code">{code.toUpperCase()}</Name>],
              ['Agent', <Name key="agent">{client}</Name>],
              ['Address', <Name key="address">{address}</Name>],
              ['Began', <Time key="began" at={begunAt} isAgo />],
            ]}
          />
          <Banner kind="warn">
            Allow it only if you have started it yourself and its terminal shows this code. It asks models in your name.
          </Banner>
          {projects.length > 0 ? (
            <Select
              label="Its requests count in"
              choices={projects.map((one) => ({
                value: one.projectId,
                label: `${one.organizationName} · ${one.projectName}`,
              }))}
              value={projectId}
              onChoice={setProject}
            />
          ) : (
            <p>You may use models in no project. Ask the administrators of your organization for one.</p>
          )}
          <Row>
            <Button
              look="primary"
              isBusy={allow.isBusy}
              reason={chosen === undefined ? 'There is no project to count it in.' : null}
              onClick={() => chosen !== undefined && void allow.run(chosen)}
            >
              Allow
            </Button>
            <Button isBusy={deny.isBusy} onClick={() => void deny.run(null)}>
              Turn it away
            </Button>
          </Row>
        </Stack>
      </Card>
    </Frame>
  )
}
