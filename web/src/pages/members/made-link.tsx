import { useState } from 'react'
import { api } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Code } from '../../kit/content.tsx'
import { Banner } from '../../kit/page.tsx'

/** An invitation whose link is shown now, and never again. */
export type Made = { readonly id: string; readonly email: string; readonly link: string }

type Props = { readonly organizationId: string; readonly made: Made; readonly canMail: boolean }

export function MadeLink({ organizationId, made: { id: invitationId, email, link }, canMail }: Props) {
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
