import { parseCount } from '../../format/parse-typed.ts'
import { TextField } from '../../kit/field.tsx'

/** The numbers of a limit, each of which may be left out. */
export const limitNumbers = [
  { field: 'inputTokensPerMinute', label: 'Input tokens a minute' },
  { field: 'outputTokensPerMinute', label: 'Output tokens a minute' },
  { field: 'requestsPerMinute', label: 'Requests a minute' },
  { field: 'concurrency', label: 'Requests at a time' },
] as const

type LimitNumber = (typeof limitNumbers)[number]['field']

/** As they are typed. */
export type LimitTexts = Readonly<Record<LimitNumber, string>>

/** What is wrong with the texts in themselves; null where nothing is. */
export function faultOfNumbers(texts: LimitTexts, least: 0 | 1): string | null {
  const isWrong = (text: string) => text.trim() !== '' && (parseCount(text) ?? -1) < least
  const wrong = limitNumbers.find(({ field }) => isWrong(texts[field]))
  return wrong === undefined ? null : `${wrong.label} is a whole number, or empty.`
}

export function isWithoutNumbers(texts: LimitTexts): boolean {
  return limitNumbers.every(({ field }) => texts[field].trim() === '')
}

type Props = {
  readonly texts: LimitTexts
  /** What an empty field means. */
  readonly placeholder: string
  readonly faultOf?: (field: LimitNumber) => string | undefined
  readonly set: (changes: Partial<LimitTexts>) => void
}

export function LimitNumberFields({ texts, placeholder, faultOf, set }: Props) {
  return limitNumbers.map(({ field, label }) => (
    <TextField
      key={field}
      label={label}
      inputMode="numeric"
      placeholder={placeholder}
      value={texts[field]}
      fault={faultOf?.(field)}
      onText={(text) => set({ [field]: text })}
    />
  ))
}
