import { useState, type ReactNode } from 'react'
import type { Problem } from '../api/problem.ts'
import { Button } from '../kit/button.tsx'
import { TextField } from '../kit/field.tsx'
import { Dialog } from '../kit/layers.tsx'
import { ChangeProblem } from './change-problem.tsx'

type Props = {
  readonly title: string
  /** What follows from it. */
  readonly children: ReactNode
  readonly verb: string
  readonly isBad?: boolean
  /** Has to be typed where there is no way back. */
  readonly typedName?: string
  readonly change: { readonly isBusy: boolean; readonly problem: Problem | null }
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks before a change whose consequences reach further than the row it is made on. */
export function Confirm({ title, children, verb, isBad = true, typedName, change, onConfirm, onClose }: Props) {
  const [typed, setTyped] = useState('')
  const reason = typedName !== undefined && typed.trim() !== typedName ? `Type ${typedName} first.` : null
  const foot = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button type="submit" look={isBad ? 'danger' : 'primary'} isBusy={change.isBusy} reason={reason}>
        {verb}
      </Button>
    </>
  )
  return (
    <Dialog
      title={title}
      isOpen
      isPassing
      onClose={onClose}
      foot={foot}
      onSubmit={() => (reason === null ? onConfirm() : undefined)}
    >
      <ChangeProblem problem={change.problem} />
      <p>{children}</p>
      {typedName !== undefined && (
        <TextField label={`Type ${typedName} to go on`} autoComplete="off" value={typed} onText={setTyped} />
      )}
    </Dialog>
  )
}
