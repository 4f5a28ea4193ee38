import type { Problem } from '../api/problem.ts'
import { Button } from '../kit/button.tsx'
import { Dialog } from '../kit/layers.tsx'
import { ChangeProblem } from './change-problem.tsx'

type Props = { readonly problem: Problem; readonly onAgain: () => void; readonly onClose: () => void }

/** Signing out has failed: whoever goes away from the machine now is still signed in on it. */
export function StillIn({ problem, onAgain, onClose }: Props) {
  const foot = (
    <Button look="primary" onClick={onAgain}>
      Try again
    </Button>
  )
  return (
    <Dialog title="You are still signed in" isOpen onClose={onClose} foot={foot}>
      <ChangeProblem problem={problem} />
    </Dialog>
  )
}
