import { useState } from 'react'
import { api } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import {
  fieldsOf,
  NameField,
  reasonOfRules,
  RulesFields,
  toRules,
  type RuleFields,
} from '../../app/keys/rules-fields.tsx'
import type { ApiKey } from '../../app/queries.ts'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Drawer } from '../../kit/layers.tsx'
import { changedFields } from '../../lib/changed-fields.ts'

type Props = { readonly organizationId: string; readonly apiKey: ApiKey; readonly onClose: () => void }

export function EditKeyDrawer({ organizationId, apiKey, onClose }: Props) {
  const [began] = useState(apiKey)
  const [fields, setFields] = useState(() => fieldsOf(began))
  const params = { organizationId, apiKeyId: apiKey.id }
  const change = useChange(
    (body: Partial<ReturnType<typeof bodyOf>>) =>
      api('PATCH /api/v1/organizations/{organizationId}/api-keys/{apiKeyId}', { params, body }),
    {
      touches: [
        ['keys', organizationId],
        ['key', organizationId],
      ],
      onDone: onClose,
    },
  )
  const set = (typed: Partial<RuleFields>) => setFields({ ...fields, ...typed })
  const changes = () => changedFields(bodyOf(fieldsOf(began)), bodyOf(fields))
  const reason = reasonOfRules(fields) ?? (Object.keys(changes()).length === 0 ? 'Nothing was changed.' : null)
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
      Save
    </Button>
  )
  const save = () => (reason === null ? void change.run(changes()) : undefined)
  return (
    <Drawer title={`Edit “${apiKey.name}”`} isOpen onClose={onClose} foot={foot} onSubmit={save}>
      <ChangeProblem problem={change.problem} shown={['name', 'expiresAt', 'addresses']} />
      <NameField fields={fields} set={set} faultOf={change.faultOf} />
      <RulesFields fields={fields} set={set} faultOf={change.faultOf} endsAt={began.expiresAt} />
    </Drawer>
  )
}

function bodyOf(fields: RuleFields) {
  return { name: fields.name.trim(), ...toRules(fields) }
}
