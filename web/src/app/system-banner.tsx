import { useEffect, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Button } from '../kit/button.tsx'
import { Time } from '../kit/content.tsx'
import { Banner } from '../kit/page.tsx'
import { queryClient, useMembership } from './session.ts'

type Readiness = {
  readonly status: string
  readonly keys?: string
  readonly ledger?: string
  /** Of the dashboard that the service has now. */
  readonly build: string | null
}

const everyMs = 15_000

/** The one worst thing that is true of the service at the moment, as long as it is. */
export function SystemBanner({ organizationId }: { readonly organizationId: string | null }) {
  const { data, isError } = useQuery({
    queryKey: ['readiness'],
    queryFn: async ({ signal }): Promise<Readiness> => {
      const answer = await fetch('/readyz', { signal, headers: { accept: 'application/json' } })
      return { ...((await answer.json()) as Readiness), build: answer.headers.get('x-odyssey-build') }
    },
    refetchInterval: (query) => (query.state.error === null ? everyMs : 4_000),
    retry: false,
  })
  useRecovery(isError)
  if (isError)
    return (
      <Banner kind="bad">Odyssey does not answer. Trying again every 4 s. What you see is what was read last.</Banner>
    )
  if (data?.status === 'draining')
    return <Banner kind="warn">The service stops: running answers end, and no new ones begin.</Banner>
  if (data?.keys === 'down' || data?.ledger === 'down')
    return <Banner kind="bad">The database cannot be reached. Requests are refused until it is back.</Banner>
  const { build = null } = data ?? {}
  if (build !== null && build !== document.documentElement.dataset['build']) return <UpdateBanner />
  return <RecordingBanner organizationId={organizationId} />
}

/** Tells everybody whose prompts it may be, as long as it is so. */
function RecordingBanner({ organizationId }: { readonly organizationId: string | null }) {
  const until = useMembership(organizationId ?? '')?.recordedUntil ?? null
  if (until === null || Date.parse(until) <= Date.now()) return null
  return (
    <Banner kind="warn">
      What is said in requests is kept in a project of this organization, until <Time at={until} />.
    </Banner>
  )
}

function UpdateBanner() {
  const reload = (
    <Button isSmall onClick={() => window.location.reload()}>
      Reload
    </Button>
  )
  return <Banner action={reload}>Odyssey was updated. Reload to use the new dashboard.</Banner>
}

/** When the service answers again, what failed meanwhile is read anew. */
function useRecovery(isDown: boolean): void {
  const [wasDown, setWasDown] = useState(false)
  useEffect(() => {
    if (isDown) setWasDown(true)
    else if (wasDown) {
      setWasDown(false)
      void queryClient.invalidateQueries()
    }
  }, [isDown, wasDown])
}
