import { StateTag, type Mood } from '../../kit/page.tsx'
import type { LedgerEntry } from '../queries.ts'

const words: Readonly<Record<LedgerEntry['outcome'], readonly [Mood, string]>> = {
  finished: ['good', 'Finished'],
  aborted: ['off', 'Left'],
  failed: ['bad', 'Failed'],
}

/** How a request ended: by itself, because the client left, or by a failure on our side. */
export function Outcome({
  entry: { outcome, reason, kind },
}: {
  readonly entry: Pick<LedgerEntry, 'outcome' | 'reason' | 'kind'>
}) {
  if (kind === 'reversal') return <StateTag mood="info">Reversed</StateTag>
  const [mood, word] = words[outcome]
  return (
    <StateTag mood={mood}>
      <span style={{ whiteSpace: 'normal' }}>{reason === null ? word : `${word}: ${reason.replaceAll('_', ' ')}`}</span>
    </StateTag>
  )
}
