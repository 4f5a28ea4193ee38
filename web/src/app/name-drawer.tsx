import { useState, type ReactNode } from 'react'
import { Button } from '../kit/button.tsx'
import { TextField } from '../kit/field.tsx'
import { Drawer } from '../kit/layers.tsx'
import { ChangeProblem } from './change-problem.tsx'
import type { Change } from './use-change.ts'

type NameChange = Change<{ readonly name: string }>

/** A name as somebody types it, and why it cannot be sent as it is. */
export function useTypedName(known: string): {
  readonly name: string
  readonly typed: string
  readonly onText: (text: string) => void
  readonly missing: string | null
} {
  const [typed, setTyped] = useState(known)
  const name = typed.trim()
  return { name, typed, onText: setTyped, missing: name === '' ? 'A name is needed.' : null }
}

type FieldProps = {
  readonly typed: string
  readonly onText: (text: string) => void
  readonly change: NameChange
  readonly hint?: ReactNode
}

export function NameField({ typed, onText, change, hint }: FieldProps) {
  return (
    <>
      <ChangeProblem problem={change.problem} shown={['name']} />
      <TextField
        label="Name"
        maxLength={200}
        autoComplete="off"
        value={typed}
        fault={change.faultOf('name')}
        onText={onText}
        {...(hint !== undefined && { hint })}
      />
    </>
  )
}

type Props = {
  readonly title: string
  readonly verb: string
  readonly known?: string
  readonly hint?: ReactNode
  readonly change: NameChange
  readonly onClose: () => void
}

/** Names something new, or renames it. */
export function NameDrawer({ title, verb, known = '', hint, change, onClose }: Props) {
  const { name, typed, onText, missing } = useTypedName(known)
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={missing}>
      {verb}
    </Button>
  )
  const save = () => (missing === null ? void change.run({ name }) : undefined)
  return (
    <Drawer title={title} isOpen onClose={onClose} foot={foot} onSubmit={save}>
      <NameField typed={typed} onText={onText} change={change} hint={hint} />
    </Drawer>
  )
}
