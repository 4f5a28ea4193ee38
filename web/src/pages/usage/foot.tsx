import { formatCounted } from '../../format/figures.ts'
import { formatInstant } from '../../format/time.ts'
import { Banner } from '../../kit/page.tsx'
import { CopyButton } from '../../kit/copy-button.tsx'
import type { Series } from './metrics.ts'

const command = 'npx odyssey bill verify'

/** Until when is counted, and whether the sums were found equal to the ledger. */
export function Foot({ series: { through, reconciledAt, isReconciled, totals, zone } }: { readonly series: Series }) {
  const checked = reconciledAt === null ? null : `${formatInstant(reconciledAt, { zone })}`
  if (isReconciled === false) {
    return (
      <Banner kind="bad" action={<CopyButton text={command} />}>
        The sums differed from the ledger at {checked}. <code>{command}</code> says where.
      </Banner>
    )
  }
  const parts = [
    `Up to ${formatInstant(through, { zone })} ${zone}`,
    checked === null
      ? 'sums are compared with the ledger once a day, and were not yet'
      : `sums agree with the ledger, checked ${checked}`,
    `${formatCounted(totals.unpriced, 'request')} without a price`,
  ]
  return <p style={{ color: 'var(--text-3)' }}>{parts.join(' · ')}</p>
}
