import { readerZone } from '../format/time.ts'
import { hasWholeHours } from '../format/zone.ts'
import { Select } from '../kit/field.tsx'
import { Banner } from '../kit/page.tsx'

type Props = { readonly zone: string; onZone(zone: string): void }

/** Days of UTC, or the reader's own where sums can tell them apart. */
export function ZoneFilter({ zone, onZone }: Props) {
  const own = readerZone()
  const zones = new Set(['UTC', zone, ...(hasWholeHours(own) ? [own] : [])])
  if (zones.size === 1) return null
  const choices = [...zones].map((name) => ({ value: name, label: name.replaceAll('_', ' ') }))
  return <Select isInline label="Days of" value={zone} choices={choices} onChoice={onZone} />
}

/** Why the reader's own zone is not among the choices. */
export function ZoneNote() {
  const own = readerZone()
  if (hasWholeHours(own)) return null
  return (
    <Banner kind="info">
      Sums are kept by the hours of UTC; days of {own.replaceAll('_', ' ')} cannot be told apart exactly. Shown in UTC.
    </Banner>
  )
}
