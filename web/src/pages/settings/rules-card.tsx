import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api, type AnswerOf } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { useReason } from '../../app/session.ts'
import { Form } from '../../app/sign-in-form.tsx'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Select, TextField } from '../../kit/field.tsx'
import { Banner, Card, Row } from '../../kit/page.tsx'
import { changedFields } from '../../lib/changed-fields.ts'

const path = '/api/v1/organizations/{organizationId}/settings'
type Settings = AnswerOf<`GET ${typeof path}`>
type Rules = Pick<Settings, 'contact' | 'keyDaysMax'>
type Attribution = Pick<Settings, 'endUsers' | 'tagKeys'>

/** How long keys last, and whom members ask for more. */
export function RulesCard({ organizationId }: { readonly organizationId: string }) {
  const query = useQuery({
    queryKey: ['organization', organizationId, 'settings'],
    queryFn: ({ signal }) => api(`GET ${path}`, { params: { organizationId } }, { signal }),
  })
  return (
    <>
      <Card title="Keys and limits">
        <Loaded query={query} what="The rules" rows={2}>
          {(known) => <RulesForm key={JSON.stringify(known)} organizationId={organizationId} known={known} />}
        </Loaded>
      </Card>
      <Card title="Whom requests are for">
        <Loaded query={query} what="What is kept" rows={2}>
          {(known) => <AttributionForm key={JSON.stringify(known)} organizationId={organizationId} known={known} />}
        </Loaded>
      </Card>
    </>
  )
}

function RulesForm({ organizationId, known }: { readonly organizationId: string; readonly known: Settings }) {
  const [days, setDays] = useState(known.keyDaysMax === null ? '' : String(known.keyDaysMax))
  const [contact, setContact] = useState(known.contact ?? '')
  const reason = useReason(organizationId, 'settings:update')
  const body: Rules = {
    contact: contact.trim() === '' ? null : contact.trim(),
    keyDaysMax: days.trim() === '' ? null : Number(days),
  }
  const changes = changedFields<Rules>(known, body)
  const change = useChange(
    (changed: Partial<Rules>) => api(`PATCH ${path}`, { params: { organizationId }, body: changed }),
    {
      touches: [['organization', organizationId]],
    },
  )
  const wrong = days.trim() === '' || /^[1-9]\d{0,3}$/.test(days.trim()) ? null : 'A whole number of days, or empty.'
  const missing = reason ?? wrong ?? (Object.keys(changes).length === 0 ? 'Nothing was changed.' : null)
  return (
    <Form onSend={() => (missing === null ? change.run(changes) : undefined)}>
      <ChangeProblem problem={change.problem} shown={['keyDaysMax', 'contact']} />
      {known.keyDaysMax !== null && (
        <Banner kind="info">{`A new key ends within ${known.keyDaysMax} days. Older keys stay as they are.`}</Banner>
      )}
      <TextField
        label="Longest life of a key, in days"
        inputMode="numeric"
        placeholder="without an end"
        value={days}
        fault={wrong ?? change.faultOf('keyDaysMax')}
        onText={setDays}
      />
      <TextField
        label="Who is asked for higher limits"
        autoComplete="off"
        maxLength={200}
        placeholder="ops@example.com"
        value={contact}
        fault={change.faultOf('contact')}
        onText={setContact}
        hint="Every member sees it where they ask for more."
      />
      <Row>
        <Button type="submit" look="primary" isBusy={change.isBusy} reason={missing}>
          Save rules
        </Button>
      </Row>
    </Form>
  )
}

const endUserChoices = [
  { value: 'hashed', label: 'As hashes' },
  { value: 'plain', label: 'By the names that clients give' },
  { value: 'off', label: 'Not at all' },
] as const

/** What is kept of end users and labels with each request, from the next one on. */
function AttributionForm({ organizationId, known }: { readonly organizationId: string; readonly known: Settings }) {
  const [endUsers, setEndUsers] = useState(known.endUsers)
  const [typed, setTyped] = useState(known.tagKeys.join(', '))
  const tagKeys = typed.split(/[\s,]+/).filter((key) => key !== '')
  const change = useChange((body: Partial<Attribution>) => api(`PATCH ${path}`, { params: { organizationId }, body }), {
    touches: [['organization', organizationId]],
  })
  const changes = changedFields<Attribution>(known, { endUsers, tagKeys })
  const missing =
    useReason(organizationId, 'settings:update') ?? (Object.keys(changes).length === 0 ? 'Nothing was changed.' : null)
  return (
    <Form onSend={() => (missing === null ? change.run(changes) : undefined)}>
      <ChangeProblem problem={change.problem} shown={['tagKeys']} />
      <Select
        label="End users are kept"
        value={endUsers}
        choices={endUserChoices}
        onChoice={setEndUsers}
        hint="Clients name them in user or safety_identifier, or in metadata.user_id."
      />
      <TextField
        label="Metadata kept as tags"
        autoComplete="off"
        placeholder="team, environment"
        value={typed}
        fault={change.faultOf('tagKeys')}
        onText={setTyped}
        hint="Keys with commas between them, 16 at most; all other metadata is forgotten."
      />
      <Row>
        <Button type="submit" look="primary" isBusy={change.isBusy} reason={missing}>
          Save what is kept
        </Button>
      </Row>
    </Form>
  )
}
