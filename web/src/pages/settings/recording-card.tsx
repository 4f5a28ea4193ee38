import { Fragment, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { Confirm } from '../../app/confirm.tsx'
import { pagePath } from '../../app/paths.ts'
import { projectsQuery, type Project } from '../../app/queries.ts'
import { useReason, useSession } from '../../app/session.ts'
import { Form } from '../../app/sign-in-form.tsx'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { formatBytes, formatCounted } from '../../format/figures.ts'
import { Button } from '../../kit/button.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { Select } from '../../kit/field.tsx'
import { Link } from '../../kit/link.tsx'
import { Banner, Card, KeyValue, Row } from '../../kit/page.tsx'
import { dayMs } from '../../format/time.ts'

const path = '/api/v1/organizations/{organizationId}/projects/{projectId}/recording'
type Recording = Schemas['ProjectRecording']
type Place = { readonly organizationId: string; readonly projectId: string }

/** In which projects what is said in requests is kept: in none, unless an owner has asked for it. */
export function RecordingCard({ organizationId }: { readonly organizationId: string }) {
  const isPossible = useSession()?.features.recording ?? false
  const maySee = useReason(organizationId, 'projects:read') === null
  const query = useQuery({ ...projectsQuery(organizationId), enabled: isPossible && maySee })
  if (!maySee) return null
  if (!isPossible) {
    return (
      <Card title="Prompts and answers">
        <p>Prompts and answers are not kept: whoever runs this installation lets nothing of them be.</p>
      </Card>
    )
  }
  return (
    <Card title="Prompts and answers">
      <Loaded query={query} what="The projects" rows={2}>
        {(projects) => <Chooser organizationId={organizationId} projects={projects} />}
      </Loaded>
    </Card>
  )
}

function Chooser({ organizationId, projects }: { organizationId: string; readonly projects: readonly Project[] }) {
  const recorded = projects.filter(({ recordedUntil }) => recordedUntil !== null)
  const [chosen, setChosen] = useState((recorded[0] ?? projects[0])?.id)
  const project = projects.find(({ id }) => id === chosen)
  if (project === undefined) return <p>Prompts and answers are not kept.</p>
  return (
    <>
      <p>
        <Where names={recorded.map(({ name }) => name)} /> Where an owner has them kept, admins read those of everybody
        and developers those of their own keys. Each reading is in the audit. See{' '}
        <Link href={pagePath('docsGuide', { guide: 'recordings' })}>Keeping prompts and answers</Link>.
      </p>
      <Select
        label="Project"
        value={project.id}
        choices={projects.map(({ id, name }) => ({ value: id, label: name }))}
        onChoice={setChosen}
      />
      <OfProject key={project.id} place={{ organizationId, projectId: project.id }} name={project.name} />
    </>
  )
}

const namedMax = 3

function Where({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return 'Prompts and answers are not kept in any project.'
  const more = names.length - namedMax
  return (
    <>
      Prompts and answers are kept in{' '}
      {names.slice(0, namedMax).map((name, index) => (
        <Fragment key={index}>
          {index > 0 && ', '}
          <Name>{name}</Name>
        </Fragment>
      ))}
      {more > 0 && ` and ${more} more`}.
    </>
  )
}

function OfProject({ place, name }: { readonly place: Place; readonly name: string }) {
  const query = useQuery({
    queryKey: ['recording', place.organizationId, place.projectId],
    queryFn: ({ signal }) => api(`GET ${path}`, { params: place }, { signal }),
  })
  return (
    <Loaded query={query} what="What is kept" rows={2}>
      {(recording) => <Switch place={place} name={name} recording={recording} />}
    </Loaded>
  )
}

const choicesOf = (days: readonly number[]) =>
  days.map((count) => ({ value: String(count), label: formatCounted(count, 'day') }))
const endChoices = choicesOf([1, 3, 7, 14, 30])
const daysChoices = (known: number) =>
  choicesOf([...new Set([1, 3, 7, 14, 30, known])].toSorted((one, other) => one - other))

type SwitchProps = { readonly place: Place; readonly name: string; readonly recording: Recording }

function Switch({ place, name, recording }: SwitchProps) {
  const [endsAfter, setEndsAfter] = useState('7')
  const [days, setDays] = useState(String(recording.days))
  const [isDeleting, setDeleting] = useState(false)
  const reason = useReason(place.organizationId, 'recordings:update')
  const touches = [['recording', place.organizationId], ['projects', place.organizationId], ['session']]
  const change = useChange(
    (isOn: boolean) => {
      const endsAt = new Date(Date.now() + Number(endsAfter) * dayMs - 1_000).toISOString()
      return api(`PUT ${path}`, { params: place, body: isOn ? { isOn, days: Number(days), endsAt } : { isOn } })
    },
    { touches },
  )
  return (
    <Form onSend={() => (reason === null ? change.run(true) : undefined)}>
      <ChangeProblem problem={change.problem} />
      {recording.endsAt !== null && (
        <Banner kind="warn">
          What is said in requests of <Name>{name}</Name> is kept until <Time at={recording.endsAt} />.
        </Banner>
      )}
      <KeyValue rows={[['Kept now', wordsOf(recording.kept)]]} />
      <Select label="End by itself after" value={endsAfter} choices={endChoices} onChoice={setEndsAfter} />
      <Select
        label="Delete each request after"
        value={days}
        choices={daysChoices(recording.days)}
        onChoice={setDays}
        hint="Of requests from now on. What was kept before stays for as long as was said then."
      />
      <Row>
        <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
          {recording.isOn ? 'Save' : 'Keep prompts and answers'}
        </Button>
        {recording.isOn && (
          <Button reason={reason} isBusy={change.isBusy} onClick={() => void change.run(false)}>
            Stop keeping
          </Button>
        )}
        {recording.kept.requests > 0 && (
          <Button look="danger" reason={reason} onClick={() => setDeleting(true)}>
            Delete what is kept…
          </Button>
        )}
      </Row>
      {isDeleting && <Deletion place={place} name={name} touches={touches} onClose={() => setDeleting(false)} />}
    </Form>
  )
}

function wordsOf({ requests, bytes }: Recording['kept']): string {
  if (requests === 0) return 'nothing'
  return `${formatCounted(requests, 'request')}, ${formatBytes(bytes)}`
}

type DeletionProps = Omit<SwitchProps, 'recording'> & {
  readonly touches: readonly (readonly string[])[]
  readonly onClose: () => void
}

function Deletion({ place, name, touches, onClose }: DeletionProps) {
  const change = useChange(() => api(`DELETE ${path}/requests`, { params: place }), { touches, onDone: onClose })
  return (
    <Confirm
      title={`Delete what is kept of “${name}”`}
      verb="Delete"
      change={change}
      onConfirm={() => void change.run(null)}
      onClose={onClose}
    >
      All prompts and answers of its requests are deleted, and nobody can read them again. What the requests used and
      cost stays.
    </Confirm>
  )
}
