import { useState } from 'react'
import { api, type BodyOf } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import {
  faultOfNumbers,
  isWithoutNumbers,
  LimitNumberFields,
  limitNumbers,
  type LimitTexts,
} from '../../app/limits/limit-numbers.tsx'
import { modelChoices, type ModelId } from '../../app/models.ts'
import type { Subject } from '../../app/queries.ts'
import { SubjectField } from '../../app/subject-field.tsx'
import { useChange } from '../../app/use-change.ts'
import { parseCount } from '../../format/parse-typed.ts'
import { Button } from '../../kit/button.tsx'
import { Checkbox, Select, TextField } from '../../kit/field.tsx'
import { Drawer } from '../../kit/layers.tsx'
import type { LimitRequest } from './asked-for.tsx'
import type { Limit } from './page.tsx'

type Fields = LimitTexts & {
  readonly subject: Subject
  readonly model: ModelId | '*'
  readonly isRequestsEnforced: boolean
  readonly cachedReadPercent: string
}

type Props = {
  readonly organizationId: string
  readonly limit: Limit | null
  /** What somebody has asked for, with which the form begins. */
  readonly asked?: LimitRequest
  readonly onSet: () => void
  readonly onClose: () => void
}

/** A field that is left empty is no limit. */
export function LimitDrawer({ organizationId, limit, asked, onSet, onClose }: Props) {
  const [fields, setFields] = useState(() => fieldsOf(organizationId, limit, asked))
  const set = (changes: Partial<Fields>) => setFields({ ...fields, ...changes })
  const change = useChange(
    (body: BodyOf<'PUT /api/v1/organizations/{organizationId}/limits'>) =>
      api('PUT /api/v1/organizations/{organizationId}/limits', { params: { organizationId }, body }),
    {
      touches: [['limits', organizationId]],
      onDone: () => {
        onSet()
        onClose()
      },
    },
  )
  const reason = faultOfNumbers(fields, 0) ?? (isWithoutNumbers(fields) ? 'One number at least is needed.' : null)
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
      {limit === null ? 'Set limit' : 'Save'}
    </Button>
  )
  const save = () => (reason === null ? void change.run(toBody(fields)) : undefined)
  return (
    <Drawer title={limit === null ? 'Set limit' : 'Edit limit'} isOpen onClose={onClose} foot={foot} onSubmit={save}>
      <ChangeProblem problem={change.problem} shown={limitNumbers.map(({ field }) => field)} />
      {limit === null && (
        <SubjectField
          organizationId={organizationId}
          subject={fields.subject}
          onChoice={(subject) => set({ subject })}
        />
      )}
      {limit === null && (
        <Select
          label="Model"
          value={fields.model}
          choices={[{ value: '*', label: 'All of them together' }, ...modelChoices]}
          onChoice={(model) => set({ model })}
        />
      )}
      <LimitNumberFields texts={fields} placeholder="no limit" faultOf={change.faultOf} set={set} />
      {fields.requestsPerMinute !== '' && (
        <Checkbox
          label="Refuse requests beyond the requests a minute"
          hint="Otherwise the number is only told in the headers."
          isOn={fields.isRequestsEnforced}
          onChange={(isRequestsEnforced) => set({ isRequestsEnforced })}
        />
      )}
      <TextField
        label="Tokens read from the cache count, in percent"
        inputMode="numeric"
        value={fields.cachedReadPercent}
        fault={change.faultOf('cachedReadPercent')}
        onText={(cachedReadPercent) => set({ cachedReadPercent })}
      />
    </Drawer>
  )
}

function fieldsOf(organizationId: string, limit: Limit | null, asked?: LimitRequest): Fields {
  const fields = fieldsOfLimit(organizationId, limit)
  if (asked === undefined) return fields
  const wanted = Object.fromEntries(Object.entries(asked.wanted).map(([field, value]) => [field, String(value)]))
  const model = modelChoices.find(({ value }) => value === asked.model)?.value ?? '*'
  return { ...fields, ...wanted, model, subject: { kind: 'api-key', id: asked.apiKeyId } }
}

function fieldsOfLimit(organizationId: string, limit: Limit | null): Fields {
  const text = (value: number | null | undefined) => (value === null || value === undefined ? '' : String(value))
  return {
    subject: limit?.subject ?? { kind: 'organization', id: organizationId },
    model: limit?.model ?? '*',
    inputTokensPerMinute: text(limit?.inputTokensPerMinute),
    outputTokensPerMinute: text(limit?.outputTokensPerMinute),
    requestsPerMinute: text(limit?.requestsPerMinute),
    concurrency: text(limit?.concurrency),
    isRequestsEnforced: limit?.isRequestsEnforced ?? false,
    cachedReadPercent: text(limit?.cachedReadPercent ?? 10),
  }
}

function toBody(fields: Fields): BodyOf<'PUT /api/v1/organizations/{organizationId}/limits'> {
  return {
    subject: fields.subject,
    model: fields.model,
    inputTokensPerMinute: parseCount(fields.inputTokensPerMinute),
    outputTokensPerMinute: parseCount(fields.outputTokensPerMinute),
    requestsPerMinute: parseCount(fields.requestsPerMinute),
    concurrency: parseCount(fields.concurrency),
    isRequestsEnforced: fields.isRequestsEnforced,
    cachedReadPercent: Number(fields.cachedReadPercent),
  }
}
