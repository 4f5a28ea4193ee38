import { Name, Time } from '../kit/content.tsx'
import { Badge } from '../kit/page.tsx'
import type { Column } from '../kit/table.tsx'

type Shown = {
  readonly device: string
  readonly isCurrent: boolean
  readonly address: string
  readonly method: string
  readonly createdAt: string
  readonly lastSeenAt: string
}

/** What every list of sessions says of each, before what may be done about it. */
export const sessionColumns: readonly Column<Shown>[] = [
  {
    key: 'device',
    head: 'Device',
    cell: ({ device, isCurrent }) => (
      <>
        <Name>{device}</Name> {isCurrent && <Badge>this one</Badge>}
      </>
    ),
  },
  { key: 'address', head: 'Address', cell: ({ address }) => address },
  { key: 'method', head: 'By', cell: ({ method }) => method },
  { key: 'began', head: 'Began', phone: 'off', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { key: 'seen', head: 'Last seen', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} isAgo /> },
]
