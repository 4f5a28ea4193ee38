import { useId, useMemo, useState, type KeyboardEvent } from 'react'
import { location } from '../lib/location.ts'
import { Icon, type IconName } from '../kit/icons.tsx'
import { Dialog } from '../kit/layers.tsx'
import type { Session } from '../api/answers.ts'
import { preferences } from './preferences.ts'
import { pagePath, type PageName } from './paths.ts'
import { pageReason } from './session.ts'
import { routes } from './route-table.ts'
import { useFound, type FoundThing } from './use-found.ts'
import styles from './shell.module.css'

type Result = {
  readonly label: string
  readonly said?: string
  readonly icon: IconName
  readonly key?: string
  readonly act: () => void
}

/** Finds pages, actions and what the organization has by a few letters; a request's id leads to that request. */
export function Palette({
  session,
  organizationId,
  onClose,
  onSignOut,
}: {
  readonly session: Session
  readonly organizationId: string | null
  readonly onClose: () => void
  readonly onSignOut: () => void
}) {
  const [typed, setTyped] = useState('')
  const [pointed, setChosen] = useState(0)
  const id = useId()
  const pages = useMemo(() => allResults(session, organizationId), [session, organizationId])
  const all = [...pages, { label: 'Sign out', icon: 'logout', act: onSignOut } as const]
  const found = useFound(organizationId, typed)
  const results = [...filterResults(all, typed, organizationId), ...found.map(toResult)]
  // The results may have become fewer since one of them was pointed at.
  const chosen = Math.min(pointed, Math.max(0, results.length - 1))
  const act = (result: Result | undefined) => {
    if (result === undefined) return
    onClose()
    result.act()
  }
  const onKey = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (by !== 0) {
      event.preventDefault()
      setChosen((chosen + by + results.length) % Math.max(1, results.length))
    }
    if (event.key === 'Enter') act(results[chosen])
  }
  return (
    <Dialog title="Find" isOpen onClose={onClose}>
      <div className={styles.palette}>
        <input
          className={styles.paletteInput}
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={results.length > 0 ? `${id}-${chosen}` : undefined}
          aria-label="Find a page, a record or an action"
          placeholder="Page, key, member, project or request id"
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value)
            setChosen(0)
          }}
          onKeyDown={onKey}
        />
        <div className={styles.results} role="listbox" id={`${id}-list`} aria-label="Found">
          {results.map((result, index) => (
            <div
              key={result.key ?? result.label}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === chosen}
              tabIndex={-1}
              className={styles.result}
              onPointerMove={() => setChosen(index)}
              onClick={() => act(result)}
              onKeyDown={onKey}
            >
              <Icon name={result.icon} />
              {result.label}
              {result.said !== undefined && <small>{result.said}</small>}
            </div>
          ))}
        </div>
        {results.length === 0 && <p className={styles.none}>Nothing is called so.</p>}
      </div>
    </Dialog>
  )
}

/** Two things may have one name, so the list tells them apart by where they lead. */
function toResult({ href, ...found }: FoundThing): Result {
  return { ...found, key: href, act: () => void location.go(href) }
}

function allResults(session: Session, organizationId: string | null): Result[] {
  const pages = Object.entries(routes).flatMap(([name, row]): Result[] => {
    if (row.menu === undefined || pageReason(session, organizationId, name as PageName) !== null) return []
    const href = pagePath(name as PageName, { organizationId: organizationId ?? '' })
    return [{ label: row.title, said: row.menu.group, icon: row.menu.icon, act: () => void location.go(href) }]
  })
  const others = session.memberships.filter((one) => one.organizationId !== organizationId)
  return [
    ...pages,
    { label: 'Account', icon: 'user', act: () => void location.go('/account') },
    ...others.map(({ organizationId: id, organizationName }): Result => {
      return {
        label: `Go to ${organizationName}`,
        icon: 'building',
        act: () => void location.go(pagePath('home', { organizationId: id })),
      }
    }),
    { label: 'Switch to dark', icon: 'moon', act: () => preferences.change({ theme: 'dark' }) },
    { label: 'Switch to light', icon: 'sun', act: () => preferences.change({ theme: 'light' }) },
  ]
}

function filterResults(all: readonly Result[], typed: string, organizationId: string | null): readonly Result[] {
  const wanted = typed.trim()
  if (/^req_\w+$/.test(wanted) && organizationId !== null) {
    const href = pagePath('request', { organizationId, requestId: wanted })
    return [{ label: `Open ${wanted}`, icon: 'list', act: () => void location.go(href) }]
  }
  const words = wanted.toLowerCase().split(/\s+/)
  const isFound = ({ label, said = '' }: Result) =>
    words.every((word) => `${label} ${said}`.toLowerCase().includes(word))
  const begins = ({ label }: Result) => Number(label.toLowerCase().startsWith(wanted.toLowerCase()))
  // The page "Account" before "Service accounts", which stands earlier in the menu.
  return all.filter(isFound).toSorted((one, other) => begins(other) - begins(one))
}
