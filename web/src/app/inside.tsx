import { lazy, Suspense, useEffect } from 'react'
import { QueryClientProvider, useQuery } from '@tanstack/react-query'
import { toProblem } from '../api/problem.ts'
import type { Session } from '../api/answers.ts'
import { location } from '../lib/location.ts'
import { LinkButton } from '../kit/button.tsx'
import { Page } from '../kit/page.tsx'
import { PageBoundary } from './page-boundary.tsx'
import { findPage } from './paths.ts'
import { preferences } from './preferences.ts'
import { routes } from './route-table.ts'
import { usePlace } from './router.tsx'
import { queryClient, pageReason, sessionQuery, watchOtherTabs } from './session.ts'
import { Shell } from './shell.tsx'
import { Shown, type Found } from './shown.tsx'
import { toLogin } from './to-login.ts'
import { ProblemBox } from './states.tsx'
import styles from './shell.module.css'

watchOtherTabs()

/** Seldom needed, so no page brings it along. */
const Closed = lazy(async () => ({ default: (await import('./closed-organization.tsx')).ClosedOrganization }))

/** Every page of somebody who has signed in, with the shell around it. Nobody else loads this part of the program. */
export function Inside() {
  return (
    <QueryClientProvider client={queryClient}>
      <Current />
    </QueryClientProvider>
  )
}

function Current() {
  const { path } = usePlace()
  const session = useQuery(sessionQuery)
  const page = findPage(path)
  useTitle(page, session.data ?? null)
  if (session.isPending) return null
  if (session.isError) {
    return (
      <div className={styles.center}>
        <ProblemBox
          problem={toProblem(session.error)}
          what="The dashboard cannot begin."
          onAgain={() => void session.refetch()}
        />
      </div>
    )
  }
  if (session.data === null) return <ToLogin />
  if (page?.name === 'start') return <Shown name="start" params={page.params} />
  return <WithinShell session={session.data} page={page} />
}

function WithinShell({ session, page }: { readonly session: Session; readonly page: Found | null }) {
  const last = preferences.current().organizationId
  const organizationId = shownOrganization(session, page)
  const isMember = session.memberships.some((one) => one.organizationId === organizationId)
  useEffect(() => {
    if (isMember && organizationId !== last) preferences.change({ organizationId })
  }, [isMember, organizationId, last])
  const title = page === null ? 'Not found' : routes[page.name].title
  return (
    <Shell session={session} organizationId={isMember ? organizationId : null} title={title}>
      <PageBoundary place={usePlace()}>
        <Allowed session={session} page={page} organizationId={organizationId} />
      </PageBoundary>
    </Shell>
  )
}

/** The organization that a page is of or, where it is of none, the one that was looked at last. */
function shownOrganization({ memberships }: Session, page: Found | null): string | null {
  const last = preferences.current().organizationId
  return page?.params['organizationId'] ?? last ?? memberships[0]?.organizationId ?? null
}

function Allowed({
  session,
  page,
  organizationId,
}: {
  readonly session: Session
  readonly page: Found | null
  readonly organizationId: string | null
}) {
  if (page === null) return <Gone />
  const named = page.params['organizationId']
  const membership = session.memberships.find((one) => one.organizationId === named)
  if (named !== undefined && membership === undefined) return <Gone />
  if (membership !== undefined && membership.needsProof !== null) {
    return (
      <Suspense fallback={null}>
        <Closed membership={membership} />
      </Suspense>
    )
  }
  const reason = pageReason(session, organizationId, page.name)
  if (reason !== null) {
    return (
      <Page title={routes[page.name].title}>
        <p>{reason}</p>
      </Page>
    )
  }
  return <Shown name={page.name} params={page.params} />
}

function Gone() {
  return (
    <Page title="Nothing is here">
      <p>There is no such page, or it belongs to an organization you are not in.</p>
      <LinkButton href="/">To the start</LinkButton>
    </Page>
  )
}

function ToLogin() {
  useEffect(() => void toLogin(location.current()), [])
  return null
}

function useTitle(page: Found | null, session: Session | null): void {
  const title = page === null ? 'Not found' : routes[page.name].title
  const shown = session === null ? null : shownOrganization(session, page)
  const organization = session?.memberships.find(({ organizationId }) => organizationId === shown)?.organizationName
  useEffect(() => {
    document.title = organization === undefined ? `${title} · Odyssey` : `${title} · ${organization} · Odyssey`
  }, [title, organization])
}
