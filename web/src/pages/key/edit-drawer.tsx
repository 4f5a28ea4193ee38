import { useState } from 'react'
import { api } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { fieldsOf, NameField, reasonOfRules, RulesFields, toRules } from '../../app/keys/rules-fields.tsx'
import type { ApiKey } from '../../app/queries.ts'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Drawer } from '../../kit/layers.tsx'

type Props = { readonly organizationId: string; readonly apiKey: ApiKey; readonly onClose: () => void }

export function EditKeyDrawer({ organizationId, apiKey, onClose }: Props) {
  const [fields, setFields] = useState(() => fieldsOf(apiKey))
  const params = { organizationId, apiKeyId: apiKey.id }
  const change = useChange(
    (body: ReturnType<typeof toRules> & { readonly name: string }) =>
      api('PATCH /api/v1/organizations/{organizationId}/api-keys/{apiKeyId}', { params, body }),
    {
      touches: [
        ['keys', organizationId],
        ['key', organizationId],
      ],
      onDone: onClose,
    },
  )
  const set = (changes: Partial<typeof fields>) => setFields({ ...fields, ...changes })
  const reason = reasonOfRules(fields)
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
      Save
    </Button>
  )
  const save = () => (reason === null ? void change.run({ name: fields.name.trim(), ...toRules(fields) }) : undefined)
  return (
    <Drawer title={`Edit “${apiKey.name}”`} isOpen onClose={onClose} foot={foot} onSubmit={save}>
      <ChangeProblem problem={change.problem} shown={['name', 'expiresAt', 'addresses']} />
      <NameField fields={fields} set={set} faultOf={change.faultOf} />
      <RulesFields fields={fields} set={set} faultOf={change.faultOf} />
    </Drawer>
  )
}
