import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api, type AnswerOf } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { useReason } from '../../app/session.ts'
import { Form } from '../../app/sign-in-form.tsx'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { TextField } from '../../kit/field.tsx'
import { Banner, Card, Row } from '../../kit/page.tsx'

const path = '/api/v1/organizations/{organizationId}/settings'
type Settings = AnswerOf<`GET ${typeof path}`>

/** How long keys last, and whom members ask for more. */
export function RulesCard({ organizationId }: { readonly organizationId: string }) {
  const query = useQuery({
    queryKey: ['organization', organizationId, 'settings'],
    queryFn: ({ signal }) => api(`GET ${path}`, { params: { organizationId } }, { signal }),
  })
  return (
    <Card title="Keys and limits">
      <Loaded query={query} what="The rules" rows={2}>
        {(known) => <RulesForm key={JSON.stringify(known)} organizationId={organizationId} known={known} />}
      </Loaded>
    </Card>
  )
}

function RulesForm({ organizationId, known }: { readonly organizationId: string; readonly known: Settings }) {
  const [days, setDays] = useState(known.keyDaysMax === null ? '' : String(known.keyDaysMax))
  const [contact, setContact] = useState(known.contact ?? '')
  const reason = useReason(organizationId, 'settings:update')
  const body: Settings = {
    contact: contact.trim() === '' ? null : contact.trim(),
    keyDaysMax: days.trim() === '' ? null : Number(days),
  }
  const isSame = body.contact === known.contact && body.keyDaysMax === known.keyDaysMax
  const change = useChange((changed: Settings) => api(`PATCH ${path}`, { params: { organizationId }, body: changed }), {
    touches: [['organization', organizationId]],
  })
  const wrong = days.trim() === '' || /^[1-9]\d{0,3}$/.test(days.trim()) ? null : 'A whole number of days, or empty.'
  const missing = reason ?? wrong ?? (isSame ? 'Nothing was changed.' : null)
  return (
    <Form onSend={() => (missing === null ? change.run(body) : undefined)}>
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
