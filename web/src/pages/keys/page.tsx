import { useMemo, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { KeyActionDialog, type KeyAction } from '../../app/keys/key-actions.tsx'
import { KeyOnce, type NewKey } from '../../app/keys/key-once.tsx'
import { pagePath, type PageParams } from '../../app/paths.ts'
import { entriesMax, keysQuery, useNames, type ApiKey } from '../../app/queries.ts'
import { useSearch } from '../../app/router.tsx'
import { useReason } from '../../app/session.ts'
import { useKeys } from '../../app/shortcuts.ts'
import { Empty, Loaded, NothingMatches } from '../../app/states.tsx'
import { Button } from '../../kit/button.tsx'
import { formatCount } from '../../format/figures.ts'
import { Banner, Page as Frame, Row } from '../../kit/page.tsx'
import { Skeleton } from '../../kit/skeleton.tsx'
import { BulkActions } from './bulk-actions.tsx'
import { CreateKey } from '../../app/keys/create-key.tsx'
import { KeyFilters } from './filters.tsx'
import { KeyTable } from './key-table.tsx'
import { useFoundKeys } from './use-found-keys.ts'
import { filterKeys, keysSearch, type KeysSearch } from '../../app/keys/keys-search.ts'

type Open =
  | { readonly kind: 'create' }
  | { readonly kind: 'action'; readonly action: KeyAction; readonly apiKey: ApiKey }

export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? ''
  const [search, change] = useSearch(keysSearch)
  const query = useQuery(keysQuery(organizationId))
  const [open, setOpen] = useState<Open | null>(null)
  const [made, setMade] = useState<NewKey | null>(null)
  const reason = useReason(organizationId, 'api-keys:create')
  const actions = useMemo(() => ({ c: () => (reason === null ? setOpen({ kind: 'create' }) : undefined) }), [reason])
  useKeys(actions)
  const show = (key: NewKey) => {
    setOpen(null)
    setMade(key)
  }
  const create = (
    <Button look="primary" icon="plus" shortcut="c" reason={reason} onClick={() => setOpen({ kind: 'create' })}>
      Create key
    </Button>
  )
  return (
    <Frame
      title="API keys"
      actions={create}
      filters={<KeyFilters organizationId={organizationId} search={search} onChange={change} keys={query.data ?? []} />}
    >
      <Loaded query={query} what="The API keys">
        {(keys) => (
          <Keys
            organizationId={organizationId}
            keys={keys}
            search={search}
            onChange={change}
            create={create}
            onAction={(action, apiKey) => setOpen({ kind: 'action', action, apiKey })}
          />
        )}
      </Loaded>
      {open?.kind === 'create' && (
        <CreateKey organizationId={organizationId} onClose={() => setOpen(null)} onMade={show} />
      )}
      {open?.kind === 'action' && (
        <KeyActionDialog
          organizationId={organizationId}
          apiKey={open.apiKey}
          action={open.action}
          onClose={() => setOpen(null)}
          onMade={show}
        />
      )}
      {made !== null && <KeyOnce made={made} onClose={() => setMade(null)} />}
    </Frame>
  )
}

type KeysProps = {
  readonly organizationId: string
  readonly keys: readonly ApiKey[]
  readonly search: KeysSearch
  readonly onChange: (changes: Partial<KeysSearch>) => void
  readonly create: React.ReactNode
  readonly onAction: (action: KeyAction, apiKey: ApiKey) => void
}

function Keys({ organizationId, keys: read, search, onChange, create, onAction }: KeysProps) {
  const nameOf = useNames(organizationId)
  const { keys, isCut, isSearching } = useFoundKeys(organizationId, read, search)
  const [chosen, setChosen] = useState<ReadonlySet<string> | null>(null)
  useKeys(useMemo(() => ({ x: () => setChosen((before) => (before === null ? new Set() : null)) }), []))
  const shown = filterKeys(keys, search)
  if (keys.length === 0) {
    return (
      <Empty action={create} command="npx odyssey keys create --name laptop">
        No keys yet. A key lets a program use the models.
      </Empty>
    )
  }
  if (shown.length === 0 && isSearching) return <Skeleton rows={2} />
  if (shown.length === 0) return <NothingMatches what="keys" onClear={() => onChange(keysSearch.read('').state)} />
  // The key's page leads to the next one under the same filter.
  const hrefOf = ({ id }: ApiKey) => pagePath('key', { organizationId, apiKeyId: id }) + keysSearch.write(search)
  const isOver = ({ state }: ApiKey) => state === 'revoked' || state === 'expired'
  return (
    <>
      {isCut && (
        <Banner>
          There are more keys than are listed: these are the oldest {formatCount(entriesMax)}. The filters find the
          others.
        </Banner>
      )}
      {chosen === null ? (
        <Row>
          <Button isSmall look="quiet" shortcut="x" onClick={() => setChosen(new Set())}>
            Choose several
          </Button>
        </Row>
      ) : (
        <BulkActions
          organizationId={organizationId}
          keys={shown.filter((key) => chosen.has(key.id) && !isOver(key))}
          onDone={() => setChosen(null)}
        />
      )}
      <KeyTable
        keys={shown}
        total={isCut ? null : keys.length}
        nameOf={nameOf}
        hrefOf={hrefOf}
        sorting={search}
        onSort={(sort, isDown) => onChange({ sort, down: isDown })}
        onAction={onAction}
        organizationId={organizationId}
        chosen={chosen}
        onChoice={(id) => setChosen(toggled(chosen, id))}
      />
    </>
  )
}

function toggled(chosen: ReadonlySet<string> | null, id: string): ReadonlySet<string> {
  const next = new Set(chosen)
  if (!next.delete(id)) next.add(id)
  return next
}
