import { Select } from '../kit/field.tsx'
import { isInUse } from './keys/key-state.tsx'
import { useOpenProjects, useKeyList, type Subject } from './queries.ts'

type Props = {
  readonly organizationId: string
  readonly subject: Subject
  readonly onChoice: (subject: Subject) => void
  readonly fault?: string | undefined
}

/** Whom a limit or a budget is for: the organization, one of its projects, or one of its keys. */
export function SubjectField({ organizationId, subject, onChoice, fault }: Props) {
  const projects = useOpenProjects(organizationId)
  const keys = useKeyList(organizationId).filter(isInUse)
  const choices = [
    { value: `organization ${organizationId}`, label: 'The whole organization' },
    ...projects.map(({ id, name }) => ({ value: `project ${id}`, label: `Project: ${name}` })),
    ...keys.map(({ id, name, lastFour }) => ({ value: `api-key ${id}`, label: `Key: ${name} (…${lastFour})` })),
  ]
  const choose = (text: string) => {
    const [kind = '', id = ''] = text.split(' ')
    onChoice({ kind, id } as Subject)
  }
  return (
    <Select label="For" value={`${subject.kind} ${subject.id}`} choices={choices} onChoice={choose} fault={fault} />
  )
}
