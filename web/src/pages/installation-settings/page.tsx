import { useQuery } from '@tanstack/react-query'
import { api, type AnswerOf } from '../../api/client.ts'
import { useSearch } from '../../app/router.tsx'
import { Loaded, NothingMatches } from '../../app/states.tsx'
import { formatBytes, formatCount } from '../../format/figures.ts'
import { Time } from '../../kit/content.tsx'
import { Select } from '../../kit/field.tsx'
import { Bar } from '../../kit/figures.tsx'
import { Badge, Banner, Card, KeyValue, Page as Frame, Row, Stack, StateTag } from '../../kit/page.tsx'
import { SearchField } from '../../kit/search-field.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { oneOf, searchCodec, text } from '../../lib/search-codec.ts'
import { People } from './people.tsx'

type System = AnswerOf<'GET /api/v1/installation/system'>
type Setting = System['settings'][number]
type Origin = 'any' | Setting['from']

const origins: readonly { readonly value: Origin; readonly label: string }[] = [
  { value: 'any', label: 'anywhere' },
  { value: 'file', label: 'the config file' },
  { value: 'environment', label: 'the environment' },
  { value: 'command', label: 'a choice here or by command' },
  { value: 'default', label: 'nobody: the default' },
]
const search = searchCodec({
  q: text(),
  from: oneOf<Origin>(
    origins.map(({ value }) => value),
    'any',
  ),
})

const warnings: Readonly<Record<System['warnings'][number], string>> = {
  disk: 'The disk is almost full. The service stops answering when it can record nothing more.',
  sums: 'Sums differ from the ledger. “npx odyssey bill verify” says where.',
  backup: 'There is no backup from the last seven days: “npx odyssey backup FILE” makes one while the service runs.',
  'public-url': 'server.publicUrl is not set, so people sign in at http://localhost alone.',
}

/** How the service is set up. It is changed where it is written: in the config file and the environment. */
export function Page() {
  const query = useQuery({
    queryKey: ['system'],
    queryFn: ({ signal }) => api('GET /api/v1/installation/system', {}, { signal }),
  })
  return (
    <Frame
      title="Installation settings"
      said="Who runs it, and how it is set up. Settings are read at the start: a change of them needs a restart."
    >
      <Loaded query={query} what="The settings">
        {(system) => (
          <Stack>
            {system.warnings.map((warning) => (
              <Banner key={warning} kind="warn">
                {warnings[warning]}
              </Banner>
            ))}
            <Service system={system} />
            <People />
            <Settings settings={system.settings} />
          </Stack>
        )}
      </Loaded>
    </Frame>
  )
}

function Service({ system }: { readonly system: System }) {
  const { version, startedAt, database, migrations, disk, ledger, reconciliation, lastBackupAt } = system
  return (
    <Card title="Service">
      <KeyValue
        rows={[
          ['Version', version],
          ['Started', <Time key="started" at={startedAt} />],
          ['Database', database === 'file' ? 'SQLite, in the data folder' : 'PostgreSQL'],
          [
            'Schema',
            `${migrations.latest ?? 'none'}${migrations.waiting > 0 ? `, ${migrations.waiting} waiting` : ''}`,
          ],
          ['Disk', disk === null ? 'not known' : <Disk key="disk" disk={disk} />],
          ['Ledger', ledgerWords(ledger)],
          ['Sums', <Sums key="sums" reconciliation={reconciliation} />],
          [
            'Last backup',
            lastBackupAt === null ? 'none that is known here' : <Time key="backup" at={lastBackupAt} isAgo />,
          ],
        ]}
      />
    </Card>
  )
}

function ledgerWords({ rows, notYetSummed }: System['ledger']): string {
  const rest = notYetSummed === 0 ? 'all of them in the sums' : `${formatCount(notYetSummed)} not yet in the sums`
  return rows === 0 ? 'no rows yet' : `${formatCount(rows)} rows, ${rest}`
}

function Disk({ disk: { freeBytes, totalBytes } }: { readonly disk: NonNullable<System['disk']> }) {
  return (
    <span>
      {formatBytes(freeBytes)} of {formatBytes(totalBytes)} free
      <Bar share={totalBytes === 0 ? 0 : 1 - freeBytes / totalBytes} />
    </span>
  )
}

function Sums({ reconciliation }: Pick<System, 'reconciliation'>) {
  if (reconciliation === null) return <>not compared with the ledger yet</>
  const { isEqual, at } = reconciliation
  return (
    <Row>
      <StateTag mood={isEqual ? 'good' : 'bad'}>
        {isEqual ? 'agree with the ledger' : 'differ from the ledger'}
      </StateTag>
      <Time at={at} isAgo />
    </Row>
  )
}

function Settings({ settings }: { readonly settings: readonly Setting[] }) {
  const [{ q, from }, change] = useSearch(search)
  const found = settings.filter(
    (setting) => setting.name.toLowerCase().includes(q.toLowerCase()) && (from === 'any' || setting.from === from),
  )
  const columns: readonly Column<Setting>[] = [
    { key: 'name', head: 'Setting', cell: ({ name }) => <code style={{ overflowWrap: 'anywhere' }}>{name}</code> },
    { key: 'value', head: 'Value', cell: ({ value }) => <code style={{ overflowWrap: 'anywhere' }}>{value}</code> },
    {
      key: 'from',
      head: 'Set by',
      phone: 'side',
      cell: ({ from: origin }) => (origin === 'default' ? <span>default</span> : <Badge>{origin}</Badge>),
    },
  ]
  return (
    <>
      <div role="search" aria-label="Filters">
        <Row>
          <SearchField label="Setting" value={q} onText={(value) => change({ q: value })} />
          <Select
            isInline
            label="Set by"
            value={from}
            choices={origins}
            onChoice={(value) => change({ from: value })}
          />
        </Row>
      </div>
      {found.length === 0 ? (
        <NothingMatches what="settings" onClear={() => change({ q: '', from: 'any' })} />
      ) : (
        <Table name="Settings in force" columns={columns} items={found} keyOf={({ name }) => name} />
      )}
    </>
  )
}
