import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api, type BodyOf } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { pagePath } from '../../app/paths.ts'
import { useProjects, type Project } from '../../app/queries.ts'
import { useReason } from '../../app/session.ts'
import { Form } from '../../app/sign-in-form.tsx'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Select, TextArea } from '../../kit/field.tsx'
import { Link } from '../../kit/link.tsx'
import { Banner, Card, Row, Stack } from '../../kit/page.tsx'

const path = '/api/v1/organizations/{organizationId}/agent-settings'
type Entries = BodyOf<`PUT ${typeof path}`>['data']
type Settings = Entries[number]['settings']

/** What Claude Code takes as its managed settings, for everybody and for single projects. */
export function AgentsCard({ organizationId }: { readonly organizationId: string }) {
  const query = useQuery({
    queryKey: ['organization', organizationId, 'agent-settings'],
    queryFn: ({ signal }) => api(`GET ${path}`, { params: { organizationId } }, { signal }),
  })
  const projects = useProjects(organizationId)
  return (
    <Card title="Coding agents">
      <Stack>
        <p>
          What Claude Code has as its managed settings where members sign in to it here. See{' '}
          <Link href={pagePath('docsGuide', { guide: 'agents' })}>Signing in to a coding agent</Link>.
        </p>
        <Loaded query={query} what="What is set for agents" rows={2}>
          {({ data }) => <Places organizationId={organizationId} entries={data} projects={projects} />}
        </Loaded>
      </Stack>
    </Card>
  )
}

type PlacesProps = {
  readonly organizationId: string
  readonly entries: Entries
  readonly projects: readonly Project[]
}

/** One place at a time: a person’s agent has the settings of the organization, and over them those of its project. */
function Places({ organizationId, entries, projects }: PlacesProps) {
  const [place, setPlace] = useState('')
  // Kept here: what is saved comes back as the content of another form.
  const [isSaved, setSaved] = useState(false)
  const choosePlace = (chosen: string) => {
    setPlace(chosen)
    setSaved(false)
  }
  const settingsOf = (value: string) => entries.find(({ projectId }) => (projectId ?? '') === value)?.settings
  const isKept = ({ id, archivedAt }: Project) => archivedAt === null || settingsOf(id) !== undefined
  const places = [
    { value: '', label: 'The whole organization' },
    ...projects.filter(isKept).map(({ id: value, name: label }) => ({ value, label })),
  ]
  const choices = places.map(({ value, label }) => {
    return { value, label: settingsOf(value) === undefined ? `${label}: nothing is set` : label }
  })
  const known = settingsOf(place)
  return (
    <>
      <Select label="Where they count" value={place} choices={choices} onChoice={choosePlace} />
      <SettingsForm
        key={place + JSON.stringify(known ?? null)}
        organizationId={organizationId}
        known={known}
        isSaved={isSaved}
        onSaved={() => setSaved(true)}
        toEntries={(settings) => [
          ...entries.filter(({ projectId }) => (projectId ?? '') !== place),
          ...(settings === null ? [] : [{ projectId: place === '' ? null : place, settings }]),
        ]}
      />
    </>
  )
}

type FormProps = {
  readonly organizationId: string
  readonly known: Settings | undefined
  readonly isSaved: boolean
  readonly onSaved: () => void
  /** All that is set, with these in this place; null sets nothing here. */
  readonly toEntries: (settings: Settings | null) => Entries
}

function SettingsForm({ organizationId, known, isSaved, onSaved, toEntries }: FormProps) {
  const before = known === undefined ? '' : JSON.stringify(known, null, 2)
  const [text, setText] = useState(before)
  const read = readSettings(text)
  const change = useChange((data: Entries) => api(`PUT ${path}`, { params: { organizationId }, body: { data } }), {
    touches: [['organization', organizationId, 'agent-settings']],
    onDone: onSaved,
  })
  const isSame = read.fault === undefined && JSON.stringify(read.settings) === JSON.stringify(known ?? null)
  const missing = useReason(organizationId, 'settings:update') ?? read.fault ?? (isSame ? 'Nothing was changed.' : null)
  const save = () => (read.fault === undefined && missing === null ? change.run(toEntries(read.settings)) : undefined)
  return (
    <Form onSend={save}>
      <ChangeProblem problem={change.problem} />
      {isSaved && isSame && <Banner kind="good">Saved.</Banner>}
      <TextArea
        label="Settings, as JSON"
        isMono
        rows={8}
        spellCheck={false}
        autoComplete="off"
        placeholder={'{ "permissions": { "deny": ["WebFetch"] } }'}
        value={text}
        fault={read.fault}
        onText={setText}
        hint="As in managed-settings.json. Empty sets nothing here. Agents ask when they start, and about once an hour."
      />
      <Banner kind="warn">They reach members’ machines, and may start programs there.</Banner>
      <Row>
        <Button type="submit" look="primary" isBusy={change.isBusy} reason={missing}>
          Save for agents
        </Button>
      </Row>
    </Form>
  )
}

type Read = { readonly settings: Settings | null; readonly fault?: undefined } | { readonly fault: string }

function readSettings(text: string): Read {
  if (text.trim() === '') return { settings: null }
  try {
    const read: unknown = JSON.parse(text)
    if (typeof read === 'object' && read !== null && !Array.isArray(read)) return { settings: read as Settings }
    return { fault: 'Settings are an object, between { and }.' }
  } catch (error) {
    return { fault: `This is no JSON: ${error instanceof Error ? error.message : 'it cannot be read.'}` }
  }
}
