import { useState } from 'react'
import type { BodyOf } from '../../api/client.ts'
import { TextArea, TextField, Select } from '../../kit/field.tsx'
import { formatCount } from '../../format/figures.ts'
import { parseCount } from '../../format/parse-typed.ts'
import { modelChoices, type ModelId } from '../models.ts'
import { faultOfNumbers, isWithoutNumbers, LimitNumberFields, limitNumbers, type LimitTexts } from './limit-numbers.tsx'

export type Asking = BodyOf<'POST /api/v1/portal/limit-requests'>
type Wanted = Asking['wanted']

type Fields = LimitTexts & {
  readonly model: ModelId | '*'
  readonly reason: string
  readonly contact: string
}

const empty: Fields = {
  inputTokensPerMinute: '',
  outputTokensPerMinute: '',
  requestsPerMinute: '',
  concurrency: '',
  model: '*',
  reason: '',
  contact: '',
}

/** What somebody asks for as they type it, and why it cannot be sent yet. */
export function useAsking() {
  const [fields, setFields] = useState(empty)
  const set = (changes: Partial<Fields>) => setFields({ ...fields, ...changes })
  return { fields, set, missing: missingOf(fields), body: () => toBody(fields), clear: () => setFields(empty) }
}

function missingOf(fields: Fields): string | null {
  const wrong = faultOfNumbers(fields, 1)
  if (wrong !== null) return wrong
  if (isWithoutNumbers(fields)) return 'Say how much is wanted.'
  return fields.reason.trim() === '' ? 'Say what it is for.' : null
}

function toBody(fields: Fields): Asking {
  const given = limitNumbers.flatMap(({ field }) => {
    const value = parseCount(fields[field])
    return value === null ? [] : [[field, value] as const]
  })
  return {
    model: fields.model,
    wanted: Object.fromEntries(given) as Wanted,
    reason: fields.reason.trim(),
    contact: fields.contact.trim() === '' ? null : fields.contact.trim(),
  }
}

type Props = {
  readonly fields: Fields
  readonly set: (changes: Partial<Fields>) => void
  readonly hasContact: boolean
}

export function AskingFields({ fields, set, hasContact }: Props) {
  return (
    <>
      <Select
        label="Model"
        value={fields.model}
        choices={[{ value: '*', label: 'All of them together' }, ...modelChoices]}
        onChoice={(model) => set({ model })}
      />
      <LimitNumberFields texts={fields} placeholder="as it is" set={set} />
      <TextArea label="What it is for" maxLength={1_000} value={fields.reason} onText={(reason) => set({ reason })} />
      {hasContact && (
        <TextField
          label="How to reach you"
          autoComplete="email"
          maxLength={200}
          value={fields.contact}
          onText={(contact) => set({ contact })}
        />
      )}
    </>
  )
}

/** What is wanted, in words. */
export function wordsOfWanted(wanted: Wanted): string {
  return limitNumbers
    .flatMap(({ field, label }) => {
      const value = wanted[field]
      return value === undefined ? [] : [`${formatCount(value)} ${label.toLowerCase()}`]
    })
    .join(', ')
}
