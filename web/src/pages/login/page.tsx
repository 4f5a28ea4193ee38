import { useEffect, useState } from 'react'
import { api } from '../../api/client.ts'
import { readAtFirst, takeEarly } from '../../app/early-session.ts'
import { FrontPage } from '../../app/front-page.tsx'
import { usePlace } from '../../app/router.tsx'
import { tellSignedIn } from '../../app/sign-in-news.ts'
import { useAnswer } from '../../app/use-answer.ts'
import { SignInForm } from '../../app/sign-in-form.tsx'
import { Banner } from '../../kit/page.tsx'
import { location } from '../../lib/location.ts'
import { NewWay } from './new-way.tsx'
import { SingleSignOn } from './single-sign-on.tsx'

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
  if (token !== '') return <NewWay token={token} />
  if (setup.data?.isNeeded === true) return <NotSetUp />
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

function NotSetUp() {
  return (
    <FrontPage
      title="Odyssey is not set up yet"
      said="Nobody owns it so far. Whoever starts it in a terminal finds a link there, after “Set up in your browser”. The link works once; starting Odyssey again prints a new one."
    >
      <p>
        Where it runs without a terminal, as a service or in a container, this prints a link:{' '}
        <code>npx odyssey owners link</code>
      </p>
      <Banner kind="info">
        Programs can use the models already, with the first key. The first start has printed it in the terminal, or
        without one written it to the file <code>first-api-key</code> in the data folder.
      </Banner>
    </FrontPage>
  )
}

/** Only a path of the dashboard itself: a link must not lead elsewhere after signing in. */
function ownPath(next: string | null): string {
  return next !== null && /^\/(?![/\\])[^\\]*$/.test(next) ? next : '/'
}
