import type { ReactNode } from 'react'
import { Name } from '../kit/content.tsx'
import { Badge } from '../kit/page.tsx'
import { Confirm } from './confirm.tsx'
import { useNames, type Subject } from './queries.ts'
import { useMembership } from './session.ts'
import { useChange } from './use-change.ts'

const kinds = { organization: 'Organization', project: 'Project', 'api-key': 'Key' } as const

type Named = { readonly kind: string; readonly name: string }

/** A subject as a table names it. */
export function useSubjectName(organizationId: string): (subject: Subject) => Named {
  const nameOf = useNames(organizationId)
  const organization = useMembership(organizationId)?.organizationName ?? organizationId
  return ({ kind, id }) => ({ kind: kinds[kind], name: kind === 'organization' ? organization : nameOf(id) })
}

export function SubjectName({ kind, name }: Named) {
  return (
    <>
      <Name>{name}</Name> <Badge>{kind}</Badge>
    </>
  )
}

type RemoveProps = {
  readonly organizationId: string
  readonly what: 'limit' | 'budget'
  readonly subject: Subject
  readonly remove: () => Promise<unknown>
  readonly onClose: () => void
  /** What follows from it. */
  readonly children: ReactNode
}

/** Asks before a subject's limit or budget is removed. */
export function RemoveFromSubject({ organizationId, what, subject, remove, onClose, children }: RemoveProps) {
  const { name } = useSubjectName(organizationId)(subject)
  const change = useChange(remove, { touches: [[`${what}s`, organizationId]], onDone: onClose })
  return (
    <Confirm
      title={`Remove the ${what} of ${name}`}
      verb={`Remove ${what}`}
      change={change}
      onClose={onClose}
      onConfirm={() => void change.run(null)}
    >
      {children}
    </Confirm>
  )
}
