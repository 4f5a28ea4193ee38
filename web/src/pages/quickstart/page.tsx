import { Fragment, lazy, Suspense, useEffect, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import type { PageParams } from '../../app/paths.ts'
import { firstKey } from '../../app/first-key.ts'
import { modelChoices, modelIds } from '../../app/models.ts'
import { projectsQuery, useNoProjectReason } from '../../app/queries.ts'
import { useSearch } from '../../app/router.tsx'
import { useMembership, useReason } from '../../app/session.ts'
import { Form } from '../../app/sign-in-form.tsx'
import { TryKey } from '../../app/try-key.tsx'
import { useChange } from '../../app/use-change.ts'
import { forgotten, useSecret } from '../../app/use-secret.ts'
import { Button } from '../../kit/button.tsx'
import { Code } from '../../kit/content.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { Banner, Card, Page as Frame, Row, Stack } from '../../kit/page.tsx'
import { Segments } from '../../kit/tabs.tsx'
import { Skeleton } from '../../kit/skeleton.tsx'
import { Secret } from '../../lib/secret.ts'
import { flag, oneOf, searchCodec, text } from '../../lib/search-codec.ts'
import { ClientSettings, useWireFormat } from './client-settings.tsx'

const quickstartSearch = searchCodec({
  client: text('curl'),
  format: oneOf(['any', 'chat', 'messages'], 'any'),
  model: oneOf(modelIds, 'clarke-1.0'),
  first: flag,
})

/** Of a fresh installation alone, so nobody else fetches it. */
const WeightsStep = lazy(async () => ({ default: (await import('../../app/weights/weights-step.tsx')).WeightsStep }))

/** From nothing to an answer in four steps. The key is in this page's memory alone. */
export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  const [{ client, model, format, first }, change] = useSearch(quickstartSearch)
  const wire = useWireFormat({ client, model, format })
  const [secret, setSecret] = useState<Secret | null>(null)
  const key = useSecret(secret)
  const isForgotten = secret !== null && key === ''
  const setKey = (given: string) => setSecret(given === '' ? null : new Secret(given))
  return (
    <Frame
      isNarrow
      title="Quickstart"
      said={
        first
          ? 'Odyssey is yours, and this is your first key. Ask the models something with it.'
          : 'A key, a model and the settings of your client.'
      }
    >
      {/* What had the key is thrown away when the key is, since what draws the page keeps what it drew last. */}
      <Fragment key={isForgotten ? 'forgotten' : 'shown'}>
        <Card title="1 · Key">
          {isForgotten && (
            <Banner kind="warn">{forgotten} A key that was kept nowhere is revoked on the page of keys.</Banner>
          )}
          <KeyStep organizationId={organizationId} apiKey={key} onKey={setKey} />
        </Card>
        <Card title="2 · Model">
          <Stack>
            <Segments
              name="Model"
              tabs={modelChoices}
              chosen={model}
              onChoice={(chosen) => change({ model: chosen })}
            />
            <p>{uses[model]}</p>
          </Stack>
        </Card>
        <Card title="3 · Settings">
          <ClientSettings client={client} model={model} format={format} apiKey={key} onChange={change} />
        </Card>
        <Card title="4 · Test it">
          {key === '' ? (
            <p>Make a key in step 1, or paste one, and this sends one real request with it.</p>
          ) : (
            <TryKey apiKey={key} format={wire} model={model} organizationId={organizationId} />
          )}
        </Card>
      </Fragment>
      {first && (
        <Suspense fallback={null}>
          <WeightsStep title="5 · Weights for this machine" />
        </Suspense>
      )}
    </Frame>
  )
}

const uses = {
  'clarke-1.0':
    'Quick answers and agents that ask often. It does not think before it answers unless a request asks for it.',
  'hal-1.0': 'The hard questions. It thinks before it answers.',
  'tycho-1.0': 'Many small requests: short answers at the lowest cost.',
} as const

type StepProps = { readonly organizationId: string; readonly apiKey: string; readonly onKey: (key: string) => void }

function KeyStep({ organizationId, apiKey, onKey }: StepProps) {
  const [way, setWay] = useState<'new' | 'known'>('new')
  const reason = useReason(organizationId, 'api-keys:create')
  return (
    <Stack>
      <Segments
        name="Key"
        tabs={[
          { value: 'new', label: 'Make a key' },
          { value: 'known', label: 'I have one' },
        ]}
        chosen={way}
        onChoice={setWay}
      />
      {way === 'known' && (
        <TextField
          label="Key"
          isMono
          type="password"
          autoComplete="off"
          value={apiKey}
          onText={(text) => onKey(text.trim())}
          hint="It stays in this page’s memory and is sent only to /v1."
        />
      )}
      {way === 'new' && apiKey === '' && <NewKeyForm organizationId={organizationId} reason={reason} onKey={onKey} />}
      {way === 'new' && apiKey !== '' && (
        <>
          <Banner kind="warn">This is the only time the key is shown. Keep it where your client finds it.</Banner>
          <Code label="Key" wraps text={apiKey} />
        </>
      )}
    </Stack>
  )
}

function NewKeyForm({
  organizationId,
  reason,
  onKey,
}: {
  readonly organizationId: string
  readonly reason: string | null
  readonly onKey: (key: string) => void
}) {
  const [name, setName] = useState('laptop')
  const mayReadProjects = useReason(organizationId, 'projects:read') === null
  const { data = [], isLoading } = useQuery({ ...projectsQuery(organizationId), enabled: mayReadProjects })
  const projects = data.filter(({ archivedAt }) => archivedAt === null)
  const [chosen, setProject] = useState<string | null>(null)
  const projectId = chosen ?? projects[0]?.id ?? ''
  const ownerId = useMembership(organizationId)?.memberId
  const change = useChange(
    (body: { readonly name: string; readonly projectId: string }, options) =>
      api(
        'POST /api/v1/organizations/{organizationId}/api-keys',
        { params: { organizationId }, body: { ...body, ...(ownerId !== undefined && { ownerId }) } },
        options,
      ),
    { touches: [['keys', organizationId]], onDone: ({ key }) => onKey(key) },
  )
  const noProject = useNoProjectReason(organizationId)
  const missing = reason ?? (name.trim() === '' ? 'A name is needed.' : noProject)
  const { run } = change
  useEffect(() => {
    if (missing === null && firstKey.take()) void run({ name: name.trim(), projectId })
  }, [missing, run, name, projectId])
  // Whether there is one of several to choose is known once they are here.
  if (isLoading) return <Skeleton rows={3} />
  return (
    <Form onSend={() => (missing === null ? run({ name: name.trim(), projectId }) : undefined)}>
      <ChangeProblem problem={change.problem} />
      <TextField label="Name" autoComplete="off" value={name} onText={setName} hint="Where it is used." />
      {projects.length > 1 && (
        <Select
          label="Project"
          value={projectId}
          choices={projects.map(({ id, name: text }) => ({ value: id, label: text }))}
          onChoice={setProject}
        />
      )}
      <Row>
        <Button type="submit" look="primary" isBusy={change.isBusy} reason={missing}>
          Create key
        </Button>
      </Row>
    </Form>
  )
}
