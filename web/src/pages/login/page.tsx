import { lazy, Suspense, useEffect, useState } from 'react'
import { api } from '../../api/client.ts'
import { readAtFirst, takeEarly } from '../../app/early-session.ts'
import { FrontPage } from '../../app/front-page.tsx'
import { usePlace } from '../../app/router.tsx'
import { tellSignedIn } from '../../app/sign-in-news.ts'
import { useAnswer } from '../../app/use-answer.ts'
import { SignInForm } from '../../app/sign-in-form.tsx'
import { Banner } from '../../kit/page.tsx'
import { location } from '../../lib/location.ts'
import { SingleSignOn } from './single-sign-on.tsx'

/** Each needed once, if at all, so who signs in does not wait for them. */
const NewWay = lazy(async () => ({ default: (await import('./new-way.tsx')).NewWay }))
const NotSetUp = lazy(async () => ({ default: (await import('./not-set-up.tsx')).NotSetUp }))

export function Page() {
  const { search } = usePlace()
  const next = ownPath(new URLSearchParams(search).get('next'))
  const isSignedIn = (useAnswer(() => takeEarly() ?? readAtFirst()).data ?? null) !== null
  // A link that the operator has made for somebody who cannot sign in any more.
  const [token] = useState(() => window.location.hash.slice(1))
  useEffect(() => {
    if (isSignedIn) void location.go(next, { replace: true })
  }, [isSignedIn, next])
  const setup = useAnswer(() => api('GET /api/v1/setup', {}))
  const isNeeded = setup.data?.isNeeded === true
  if (token !== '' || isNeeded)
    return <Suspense fallback={null}>{token === '' ? <NotSetUp /> : <NewWay token={token} />}</Suspense>
  return (
    <FrontPage title="Sign in">
      {!window.isSecureContext && (
        <Banner kind="warn">
          Signing in needs HTTPS or localhost. Open the dashboard at http://localhost, or set server.publicUrl to this
          service’s https address.
        </Banner>
      )}
      {new URLSearchParams(search).get('state') === 'signed-out' && (
        <Banner kind="good">You are signed out here and at your organization’s provider.</Banner>
      )}
      <SignInForm onDone={() => void enter(next)} />
      <SingleSignOn next={next} />
    </FrontPage>
  )
}

async function enter(next: string): Promise<void> {
  await tellSignedIn()
  await location.go(next, { replace: true })
}

/** Only a path of the dashboard itself: a link must not lead elsewhere after signing in. */
function ownPath(next: string | null): string {
  return next !== null && /^\/(?![/\\])[^\\]*$/.test(next) ? next : '/'
}
