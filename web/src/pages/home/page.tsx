import { useQuery } from '@tanstack/react-query'
import { pagePath, type PageParams } from '../../app/paths.ts'
import { useReason } from '../../app/session.ts'
import { Loaded } from '../../app/states.tsx'
import { LinkButton } from '../../kit/button.tsx'
import { Columns, Page as Frame, Stack } from '../../kit/page.tsx'
import { Budgets } from './budgets.tsx'
import { BusiestKeys } from './busiest-keys.tsx'
import { FirstSteps } from './first-steps.tsx'
import { LastHour } from './last-hour.tsx'
import { ModelTiles } from './model-tiles.tsx'
import { overviewQuery } from './overview.ts'
import { ToDo } from './to-do.tsx'
import { Today } from './today.tsx'

/** Is it well, what does it cost, what is left to do. */
export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  const query = useQuery(overviewQuery(organizationId))
  const mayReadKeys = useReason(organizationId, 'api-keys:read') === null
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
      <Loaded query={query} what="The overview">
        {(overview) => (
          <>
            <FirstSteps organizationId={organizationId} steps={overview.firstSteps} />
            <ToDo organizationId={organizationId} />
            <ModelTiles models={overview.models} />
            <Today organizationId={organizationId} overview={overview} />
            <LastHour organizationId={organizationId} minutes={overview.minutes} />
            <Columns>
              {mayReadKeys && <BusiestKeys organizationId={organizationId} keys={overview.busiestKeys} />}
              <Stack>
                <Budgets organizationId={organizationId} />
              </Stack>
            </Columns>
          </>
        )}
      </Loaded>
    </Frame>
  )
}
