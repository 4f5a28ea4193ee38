import { useMemo, useState } from 'react'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { pagePath, type PageParams } from '../../app/paths.ts'
import { rolesQuery, useMemberList, type OwnRole } from '../../app/queries.ts'
import { roleChoices, roleWords } from '../../app/roles.ts'
import { useSearch } from '../../app/router.tsx'
import { useReason } from '../../app/session.ts'
import { useKeys } from '../../app/shortcuts.ts'
import { Empty, Loaded } from '../../app/states.tsx'
import { Button, IconButton } from '../../kit/button.tsx'
import { Name, Time } from '../../kit/content.tsx'
import { Menu, type MenuEntry } from '../../kit/layers.tsx'
import { Link } from '../../kit/link.tsx'
import { Card, KeyValue, Page as Frame } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { searchCodec, text } from '../../lib/search-codec.ts'
import { RemoveRole } from './remove-role.tsx'
import { chooseFrom, RoleDrawer, type Line } from './role-drawer.tsx'
import { RoleTable } from './role-table.tsx'

const rolesSearch = searchCodec({ q: text() })

const permissionsQuery = queryOptions({
  queryKey: ['permissions'],
  queryFn: ({ signal }) => api('GET /api/v1/permissions', {}, { signal }).then(({ permissions }) => permissions),
  staleTime: Infinity,
})

type Open =
  | { readonly kind: 'edit'; readonly role: OwnRole }
  | { readonly kind: 'create'; readonly like: OwnRole | null }
  | { readonly kind: 'remove'; readonly role: OwnRole }

export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  const [{ q }, change] = useSearch(rolesSearch)
  const own = useQuery(rolesQuery(organizationId))
  const mayReadTable = useReason(organizationId, 'organizations:read') === null
  const permissions = useQuery({ ...permissionsQuery, enabled: mayReadTable })
  const [open, setOpen] = useState<Open | null>(null)
  const lacking = useReason(organizationId, 'roles:create')
  const reason = lacking ?? (permissions.data === undefined ? 'The permissions are not here yet.' : null)
  const begin = useMemo(() => () => setOpen({ kind: 'create', like: null }), [])
  useKeys(useMemo(() => ({ c: () => (reason === null ? begin() : undefined) }), [reason, begin]))
  const create = (
    <Button look="primary" icon="plus" shortcut="c" reason={reason} onClick={begin}>
      Create role
    </Button>
  )
  return (
    <Frame
      title="Roles"
      said="What members may do. A role of your own leaves a part of a built-in one, and reaches as far as that."
      actions={create}
    >
      <Loaded query={own} what="Your own roles" rows={2}>
        {(roles) =>
          roles.length === 0 ? (
            <Empty
              action={create}
              command="npx odyssey roles create --name Support --base admin --permissions members:read,requests:read"
            >
              No roles of your own yet. One is for people who need less than a whole role, such as looking at members
              and requests alone.
            </Empty>
          ) : (
            <OwnRoles organizationId={organizationId} roles={roles} lines={permissions.data ?? []} onOpen={setOpen} />
          )
        }
      </Loaded>
      <Card title="Built-in roles">
        <KeyValue rows={roleChoices.map(({ value, label }) => [label, roleWords[value]])} />
      </Card>
      {mayReadTable && (
        <Loaded query={permissions} what="The table of permissions">
          {(lines) => <RoleTable lines={lines} own={own.data ?? []} q={q} onSearch={(typed) => change({ q: typed })} />}
        </Loaded>
      )}
      {open !== null && open.kind !== 'remove' && (
        <RoleDrawer
          organizationId={organizationId}
          lines={permissions.data ?? []}
          role={open.kind === 'edit' ? open.role : null}
          like={open.kind === 'create' ? open.like : null}
          onClose={() => setOpen(null)}
        />
      )}
      {open?.kind === 'remove' && (
        <RemoveRole organizationId={organizationId} role={open.role} onClose={() => setOpen(null)} />
      )}
    </Frame>
  )
}

type OwnProps = {
  readonly organizationId: string
  readonly roles: readonly OwnRole[]
  readonly lines: readonly Line[]
  readonly onOpen: (open: Open) => void
}

function OwnRoles({ organizationId, roles, lines, onOpen }: OwnProps) {
  const entriesOf = useEntries(organizationId, lines, onOpen)
  const members = useMemberList(organizationId).filter(({ removedAt }) => removedAt === null)
  const columns: readonly Column<OwnRole>[] = [
    { key: 'name', head: 'Name', cell: ({ name }) => <Name>{name}</Name> },
    { key: 'base', head: 'A part of', cell: ({ base }) => base },
    {
      key: 'may',
      head: 'Lets do',
      cell: ({ base, permissions }) => `${permissions.length} of ${chooseFrom(lines, base).length || '…'}`,
    },
    {
      key: 'members',
      head: 'Members',
      cell: (role) => (
        <WhoHasIt
          href={`${pagePath('members', { organizationId })}?role=${role.id}`}
          count={role.members}
          names={members.filter(({ roleId }) => roleId === role.id).map(({ name }) => name)}
        />
      ),
    },
    { key: 'since', head: 'Since', phone: 'off', cell: ({ createdAt }) => <Time at={createdAt} isAgo /> },
    {
      key: 'actions',
      head: '',
      isRight: true,
      phone: 'side',
      cell: (role) => (
        <Menu
          name={`Actions for ${role.name}`}
          trigger={<IconButton icon="more" name={`Actions for ${role.name}`} isSmall />}
          entries={entriesOf(role)}
        />
      ),
    },
  ]
  return <Table name="Your own roles" columns={columns} items={roles} keyOf={({ id }) => id} />
}

const namesMax = 3

/** The members with a role by name, as far as that is short. Who may not read members is told how many there are. */
function WhoHasIt({
  href,
  count,
  names,
}: {
  readonly href: string
  readonly count: number
  readonly names: readonly string[]
}) {
  if (count === 0) return 'nobody'
  if (names.length === 0) return count
  const rest = names.length - namesMax
  return (
    <Link href={href}>
      <Name>{names.slice(0, namesMax).join(', ')}</Name>
      {rest > 0 && ` and ${rest} more`}
    </Link>
  )
}

function useEntries(
  organizationId: string,
  lines: readonly Line[],
  onOpen: (open: Open) => void,
): (role: OwnRole) => readonly MenuEntry[] {
  const createReason = useReason(organizationId, 'roles:create')
  const updateReason = useReason(organizationId, 'roles:update')
  const removeReason = useReason(organizationId, 'roles:remove')
  const none = lines.length === 0 ? 'The permissions are not here yet.' : null
  return (role) => {
    const held = role.members === 1 ? '1 member has it' : `${role.members} members have it`
    return [
      {
        kind: 'action',
        label: 'Edit…',
        reason: updateReason ?? none,
        act: () => onOpen({ kind: 'edit', role }),
      },
      {
        kind: 'action',
        label: 'Create one like it…',
        reason: createReason ?? none,
        act: () => onOpen({ kind: 'create', like: role }),
      },
      {
        kind: 'action',
        label: 'Remove…',
        isBad: true,
        reason: removeReason ?? (role.members > 0 ? `${held}: give them another role first.` : null),
        act: () => onOpen({ kind: 'remove', role }),
      },
    ]
  }
}
