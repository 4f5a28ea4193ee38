import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { pagePath } from '../../app/paths.ts'
import { Name, Time } from '../../kit/content.tsx'
import type { IconName } from '../../kit/icons.tsx'
import { Link } from '../../kit/link.tsx'
import { Card, Disclosure, StateTag, type Mood } from '../../kit/page.tsx'

type Task = Schemas['Task']
type Shown = {
  readonly mood: Mood
  readonly icon?: IconName
  readonly words: (task: Task) => React.ReactNode
  readonly href: (organizationId: string, task: Task) => string
}

const keyPage = (organizationId: string, { id }: Task) => pagePath('key', { organizationId, apiKeyId: id ?? '' })
const settings = () => pagePath('installationSettings')

const shown: Readonly<Record<Task['kind'], Shown>> = {
  'limit-request': {
    mood: 'info',
    words: ({ name }) => <>Somebody asks for higher limits of {named(name)}.</>,
    href: (organizationId) => pagePath('limits', { organizationId }),
  },
  'key-ends': {
    mood: 'warn',
    words: ({ name, at }) => (
      <>
        {named(name)} ends <Time at={at ?? ''} />.
      </>
    ),
    href: keyPage,
  },
  'key-of-gone-member': {
    mood: 'warn',
    words: ({ name }) => <>{named(name)} was made by somebody who has left, and still works.</>,
    href: keyPage,
  },
  'key-unused': {
    mood: 'off',
    words: ({ name }) => <>{named(name)} was not used for 90 days.</>,
    href: keyPage,
  },
  'second-owner': {
    mood: 'info',
    words: () => 'There is only one owner: if they lose their passkey, nobody can let them back in.',
    href: (organizationId) => pagePath('members', { organizationId }),
  },
  'starter-weights': {
    mood: 'info',
    words: () => 'The starter weights answer. Larger ones know more.',
    href: () => pagePath('models'),
  },
  backup: { mood: 'warn', words: () => 'There is no backup from the last seven days.', href: settings },
  disk: { mood: 'bad', words: () => 'The disk is almost full.', href: settings },
  sums: { mood: 'bad', words: () => 'Sums differ from the ledger.', href: settings },
  'public-url': { mood: 'warn', words: () => 'People sign in at http://localhost alone.', href: settings },
}

function named(name: string | null) {
  return <Name>{name ?? ''}</Name>
}

const atFirst = 5

export const tasksQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['tasks', organizationId],
    queryFn: ({ signal }) =>
      api('GET /api/v1/organizations/{organizationId}/tasks', { params: { organizationId } }, { signal }).then(
        ({ data }) => data,
      ),
  })

type Props = { readonly organizationId: string; readonly tasks: readonly Task[] }

/** What somebody should look at, by the service's own checks; nothing where all is well. */
export function ToDo({ organizationId, tasks }: Props) {
  if (tasks.length === 0) return null
  const rest = tasks.slice(atFirst)
  return (
    <Card title={`To look at: ${tasks.length}`}>
      <Tasks organizationId={organizationId} tasks={tasks.slice(0, atFirst)} />
      {rest.length > 0 && (
        <Disclosure title={`${rest.length} more`}>
          <Tasks organizationId={organizationId} tasks={rest} />
        </Disclosure>
      )}
    </Card>
  )
}

function Tasks({ organizationId, tasks }: Props) {
  return (
    <ul>
      {tasks.map((task) => {
        const { mood, words, href } = shown[task.kind]
        return (
          <li key={`${task.kind} ${task.id ?? ''}`} style={{ padding: '4px 0' }}>
            <StateTag mood={mood}>
              <Link href={href(organizationId, task)} style={{ whiteSpace: 'normal' }}>
                {words(task)}
              </Link>
            </StateTag>
          </li>
        )
      })}
    </ul>
  )
}
