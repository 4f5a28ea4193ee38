import { api } from '../../api/client.ts'
import { FrontPage } from '../../app/front-page.tsx'
import { NewCredential } from '../../app/new-credential.tsx'
import { tellSignedIn } from '../../app/sign-in-news.ts'
import { location } from '../../lib/location.ts'

/** For somebody who has lost every way to sign in and was given a link: it signs in nobody without a new one. */
export function NewWay({ token }: { readonly token: string }) {
  return (
    <FrontPage
      title="A new way to sign in"
      said="This link works once. It adds a passkey or a password to your account."
    >
      <NewCredential
        options={{ for: 'link', token }}
        verb="and sign in"
        reason={null}
        onMade={async (credential) => {
          await api('POST /api/v1/session/link', { body: { token, credential } })
          await tellSignedIn()
          await location.go('/', { replace: true })
        }}
      />
    </FrontPage>
  )
}
