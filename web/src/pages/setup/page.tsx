import { useState } from 'react'
import { api } from '../../api/client.ts'
import type { Credential } from '../../api/answers.ts'
import { firstKey } from '../../app/first-key.ts'
import { FrontPage } from '../../app/front-page.tsx'
import { NewCredential } from '../../app/new-credential.tsx'
import { pagePath } from '../../app/paths.ts'
import { tellSignedIn } from '../../app/sign-in-news.ts'
import { useAnswer } from '../../app/use-answer.ts'
import { LinkButton } from '../../kit/button.tsx'
import { TextField } from '../../kit/field.tsx'
import { location } from '../../lib/location.ts'
import { texts } from './texts.ts'

export function Page() {
  // The fragment is never sent to any server, so no log has the link.
  const [token] = useState(() => window.location.hash.slice(1))
  const setup = useAnswer(() => api('GET /api/v1/setup', {}))
  if (setup.data?.isNeeded === false) {
    return (
      <FrontPage title={texts.done}>
        <p>{texts.doneSaid}</p>
        <LinkButton href="/login" look="primary">
          Sign in
        </LinkButton>
      </FrontPage>
    )
  }
  if (token === '') {
    return (
      <FrontPage title={texts.noLink} said={texts.noLinkSaid}>
        <p>
          {texts.noTerminalSaid} <code>{texts.linkCommand}</code>
        </p>
      </FrontPage>
    )
  }
  return <SetupForm token={token} />
}

function SetupForm({ token }: { readonly token: string }) {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [organization, setOrganization] = useState('')
  const reason = name.trim() !== '' && email.includes('@') ? null : texts.fieldsNeeded
  const finish = async (credential: Credential) => {
    const body = {
      token,
      name: name.trim(),
      email: email.trim(),
      organizationName: organization.trim() || 'Default',
      credential,
    }
    const { organizationId } = await api('POST /api/v1/setup', { body })
    await tellSignedIn()
    firstKey.ask()
    await location.go(`${pagePath('quickstart', { organizationId })}?first=1`, { replace: true })
  }
  return (
    <FrontPage title={texts.title} said={texts.said}>
      <NewCredential
        options={{ for: 'setup', token, name: name.trim(), email: email.trim() }}
        verb="and continue"
        reason={reason}
        onMade={finish}
      >
        <TextField label="Your name" autoComplete="name" required value={name} onText={setName} />
        <TextField
          label="Email"
          type="email"
          autoComplete="username"
          required
          value={email}
          onText={setEmail}
          hint={texts.emailHint}
        />
        <TextField
          label="Organization"
          autoComplete="organization"
          placeholder="Default"
          value={organization}
          onText={setOrganization}
          hint={texts.organizationHint}
        />
      </NewCredential>
    </FrontPage>
  )
}
