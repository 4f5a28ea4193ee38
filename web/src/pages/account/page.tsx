import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { Loaded } from '../../app/states.tsx'
import { Page as Frame } from '../../kit/page.tsx'
import { AgentsCard } from './agents.tsx'
import { FactorsCard } from './factors.tsx'
import { PreferencesCard } from './preferences-card.tsx'
import { ProfileCard } from './profile.tsx'
import { SessionsCard } from './sessions.tsx'

export function Page() {
  const query = useQuery({ queryKey: ['me'], queryFn: ({ signal }) => api('GET /api/v1/me', {}, { signal }) })
  return (
    <Frame title="Account" isNarrow>
      <Loaded query={query} what="Your account">
        {(me) => (
          <>
            <ProfileCard me={me} />
            <FactorsCard me={me} />
          </>
        )}
      </Loaded>
      <SessionsCard />
      <AgentsCard />
      <PreferencesCard />
    </Frame>
  )
}
