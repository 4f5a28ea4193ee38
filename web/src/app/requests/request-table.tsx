import { formatCount, formatDuration, formatShare } from '../../format/figures.ts'
import { formatMoney } from '../../format/money.ts'
import { Id, Name, Time } from '../../kit/content.tsx'
import { Link } from '../../kit/link.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { pagePath } from '../paths.ts'
import { useCurrency, useNames, type LedgerEntry } from '../queries.ts'
import { Outcome } from './outcome.tsx'

export const inputTokensOf = (entry: LedgerEntry) => entry.inputUncached + entry.inputCacheRead + entry.inputCacheWrite

type Props = {
  readonly organizationId: string
  readonly rows: readonly LedgerEntry[]
  readonly search?: string
  readonly hasKey?: boolean
}

export function RequestTable({ organizationId, rows, search = '', hasKey = true }: Props) {
  const nameOf = useNames(organizationId)
  const currency = useCurrency()
  const hrefOf = ({ requestId }: LedgerEntry) => pagePath('request', { organizationId, requestId }) + search
  const columns: readonly Column<LedgerEntry>[] = [
    {
      key: 'at',
      head: 'Time',
      cell: (row) => (
        <Link href={hrefOf(row)}>
          <Time at={row.at} />
        </Link>
      ),
    },
    { key: 'id', head: 'Request', phone: 'off', cell: ({ requestId }) => <Id id={requestId} /> },
    ...(hasKey
      ? [{ key: 'key', head: 'Key', cell: ({ apiKeyId }: LedgerEntry) => <Name isBrief>{nameOf(apiKeyId)}</Name> }]
      : []),
    { key: 'model', head: 'Model', isOneLine: true, cell: ({ model }) => model },
    {
      key: 'format',
      head: 'Format',
      phone: 'off',
      cell: ({ protocol, isStream }) => (
        <span title={isStream ? `${protocol}, as a stream` : undefined}>
          {protocol === 'chat-completions' ? 'chat' : (protocol ?? '–')}
          {isStream && <small> stream</small>}
        </span>
      ),
    },
    { key: 'outcome', head: 'Outcome', phone: 'side', cell: (row) => <Outcome entry={row} /> },
    { key: 'input', head: 'Input', isRight: true, cell: (row) => <InputTokens entry={row} /> },
    { key: 'output', head: 'Output', isRight: true, cell: ({ output }) => formatCount(output) },
    {
      key: 'first',
      head: 'First token',
      isRight: true,
      phone: 'off',
      cell: ({ firstTokenMs }) => (firstTokenMs === null ? '–' : formatDuration(firstTokenMs)),
    },
    {
      key: 'duration',
      head: 'Duration',
      isRight: true,
      phone: 'off',
      cell: ({ durationMs }) => formatDuration(durationMs),
    },
    {
      key: 'cost',
      head: `Cost, ${currency}`,
      isRight: true,
      cell: ({ costMicros }) => (costMicros === null ? 'no price' : formatMoney(costMicros, { currency, decimals: 6 })),
    },
  ]
  return (
    <Table
      name="Requests, newest first"
      columns={columns}
      items={rows}
      keyOf={({ requestId, kind }) => `${requestId} ${kind}`}
    />
  )
}

function InputTokens({ entry }: { readonly entry: LedgerEntry }) {
  const all = inputTokensOf(entry)
  const share = all === 0 ? 0 : entry.inputCacheRead / all
  return (
    // The share goes below where there is little room: the cost at the end is not to be out of sight.
    <span title={`${formatCount(entry.inputCacheRead)} of them from the cache`} style={{ whiteSpace: 'normal' }}>
      {formatCount(all)}
      {share > 0 && <small> ({formatShare(share)})</small>}
    </span>
  )
}
