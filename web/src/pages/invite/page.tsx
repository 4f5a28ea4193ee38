import { useState } from 'react'
import { api } from '../../api/client.ts'
import type { Credential, Looked } from '../../api/answers.ts'
import { toProblem } from '../../api/problem.ts'
import { FrontPage } from '../../app/front-page.tsx'
import { NewCredential } from '../../app/new-credential.tsx'
import { pagePath } from '../../app/paths.ts'
import { tellSignedIn } from '../../app/sign-in-news.ts'
import { useAnswer } from '../../app/use-answer.ts'
import { Refusal } from '../../app/sign-in-form.tsx'
import { Button } from '../../kit/button.tsx'
import { TextField } from '../../kit/field.tsx'
import { location } from '../../lib/location.ts'

export function Page() {
  const [token] = useState(() => window.location.hash.slice(1))
  const query = useAnswer(() => api('POST /api/v1/invitations/look', { body: { token } }))
  if (query.isPending) return null
  if (query.data === undefined) {
    return (
      <FrontPage
        title="This invitation does not work"
        said="It was used, was withdrawn, or is older than 7 days. Whoever has invited you can make another."
      />
    )
  }
  return <Accept token={token} invitation={query.data} />
}

/** Of names in this service; addresses may be longer. */
const nameLengthMax = 200

function Accept({ token, invitation }: { readonly token: string; readonly invitation: Looked }) {
  const { organizationName, email, role, invitedBy, signedInAs, isVouched } = invitation
  const [name, setName] = useState('')
  const [problem, setProblem] = useState<ReturnType<typeof toProblem> | null>(null)
  const said = `${invitedBy ?? 'An owner'} invites you, ${email}, as ${role}.`
  const isThey = signedInAs === email
  if (isThey && isVouched) {
    return (
      <FrontPage
        title={`Join ${organizationName}`}
        said={`${said} Your provider signs you in to its own organization alone: choose how you sign in here.`}
      >
        <NewCredential
          options={{ for: 'invitation', token, name: email.slice(0, nameLengthMax) }}
          verb="and join"
          reason={null}
          onMade={(credential) => join({ token, credential })}
        />
      </FrontPage>
    )
  }
  if (isThey) {
    return (
      <FrontPage title={`Join ${organizationName}`} said={said}>
        {problem !== null && <Refusal problem={problem} />}
        <Button
          look="primary"
          onClick={() => void join({ token, credential: null }).catch((error: unknown) => setProblem(toProblem(error)))}
        >
          Join
        </Button>
      </FrontPage>
    )
  }
  const reason = name.trim() === '' ? 'Your name is needed first.' : null
  return (
    <FrontPage title={`Join ${organizationName}`} said={said}>
      <NewCredential
        options={{ for: 'invitation', token, name: name.trim() }}
        verb="and join"
        reason={reason}
        onMade={(credential) => join({ token, name: name.trim(), credential })}
      >
        <TextField label="Your name" autoComplete="name" value={name} onText={setName} />
      </NewCredential>
    </FrontPage>
  )
}

type Joining = { readonly token: string; readonly name?: string; readonly credential: Credential | null }

async function join(body: Joining): Promise<void> {
  const { organizationId } = await api('POST /api/v1/invitations/accept', { body })
  await tellSignedIn()
  await location.go(pagePath('home', { organizationId }), { replace: true })
}
