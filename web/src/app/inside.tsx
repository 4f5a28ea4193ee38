import { useEffect } from 'react'
import { QueryClientProvider, useQuery } from '@tanstack/react-query'
import { toProblem } from '../api/problem.ts'
import type { Session } from '../api/answers.ts'
import { location } from '../lib/location.ts'
import { LinkButton } from '../kit/button.tsx'
import { Page } from '../kit/page.tsx'
import { findPage, type PageName } from './paths.ts'
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
  useTitle(page?.name ?? null, session.data ?? null)
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
  const organizationId = page?.params['organizationId'] ?? last ?? session.memberships[0]?.organizationId ?? null
  const isMember = session.memberships.some((one) => one.organizationId === organizationId)
  useEffect(() => {
    if (isMember && organizationId !== last) preferences.change({ organizationId })
  }, [isMember, organizationId, last])
  const title = page === null ? 'Not found' : routes[page.name].title
  return (
    <Shell session={session} organizationId={isMember ? organizationId : null} title={title}>
      <Allowed session={session} page={page} organizationId={organizationId} />
    </Shell>
  )
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
  if (named !== undefined && !session.memberships.some((one) => one.organizationId === named)) return <Gone />
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

function useTitle(name: PageName | null, session: Session | null): void {
  const title = name === null ? 'Not found' : routes[name].title
  const organization = session?.memberships[0]?.organizationName
  useEffect(() => {
    document.title = organization === undefined ? `${title} · Odyssey` : `${title} · ${organization} · Odyssey`
  }, [title, organization])
}
