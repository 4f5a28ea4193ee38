import { formatCount } from '../format/figures.ts'
import { Badge } from '../kit/page.tsx'
import type { Column } from '../kit/table.tsx'

type LimitFigures = {
  readonly inputTokensPerMinute: number | null
  readonly outputTokensPerMinute: number | null
  readonly requestsPerMinute: number | null
  readonly isRequestsEnforced: boolean
  readonly concurrency: number | null
}

/** What a limit allows, in the order of every table of limits. */
export const limitColumns: readonly Column<LimitFigures>[] = [
  {
    key: 'input',
    head: 'Input/min',
    isRight: true,
    cell: ({ inputTokensPerMinute }) => <Figure value={inputTokensPerMinute} />,
  },
  {
    key: 'output',
    head: 'Output/min',
    isRight: true,
    cell: ({ outputTokensPerMinute }) => <Figure value={outputTokensPerMinute} />,
  },
  {
    key: 'requests',
    head: 'Requests/min',
    isRight: true,
    cell: ({ requestsPerMinute, isRequestsEnforced }) => (
      <>
        <Figure value={requestsPerMinute} />{' '}
        {requestsPerMinute !== null && <Badge>{isRequestsEnforced ? 'enforced' : 'shown only'}</Badge>}
      </>
    ),
  },
  { key: 'concurrency', head: 'At a time', isRight: true, cell: ({ concurrency }) => <Figure value={concurrency} /> },
]

function Figure({ value }: { readonly value: number | null }) {
  return value === null ? <span style={{ color: 'var(--text-3)' }}>no limit</span> : formatCount(value)
}
