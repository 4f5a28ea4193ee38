import { useState } from 'react'
import { api } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { useChange } from '../../app/use-change.ts'
import { forgotten, useSecret } from '../../app/use-secret.ts'
import { Button } from '../../kit/button.tsx'
import { Code } from '../../kit/content.tsx'
import { Banner } from '../../kit/page.tsx'
import type { Secret } from '../../lib/secret.ts'

/** An invitation whose link is shown now, and never again. */
export type Made = { readonly id: string; readonly email: string; readonly link: Secret }

type Props = { readonly organizationId: string; readonly made: Made; readonly canMail: boolean }

export function MadeLink({ made, ...rest }: Props) {
  const link = useSecret(made.link)
  if (link !== '') return <Shown {...rest} made={made} link={link} />
  return (
    <Banner kind="warn">
      {forgotten} The invitation of {made.email} is withdrawn and made anew where its link was kept nowhere.
    </Banner>
  )
}

function Shown({
  organizationId,
  made: { id: invitationId, email },
  link,
  canMail,
}: Props & { readonly link: string }) {
  const [isMailed, setMailed] = useState(false)
  const change = useChange(
    (token: string) =>
      api('POST /api/v1/organizations/{organizationId}/invitations/{invitationId}/mail', {
        params: { organizationId, invitationId },
        body: { token },
      }),
    { touches: [], onDone: () => setMailed(true) },
  )
  const mail = () => void change.run(link.slice(link.indexOf('#') + 1))
  return (
    <>
      <Code label={email} wraps text={link} />
      <ChangeProblem problem={change.problem} />
      {isMailed && <Banner kind="good">Mailed to {email}.</Banner>}
      {canMail && !isMailed && (
        <Button isBusy={change.isBusy} onClick={mail}>
          Mail it to {email}
        </Button>
      )}
    </>
  )
}
