import { useState } from 'react'
import { api, type AnswerOf, type BodyOf } from '../../api/client.ts'
import { formatCounted, formatShare } from '../../format/figures.ts'
import { formatMoney } from '../../format/money.ts'
import { Button } from '../../kit/button.tsx'
import { Time } from '../../kit/content.tsx'
import { Table } from '../../kit/table.tsx'
import { ChangeProblem } from '../change-problem.tsx'
import { useChange } from '../use-change.ts'

type Wanted = BodyOf<'POST /api/v1/prices'>
type Previewed = AnswerOf<'GET /api/v1/prices/preview'>
const noRates = { input: 0, cacheRead: 0, cacheWriteShort: 0, cacheWriteLong: 0, output: 0 }

/** What the last requests would have cost at the price that is being set. */
export function Preview({ body, currency }: { readonly body: Wanted | null; readonly currency: string }) {
  const [shown, setShown] = useState<{ readonly of: string; readonly preview: Previewed } | null>(null)
  const asked = JSON.stringify(body)
  const change = useChange(
    (wanted: Wanted) => {
      const { organizationId, model, rates } = wanted
      const whose = typeof organizationId === 'string' ? { organizationId } : {}
      return api('GET /api/v1/prices/preview', { query: { ...whose, model, ...(rates ?? noRates) } })
    },
    { touches: [], onDone: (preview) => setShown({ of: asked, preview }) },
  )
  return (
    <div>
      <ChangeProblem problem={change.problem} />
      <Button
        isSmall
        isBusy={change.isBusy}
        reason={body === null ? 'All five amounts are needed.' : null}
        onClick={() => (body === null ? undefined : void change.run(body))}
      >
        What would it have cost?
      </Button>
      {shown !== null && shown.of === asked && <Outcome preview={shown.preview} currency={currency} />}
    </div>
  )
}

function Outcome({ preview, currency }: { readonly preview: Previewed; readonly currency: string }) {
  const { from, chargedMicros, wouldMicros, organizations } = preview
  const money = (micros: string) => formatMoney(micros, { currency })
  const requests = organizations.reduce((sum, one) => sum + one.requests, 0)
  if (requests === 0)
    return (
      <p role="status">
        The model had no requests since <Time at={from} />.
      </p>
    )
  return (
    <div role="status">
      <p>
        {formatCounted(requests, 'request')} since <Time at={from} /> would have cost {money(wouldMicros)} instead of{' '}
        {money(chargedMicros)}
        {changeWords(Number(chargedMicros), Number(wouldMicros))}.
      </p>
      <Table
        name="What would have changed"
        columns={[
          { key: 'organization', head: 'Organization', cell: ({ name }) => <bdi>{name}</bdi> },
          { key: 'charged', head: 'Charged', isRight: true, cell: (one) => money(one.chargedMicros) },
          { key: 'would', head: 'Then', isRight: true, phone: 'side', cell: (one) => money(one.wouldMicros) },
        ]}
        items={organizations}
        keyOf={({ organizationId }) => organizationId}
      />
    </div>
  )
}

/** A share to read by, not a sum. */
function changeWords(before: number, after: number): string {
  if (before === 0) return ''
  const change = (after - before) / before
  return ` (${change < 0 ? '−' : '+'}${formatShare(Math.abs(change))})`
}
