import { wordsOfPermission } from './permission-words.ts'
import type { OwnRole } from '../../app/queries.ts'
import { roleChoices, type Role } from '../../app/roles.ts'
import { NothingMatches } from '../../app/states.tsx'
import { plainName } from '../../format/id.ts'
import { Row, Stack } from '../../kit/page.tsx'
import { SearchField } from '../../kit/search-field.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import type { Line } from './role-drawer.tsx'

const words: Readonly<Record<string, string>> = {
  installation: 'all',
  organization: 'yes',
  projects: 'own projects',
  own: 'own',
  none: '–',
}

type Props = {
  readonly lines: readonly Line[]
  readonly own: readonly OwnRole[]
  readonly q: string
  readonly onSearch: (typed: string) => void
}

/** What each role may, by the service's own table. */
export function RoleTable({ lines, own, q, onSearch }: Props) {
  const reachIn = ({ reaches }: Line, role: Role) => words[reaches[role] ?? 'none']
  const columns: readonly Column<Line>[] = [
    {
      key: 'name',
      head: 'Permission',
      cell: ({ name }) => (
        <>
          {wordsOfPermission(name)}
          <br />
          <small>{name}</small>
        </>
      ),
    },
    ...roleChoices.map(({ value, label }) => ({
      key: value,
      head: label,
      cell: (line: Line) => reachIn(line, value),
    })),
    ...own.map(({ id, name, base, permissions }) => ({
      key: id,
      head: plainName(name),
      cell: (line: Line) => (permissions.includes(line.name) ? reachIn(line, base) : words['none']),
    })),
  ]
  const shown = lines.filter(
    (line) =>
      !isOfOperator(line) && `${line.name} ${wordsOfPermission(line.name)}`.toLowerCase().includes(q.toLowerCase()),
  )
  return (
    <Stack>
      <div role="search" aria-label="Filters">
        <Row>
          <SearchField label="What may be done" value={q} onText={onSearch} />
        </Row>
      </div>
      {shown.length === 0 ? (
        <NothingMatches what="permissions" onClear={() => onSearch('')} />
      ) : (
        <Table name="What each role may" columns={columns} items={shown} keyOf={({ name }) => name} />
      )}
      <p>“all” is for people and keys with a role in the installation, and nobody else.</p>
    </Stack>
  )
}

/** Some things are for whoever has the machine's command line, and no role has them. */
function isOfOperator({ reaches }: Line): boolean {
  return Object.values(reaches).every((reach) => reach === 'none')
}
