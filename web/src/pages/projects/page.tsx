import { useMemo, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { Confirm } from '../../app/confirm.tsx'
import { NameDrawer } from '../../app/name-drawer.tsx'
import { pagePath, type PageParams } from '../../app/paths.ts'
import { keysQuery, projectsQuery, useCurrency, type Project } from '../../app/queries.ts'
import { useReason } from '../../app/session.ts'
import { useKeys } from '../../app/shortcuts.ts'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { usageByGroupQuery } from '../../app/usage-sums.ts'
import { formatCount } from '../../format/figures.ts'
import { formatMoney } from '../../format/money.ts'
import { dayBefore } from '../../format/time.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { Menu } from '../../kit/layers.tsx'
import { Link } from '../../kit/link.tsx'
import { Page as Frame, StateTag } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'

type Open = { readonly kind: 'create' } | { readonly kind: 'rename' | 'archive' | 'restore'; readonly project: Project }

export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  const query = useQuery(projectsQuery(organizationId))
  const [open, setOpen] = useState<Open | null>(null)
  const reason = useReason(organizationId, 'projects:create')
  useKeys(useMemo(() => ({ c: () => (reason === null ? setOpen({ kind: 'create' }) : undefined) }), [reason]))
  const close = () => setOpen(null)
  return (
    <Frame
      title="Projects"
      said="Keys belong to projects, and so do limits, budgets and what developers see."
      actions={
        <Button look="primary" icon="plus" shortcut="c" reason={reason} onClick={() => setOpen({ kind: 'create' })}>
          Create project
        </Button>
      }
    >
      <Loaded query={query} what="The projects">
        {(projects) => <ProjectTable organizationId={organizationId} projects={projects} onOpen={setOpen} />}
      </Loaded>
      {open?.kind === 'create' && <ProjectDrawer organizationId={organizationId} project={null} onClose={close} />}
      {open?.kind === 'rename' && (
        <ProjectDrawer organizationId={organizationId} project={open.project} onClose={close} />
      )}
      {(open?.kind === 'archive' || open?.kind === 'restore') && (
        <ArchiveDialog
          organizationId={organizationId}
          project={open.project}
          isBack={open.kind === 'restore'}
          onClose={close}
        />
      )}
    </Frame>
  )
}

const month = 30

function ProjectTable({
  organizationId,
  projects,
  onOpen,
}: {
  readonly organizationId: string
  readonly projects: readonly Project[]
  readonly onOpen: (open: Open) => void
}) {
  const keys = useQuery({
    ...keysQuery(organizationId),
    enabled: useReason(organizationId, 'api-keys:read') === null,
  }).data
  const usage = useQuery({
    ...usageByGroupQuery(organizationId, { from: dayBefore(month - 1), to: dayBefore(-1), groupBy: 'project' }),
    enabled: useReason(organizationId, 'usage:read') === null,
  }).data
  const currency = useCurrency()
  const updateReason = useReason(organizationId, 'projects:update')
  const archiveReason = useReason(organizationId, 'projects:archive')
  const of = ({ id }: Project) => usage?.get(id)
  const columns: readonly Column<Project>[] = [
    {
      key: 'name',
      head: 'Name',
      cell: ({ id, name }) => (
        <Link href={`${pagePath('keys', { organizationId })}?project=${id}`}>
          <Name>{name}</Name>
        </Link>
      ),
    },
    {
      key: 'state',
      head: 'State',
      phone: 'side',
      cell: ({ archivedAt }) =>
        archivedAt === null ? <StateTag mood="good">Active</StateTag> : <StateTag mood="off">Archived</StateTag>,
    },
    {
      key: 'keys',
      head: 'Keys',
      isRight: true,
      cell: ({ id }) =>
        keys === undefined
          ? '–'
          : formatCount(keys.filter(({ projectId, state }) => projectId === id && state === 'active').length),
    },
    {
      key: 'requests',
      head: 'Requests, 30 days',
      isRight: true,
      cell: (project) => (usage === undefined ? '–' : formatCount(of(project)?.requests ?? 0)),
    },
    {
      key: 'cost',
      head: `Cost, 30 days, ${currency}`,
      isRight: true,
      cell: (project) => (
        <span style={{ display: 'inline-block', minWidth: '9ch' }}>
          {usage === undefined ? '–' : formatMoney(of(project)?.costMicros ?? '0', { currency })}
        </span>
      ),
    },
    { key: 'created', head: 'Created', phone: 'off', cell: ({ createdAt }) => <Time at={createdAt} isAgo /> },
    {
      key: 'actions',
      head: '',
      isRight: true,
      phone: 'side',
      cell: (project) => (
        <Menu
          name={`Actions for ${project.name}`}
          trigger={<IconButton icon="more" name={`Actions for ${project.name}`} isSmall />}
          entries={[
            { kind: 'action', label: 'Rename…', reason: updateReason, act: () => onOpen({ kind: 'rename', project }) },
            project.archivedAt === null
              ? {
                  kind: 'action',
                  label: 'Archive…',
                  isBad: true,
                  reason: archiveReason,
                  act: () => onOpen({ kind: 'archive', project }),
                }
              : {
                  kind: 'action',
                  label: 'Restore…',
                  reason: archiveReason,
                  act: () => onOpen({ kind: 'restore', project }),
                },
          ]}
        />
      ),
    },
  ]
  return <Table name="Projects" columns={columns} items={projects} keyOf={({ id }) => id} />
}

type NameProps = { readonly organizationId: string; readonly project: Project | null; readonly onClose: () => void }

function ProjectDrawer({ organizationId, project, onClose }: NameProps) {
  const change = useChange(
    (body: { readonly name: string }, options) =>
      project === null
        ? api('POST /api/v1/organizations/{organizationId}/projects', { params: { organizationId }, body }, options)
        : api('PATCH /api/v1/organizations/{organizationId}/projects/{projectId}', {
            params: { organizationId, projectId: project.id },
            body,
          }),
    { touches: [['projects', organizationId]], onDone: onClose },
  )
  return (
    <NameDrawer
      title={project === null ? 'Create project' : `Rename “${project.name}”`}
      verb={project === null ? 'Create project' : 'Save'}
      known={project?.name ?? ''}
      change={change}
      onClose={onClose}
    />
  )
}

function ArchiveDialog({
  organizationId,
  project,
  isBack,
  onClose,
}: {
  readonly organizationId: string
  readonly project: Project
  readonly isBack: boolean
  readonly onClose: () => void
}) {
  const params = { organizationId, projectId: project.id }
  const change = useChange(
    (_: null, options) =>
      isBack
        ? api('POST /api/v1/organizations/{organizationId}/projects/{projectId}/restore', { params }, options)
        : api('POST /api/v1/organizations/{organizationId}/projects/{projectId}/archive', { params }, options),
    {
      touches: [
        ['projects', organizationId],
        ['keys', organizationId],
      ],
      onDone: onClose,
    },
  )
  return (
    <Confirm
      title={`${isBack ? 'Restore' : 'Archive'} “${project.name}”`}
      verb={isBack ? 'Restore project' : 'Archive project'}
      isBad={!isBack}
      change={change}
      onClose={onClose}
      onConfirm={() => void change.run(null)}
    >
      {isBack
        ? 'Its keys are accepted again, by the rules they have.'
        : 'Requests with its keys are refused until it is restored. Its usage and its requests stay where they are.'}
    </Confirm>
  )
}
