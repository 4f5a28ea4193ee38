import { useState } from 'react'
import { api, type AnswerOf } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { Form } from '../../app/sign-in-form.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { TextField } from '../../kit/field.tsx'
import { Card, KeyValue, Row } from '../../kit/page.tsx'

export type Me = AnswerOf<'GET /api/v1/me'>

export function ProfileCard({ me }: { readonly me: Me }) {
  const [name, setName] = useState(me.name)
  const change = useChange((body: { readonly name: string }) => api('PATCH /api/v1/me', { body }), {
    touches: [['me'], ['session']],
  })
  const reason = name.trim() === '' ? 'A name is needed.' : name === me.name ? 'Nothing was changed.' : null
  return (
    <Card title="You">
      <Form onSend={() => (reason === null ? change.run({ name: name.trim() }) : undefined)}>
        <ChangeProblem problem={change.problem} shown={['name']} />
        <TextField label="Name" autoComplete="name" value={name} fault={change.faultOf('name')} onText={setName} />
        <KeyValue rows={[['Email', me.email]]} />
        <Row>
          <Button type="submit" isBusy={change.isBusy} reason={reason}>
            Save
          </Button>
        </Row>
      </Form>
    </Card>
  )
}
