import type { ReactNode } from 'react'
import { Button } from '../kit/button.tsx'
import { Dialog } from '../kit/layers.tsx'
import { Banner } from '../kit/page.tsx'
import type { Secret } from '../lib/secret.ts'
import { forgotten, useSecret } from './use-secret.ts'

type Props = {
  readonly title: string
  readonly secret: Secret
  readonly onClose: () => void
  /** What stands beside the button that closes it. */
  readonly actions?: (text: string) => ReactNode
  readonly children: (text: string) => ReactNode
}

/** Shows a secret once, for as long as somebody may be looking. */
export function SecretDialog({ title, secret, onClose, actions, children }: Props) {
  const text = useSecret(secret)
  // A dialog of another kind, so that nothing of the one with the secret is kept.
  if (text === '') return <ForgottenDialog title={title} onClose={onClose} />
  const foot = (
    <>
      {actions?.(text)}
      <Button look="primary" onClick={onClose}>
        Done
      </Button>
    </>
  )
  return (
    <Dialog title={title} isOpen isHeld onClose={onClose} foot={foot}>
      {children(text)}
    </Dialog>
  )
}

/** Stands where a secret was that nobody looked at any more. */
export function ForgottenDialog({ title, onClose }: Pick<Props, 'title' | 'onClose'>) {
  return (
    <Dialog title={title} isOpen onClose={onClose} foot={<Button onClick={onClose}>Close</Button>}>
      <Banner kind="warn">{forgotten} What was kept nowhere is made anew.</Banner>
    </Dialog>
  )
}
