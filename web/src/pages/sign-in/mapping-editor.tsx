import { useState } from 'react'
import type { BodyOf } from '../../api/client.ts'
import type { Problem } from '../../api/problem.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { useOpenProjects, type Project } from '../../app/queries.ts'
import { isShownProjects } from '../../app/roles.ts'
import { Button } from '../../kit/button.tsx'
import { CheckboxGroup, Select, TextField } from '../../kit/field.tsx'
import { Badge, Row, Stack } from '../../kit/page.tsx'
import { formatCounted } from '../../format/figures.ts'

export type Mappings =
  BodyOf<'PUT /api/v1/organizations/{organizationId}/connections/{connectionId}/group-mappings'>['data']
type Mapping = Mappings[number]

/** A group that is known beside those that are mapped, with how many users it has. */
export type KnownGroup = { readonly name: string; readonly users: number }

const choices = [
  { value: '', label: 'Nothing' },
  { value: 'admin', label: 'Admin' },
  { value: 'developer', label: 'Developer' },
  { value: 'billing', label: 'Billing' },
  { value: 'auditor', label: 'Auditor' },
] as const satisfies readonly { readonly value: Mapping['role'] | ''; readonly label: string }[]

type Props = {
  readonly organizationId: string
  readonly mappings: Mappings
  /** Null where nobody tells which groups there are, and they are typed. */
  readonly groups: readonly KnownGroup[] | null
  readonly onChange: (mappings: Mappings) => void
}

/** What groups give their members, in the order in which they count: the first that somebody is in gives the role. */
export function MappingEditor({ organizationId, mappings, groups, onChange }: Props) {
  const projects = useOpenProjects(organizationId)
  const usersOf = new Map((groups ?? []).map(({ name, users }) => [name, users] as const))
  const others = (groups ?? []).filter(({ name }) => mappings.every(({ group }) => group !== name))
  const set = (group: string, changes: Partial<Mapping>) =>
    onChange(mappings.map((one) => (one.group === group ? { ...one, ...changes } : one)))
  const choose = (group: string, role: Mapping['role'] | '') => {
    if (role === '') return onChange(mappings.filter((one) => one.group !== group))
    if (mappings.some((one) => one.group === group)) return set(group, { role })
    onChange([...mappings, { group, role, projectIds: [] }])
  }
  const earlier = (at: number) => {
    const [before, own] = [mappings[at - 1], mappings[at]]
    if (before !== undefined && own !== undefined) {
      onChange([...mappings.slice(0, at - 1), own, before, ...mappings.slice(at + 1)])
    }
  }
  return (
    <Stack>
      {mappings.map((mapping, at) => (
        <Group
          key={mapping.group}
          name={mapping.group}
          users={usersOf.get(mapping.group)}
          place={at + 1}
          mapping={mapping}
          projects={projects}
          onRole={(role) => choose(mapping.group, role)}
          onProjects={(projectIds) => set(mapping.group, { projectIds })}
          {...(at > 0 && { onEarlier: () => earlier(at) })}
        />
      ))}
      {others.map(({ name, users }) => (
        <Group
          key={name}
          name={name}
          users={users}
          mapping={null}
          projects={projects}
          onRole={(role) => choose(name, role)}
        />
      ))}
      {groups === null && (
        <AddGroup known={mappings.map(({ group }) => group)} onAdd={(name) => choose(name, 'developer')} />
      )}
    </Stack>
  )
}

type GroupProps = {
  readonly name: string
  readonly users: number | undefined
  readonly place?: number
  readonly mapping: Mapping | null
  readonly projects: readonly Project[]
  readonly onRole: (role: Mapping['role'] | '') => void
  readonly onProjects?: (projectIds: readonly string[]) => void
  readonly onEarlier?: () => void
}

function Group({ name, users, place, mapping, projects, onRole, onProjects, onEarlier }: GroupProps) {
  return (
    <div role="group" aria-label={name}>
      <Row>
        {place !== undefined && <Badge>{place}</Badge>}
        <Select label={`What ${name} gives`} isInline value={mapping?.role ?? ''} choices={choices} onChoice={onRole} />
        {users !== undefined && <span>{formatCounted(users, 'user')}</span>}
        {onEarlier !== undefined && (
          <Button isSmall look="quiet" aria-label={`Let ${name} count earlier`} onClick={onEarlier}>
            Earlier
          </Button>
        )}
      </Row>
      {mapping !== null && isShownProjects(mapping.role) && onProjects !== undefined && projects.length > 0 && (
        <CheckboxGroup
          label={`Projects that ${name} opens`}
          choices={projects.map(({ id, name: label }) => ({ value: id, label }))}
          chosen={mapping.projectIds ?? []}
          onChange={onProjects}
        />
      )}
    </div>
  )
}

function AddGroup({ known, onAdd }: { readonly known: readonly string[]; readonly onAdd: (name: string) => void }) {
  const [name, setName] = useState('')
  const wanted = name.trim()
  const reason = wanted === '' ? 'A name is needed.' : known.includes(wanted) ? 'It is in the list already.' : null
  const add = () => {
    if (reason !== null) return
    onAdd(wanted)
    setName('')
  }
  return (
    <Stack>
      <TextField
        label="Group"
        autoComplete="off"
        placeholder="engineers"
        value={name}
        onText={setName}
        hint="As the provider names it in what it sends, to the letter."
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          add()
        }}
      />
      <Row>
        <Button isSmall reason={reason} onClick={add}>
          Add group
        </Button>
      </Row>
    </Stack>
  )
}

type SaveProps = {
  readonly isChanged: boolean
  readonly reason: string | null
  readonly change: { readonly isBusy: boolean; readonly problem: Problem | null }
  readonly onSave: () => void
  readonly onLeave: () => void
}

export function SaveMappings({ isChanged, reason, change, onSave, onLeave }: SaveProps) {
  return (
    <Stack>
      <ChangeProblem problem={change.problem} />
      <Row>
        <Button
          look="primary"
          isBusy={change.isBusy}
          reason={reason ?? (isChanged ? null : 'Nothing was changed.')}
          onClick={onSave}
        >
          Save mappings
        </Button>
        {isChanged && (
          <Button look="quiet" onClick={onLeave}>
            Leave as it was
          </Button>
        )}
      </Row>
    </Stack>
  )
}
