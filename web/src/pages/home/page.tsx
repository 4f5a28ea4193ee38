import { lazy, Suspense } from 'react'
import { useQuery } from '@tanstack/react-query'
import { pagePath, type PageParams } from '../../app/paths.ts'
import { useReason } from '../../app/session.ts'
import { Loaded } from '../../app/states.tsx'
import { LinkButton } from '../../kit/button.tsx'
import { Columns, Page as Frame, Stack } from '../../kit/page.tsx'
import { Skeleton } from '../../kit/skeleton.tsx'
import { Budgets } from './budgets.tsx'
import { BusiestKeys } from './busiest-keys.tsx'
import { FirstSteps } from './first-steps.tsx'
import { LastHour } from './last-hour.tsx'
import { ModelTiles } from './model-tiles.tsx'
import { overviewQuery } from './overview.ts'
import { tasksQuery, ToDo } from './to-do.tsx'
import { Today } from './today.tsx'

/** For who may not see usage alone, so nobody else fetches them. */
const KeysInUse = lazy(async () => ({ default: (await import('./keys-in-use.tsx')).KeysInUse }))
const OwnPages = lazy(async () => ({ default: (await import('./own-pages.tsx')).OwnPages }))

type Props = { readonly organizationId: string }

/** Is it well, what does it cost, what is left to do: as far as the reader may see it. */
export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  const mayReadKeys = useReason(organizationId, 'api-keys:read') === null
  const mayReadOverview = useReason(organizationId, 'organizations:read') === null
  return (
    <Frame
      title="Home"
      actions={
        mayReadKeys && (
          <LinkButton href={pagePath('keys', { organizationId })} icon="key">
            API keys
          </LinkButton>
        )
      }
    >
      <Suspense fallback={null}>
        {mayReadOverview ? <Overview organizationId={organizationId} /> : <OwnPages organizationId={organizationId} />}
      </Suspense>
    </Frame>
  )
}

function Overview({ organizationId }: Props) {
  const query = useQuery(overviewQuery(organizationId))
  // Asked for at the same time, though it stands within the other.
  const { data: tasks = [], isPending } = useQuery(tasksQuery(organizationId))
  const mayReadKeys = useReason(organizationId, 'api-keys:read') === null
  const mayReadUsage = useReason(organizationId, 'usage:read') === null
  return (
    <Loaded query={query} what="The overview">
      {(overview) => (
        <>
          <FirstSteps organizationId={organizationId} steps={overview.firstSteps} />
          {isPending ? <Skeleton rows={3} /> : <ToDo organizationId={organizationId} tasks={tasks} />}
          <ModelTiles models={overview.models} seesRequests={mayReadUsage} />
          <Today organizationId={organizationId} overview={overview} />
          {mayReadUsage ? (
            <LastHour organizationId={organizationId} minutes={overview.minutes} />
          ) : (
            <OwnPages organizationId={organizationId} />
          )}
          <Columns>
            {mayReadKeys && mayReadUsage && <BusiestKeys organizationId={organizationId} keys={overview.busiestKeys} />}
            {mayReadKeys && !mayReadUsage && <KeysInUse organizationId={organizationId} />}
            <Stack>
              <Budgets organizationId={organizationId} />
            </Stack>
          </Columns>
        </>
      )}
    </Loaded>
  )
}
