import { useQuery } from '@tanstack/react-query'
import { api, type AnswerOf } from '../../api/client.ts'
import { roleChoices, roleWords } from '../../app/roles.ts'
import { Loaded } from '../../app/states.tsx'
import { Card, KeyValue, Stack } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'

type Line = AnswerOf<'GET /api/v1/permissions'>['permissions'][number]

const words: Readonly<Record<string, string>> = {
  installation: 'all',
  organization: 'yes',
  projects: 'own projects',
  own: 'own',
  none: '–',
}

/** What each role may, by the service's own table. */
export function RoleTable() {
  const query = useQuery({
    queryKey: ['permissions'],
    queryFn: ({ signal }) => api('GET /api/v1/permissions', {}, { signal }).then(({ permissions }) => permissions),
    staleTime: Infinity,
  })
  const columns: readonly Column<Line>[] = [
    { key: 'name', head: 'Permission', cell: ({ name }) => <code>{name}</code> },
    ...roleChoices.map(({ value, label }) => ({
      key: value,
      head: label,
      cell: ({ reaches }: Line) => words[reaches[value] ?? 'none'],
    })),
  ]
  return (
    <Stack>
      <Card title="Roles">
        <KeyValue rows={roleChoices.map(({ value, label }) => [label, roleWords[value]])} />
      </Card>
      <Loaded query={query} what="The table of permissions">
        {(lines) => (
          <Stack>
            <Table
              name="What each role may"
              columns={columns}
              items={lines.filter((line) => !isOfOperator(line))}
              keyOf={({ name }) => name}
            />
            <p>“all” is for people and keys with a role in the installation, and nobody else.</p>
          </Stack>
        )}
      </Loaded>
    </Stack>
  )
}

/** Some things are for whoever has the machine's command line, and no role has them. */
function isOfOperator({ reaches }: Line): boolean {
  return Object.values(reaches).every((reach) => reach === 'none')
}
