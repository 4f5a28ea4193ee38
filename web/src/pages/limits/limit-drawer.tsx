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
import { useSetterReason } from '../../app/limits/use-setter-reason.ts'
import { modelChoices, type ModelId } from '../../app/models.ts'
import type { Subject } from '../../app/queries.ts'
import { SubjectField } from '../../app/subject-field.tsx'
import { useChange } from '../../app/use-change.ts'
import { parseCount } from '../../format/parse-typed.ts'
import { Button } from '../../kit/button.tsx'
import { Checkbox, Select, TextField } from '../../kit/field.tsx'
import { Drawer } from '../../kit/layers.tsx'
import { Banner } from '../../kit/page.tsx'
import type { LimitRequest } from './asked-for.tsx'
import type { Limit } from './page.tsx'

type Place = { readonly subject: Subject; readonly model: ModelId | '*' }
type Values = LimitTexts & { readonly isRequestsEnforced: boolean; readonly cachedReadPercent: string }

type Props = {
  readonly organizationId: string
  /** All that there are, since setting one for a place that has one changes that. */
  readonly limits: readonly Limit[]
  readonly limit: Limit | null
  /** What somebody has asked for, with which the form begins. */
  readonly asked?: LimitRequest
  readonly onSet: () => void
  readonly onClose: () => void
}

/** A field that is left empty is no limit. */
export function LimitDrawer({ organizationId, limits, limit, asked, onSet, onClose }: Props) {
  const [place, setPlace] = useState<Place>(limit ?? placeOf(organizationId, asked))
  const [typed, setTyped] = useState<Partial<Values>>(() => wantedOf(asked))
  const there = limit ?? limits.find((one) => isAt(one, place)) ?? null
  const fields = { ...valuesOf(there), ...typed }
  const set = (changes: Partial<Values>) => setTyped({ ...typed, ...changes })
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
  const reasonOf = useSetterReason(organizationId, 'limits:update')
  const reason = reasonOf(there?.setBy ?? 'organization') ?? faultOf(fields)
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
      {limit === null ? 'Set limit' : 'Save'}
    </Button>
  )
  const save = () => (reason === null ? void change.run(toBody(place, fields)) : undefined)
  return (
    <Drawer title={limit === null ? 'Set limit' : 'Edit limit'} isOpen onClose={onClose} foot={foot} onSubmit={save}>
      <ChangeProblem problem={change.problem} shown={limitNumbers.map(({ field }) => field)} />
      {limit === null && (
        <PlaceFields organizationId={organizationId} place={place} isTaken={there !== null} onChoice={setPlace} />
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

type PlaceProps = {
  readonly organizationId: string
  readonly place: Place
  readonly isTaken: boolean
  readonly onChoice: (place: Place) => void
}

function PlaceFields({ organizationId, place, isTaken, onChoice }: PlaceProps) {
  return (
    <>
      <SubjectField
        organizationId={organizationId}
        subject={place.subject}
        onChoice={(subject) => onChoice({ ...place, subject })}
      />
      <Select
        label="Model"
        value={place.model}
        choices={[{ value: '*', label: 'All of them together' }, ...modelChoices]}
        onChoice={(model) => onChoice({ ...place, model })}
      />
      {isTaken && (
        <Banner kind="info">There is a limit for this already. It is filled in here, and will be changed.</Banner>
      )}
    </>
  )
}

function placeOf(organizationId: string, asked: LimitRequest | undefined): Place {
  if (asked === undefined) return { subject: { kind: 'organization', id: organizationId }, model: '*' }
  const model = modelChoices.find(({ value }) => value === asked.model)?.value ?? '*'
  return { subject: { kind: 'api-key', id: asked.apiKeyId }, model }
}

function isAt(limit: Limit, { subject: { kind, id }, model }: Place): boolean {
  return limit.model === model && limit.subject.kind === kind && limit.subject.id === id
}

function wantedOf(asked: LimitRequest | undefined): Partial<Values> {
  return Object.fromEntries(Object.entries(asked?.wanted ?? {}).map(([field, value]) => [field, String(value)]))
}

function valuesOf(limit: Limit | null): Values {
  const text = (value: number | null | undefined) => (value === null || value === undefined ? '' : String(value))
  return {
    inputTokensPerMinute: text(limit?.inputTokensPerMinute),
    outputTokensPerMinute: text(limit?.outputTokensPerMinute),
    requestsPerMinute: text(limit?.requestsPerMinute),
    concurrency: text(limit?.concurrency),
    isRequestsEnforced: limit?.isRequestsEnforced ?? false,
    cachedReadPercent: text(limit?.cachedReadPercent ?? 10),
  }
}

function faultOf(fields: Values): string | null {
  const fault = faultOfNumbers(fields, 0)
  if (fault !== null) return fault
  if (isWithoutNumbers(fields)) return 'One number at least is needed.'
  const percent = parseCount(fields.cachedReadPercent)
  return percent !== null && percent <= 100
    ? null
    : 'What tokens read from the cache count is a whole number up to 100.'
}

function toBody(place: Place, fields: Values): BodyOf<'PUT /api/v1/organizations/{organizationId}/limits'> {
  return {
    subject: place.subject,
    model: place.model,
    inputTokensPerMinute: parseCount(fields.inputTokensPerMinute),
    outputTokensPerMinute: parseCount(fields.outputTokensPerMinute),
    requestsPerMinute: parseCount(fields.requestsPerMinute),
    concurrency: parseCount(fields.concurrency),
    isRequestsEnforced: fields.isRequestsEnforced,
    cachedReadPercent: Number(fields.cachedReadPercent),
  }
}
