import { lazy, Suspense, useEffect, useMemo, useState, type ReactNode } from 'react'
import type { Session } from '../api/answers.ts'
import { toProblem, type Problem } from '../api/problem.ts'
import { IconButton } from '../kit/button.tsx'
import { Icon } from '../kit/icons.tsx'
import { Drawer, Menu, type MenuEntry } from '../kit/layers.tsx'
import { Link } from '../kit/link.tsx'
import { location } from '../lib/location.ts'
import { live, useLive } from './events.ts'
import { MenuLinks } from './menu.tsx'
import { pagePath, type PageName } from './paths.ts'
import { ProofDialogs } from './proof-dialog.tsx'
import { preferences, usePreferences, type Theme } from './preferences.ts'
import { routes } from './route-table.ts'
import { pageReason, queryClient, signOut } from './session.ts'
import { isLayerOpen, isPlainKey, stepRow } from './shortcuts.ts'
import { SystemBanner } from './system-banner.tsx'
import styles from './shell.module.css'

/** Of use to who asks for them, so no page brings them along. */
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))
const KeyList = lazy(async () => ({ default: (await import('./key-list.tsx')).KeyList }))
const ApiCalls = lazy(async () => ({ default: (await import('./api-calls.tsx')).ApiCalls }))
const StillIn = lazy(async () => ({ default: (await import('./still-in.tsx')).StillIn }))

type Props = {
  readonly session: Session
  readonly organizationId: string | null
  readonly title: string
  readonly children: ReactNode
}

/** What stands around every page of somebody who has signed in. */
export function Shell({ session, organizationId, title, children }: Props) {
  const [open, setOpen] = useState<'palette' | 'menu' | 'keys' | 'calls' | null>(null)
  useGlobalKeys(session, organizationId, setOpen)
  useEffect(() => live.begin(), [])
  const close = () => setOpen(null)
  const [fault, setFault] = useState<Problem | null>(null)
  const leave = () => {
    setFault(null)
    signOut().catch((error: unknown) => setFault(toProblem(error)))
  }
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main">
        Skip to the page
      </a>
      <nav className={styles.side} aria-label="Pages">
        <Switcher session={session} organizationId={organizationId} />
        <MenuLinks session={session} organizationId={organizationId} />
        <div className={styles.foot}>
          <Link href="/account" className={styles.link} title="Account" aria-label={`Account of ${session.user.name}`}>
            <Icon name="user" />
            <span className={styles.label}>{session.user.name}</span>
          </Link>
        </div>
      </nav>
      <div className={styles.main}>
        <header className={styles.top}>
          <span className={styles.burger}>
            <IconButton icon="menu" name="Menu" onClick={() => setOpen('menu')} />
          </span>
          <span className={styles.where}>{title}</span>
          <TopBar session={session} onOpen={setOpen} onSignOut={leave} />
        </header>
        <div className={styles.banners}>
          <SystemBanner organizationId={organizationId} />
        </div>
        <main id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
      <Drawer title="Menu" isOpen={open === 'menu'} onClose={close}>
        <nav className={styles.sheet} aria-label="All pages">
          <Switcher session={session} organizationId={organizationId} />
          <MenuLinks session={session} organizationId={organizationId} onFollow={close} />
          <Link href="/account" className={styles.link} onClick={close}>
            <Icon name="user" /> Account
          </Link>
        </nav>
      </Drawer>
      <Suspense fallback={null}>
        {open === 'palette' && (
          <Palette session={session} organizationId={organizationId} onClose={close} onSignOut={leave} />
        )}
        {open === 'keys' && <KeyList onClose={close} />}
        {open === 'calls' && <ApiCalls onClose={close} />}
        {fault !== null && <StillIn problem={fault} onAgain={leave} onClose={() => setFault(null)} />}
      </Suspense>
      <ProofDialogs />
    </div>
  )
}

type TopBarProps = {
  readonly session: Session
  readonly onOpen: (what: 'palette' | 'keys' | 'calls') => void
  readonly onSignOut: () => void
}

function TopBar({ session, onOpen, onSignOut }: TopBarProps) {
  const { theme } = usePreferences()
  const isLive = useLive()
  const choose = (to: Theme): MenuEntry => ({
    kind: 'action',
    label: { system: 'As the system', light: 'Light', dark: 'Dark' }[to],
    icon: ({ system: 'monitor', light: 'sun', dark: 'moon' } as const)[to],
    act: () => preferences.change({ theme: to }),
  })
  const themeIcon = theme === 'dark' ? 'moon' : theme === 'light' ? 'sun' : 'monitor'
  return (
    <>
      <span
        className={styles.live}
        title={isLive ? 'Changes are shown as they come' : 'What is shown is read again every 15 s'}
      >
        {isLive ? 'live' : 'every 15 s'}
      </span>
      <button
        type="button"
        className={styles.find}
        onClick={() => onOpen('palette')}
        aria-label="Find Ctrl K"
        aria-keyshortcuts="Meta+K Control+K"
      >
        <Icon name="search" /> <span>Find</span> <kbd>Ctrl K</kbd>
      </button>
      <Menu
        name="Theme"
        trigger={<IconButton icon={themeIcon} name="Theme" />}
        entries={[choose('system'), choose('light'), choose('dark')]}
      />
      <IconButton icon="help" name="Keys" onClick={() => onOpen('keys')} />
      <Menu
        name="Account"
        trigger={<IconButton icon="user" name="Account" />}
        entries={[
          { kind: 'name', label: session.user.email },
          { kind: 'action', label: 'Account', icon: 'user', act: () => void location.go('/account') },
          { kind: 'action', label: 'API calls of this page', icon: 'code', act: () => onOpen('calls') },
          { kind: 'action', label: 'Guides', icon: 'book', act: () => void location.go('/docs') },
          { kind: 'action', label: 'API reference', icon: 'book', act: () => void location.go('/docs/api') },
          { kind: 'rule' },
          { kind: 'action', label: 'Sign out', icon: 'logout', act: onSignOut },
        ]}
      />
    </>
  )
}

function Switcher({ session, organizationId }: { readonly session: Session; readonly organizationId: string | null }) {
  const current = session.memberships.find((one) => one.organizationId === organizationId)
  const inside = (
    <>
      <i className={styles.mark}>
        <Icon name="building" size={14} />
      </i>
      <span className={styles.label}>{current?.organizationName ?? 'Odyssey'}</span>
    </>
  )
  if (session.memberships.length < 2) {
    return (
      <Link
        href={organizationId === null ? '/' : pagePath('home', { organizationId })}
        className={styles.brand}
        aria-label={`${current?.organizationName ?? 'Odyssey'}, home`}
      >
        {inside}
      </Link>
    )
  }
  const entries = session.memberships.map(({ organizationId: id, organizationName }): MenuEntry => {
    return {
      kind: 'action',
      label: organizationName,
      ...(id === organizationId && { icon: 'check' as const }),
      act: () => void location.go(pagePath('home', { organizationId: id })),
    }
  })
  const trigger = (
    <button type="button" className={styles.brand}>
      {inside}
      <Icon name="down" size={14} />
    </button>
  )
  return <Menu name={`Organization: ${current?.organizationName ?? 'none'}`} trigger={trigger} entries={entries} />
}

const prefixMs = 1_500

function useGlobalKeys(
  session: Session,
  organizationId: string | null,
  open: (what: 'palette' | 'keys') => void,
): void {
  const byLetter = useMemo(
    () => new Map(Object.entries(routes).map(([name, row]) => [row.menu?.go, name as PageName] as const)),
    [],
  )
  useEffect(() => {
    let prefixedUntil = 0
    const go = (key: string): boolean => {
      const name = byLetter.get(key)
      if (name === undefined || organizationId === null || pageReason(session, organizationId, name) !== null)
        return false
      void location.go(pagePath(name, { organizationId }))
      return true
    }
    const act = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        return open('palette')
      }
      if (!preferences.current().hasShortcuts || !isPlainKey(event)) return
      if (isLayerOpen()) return
      // The time of the press counts, not that of its turn: a busy page may come to both letters late.
      const isPrefixed = event.timeStamp < prefixedUntil
      prefixedUntil = event.key === 'g' ? event.timeStamp + prefixMs : 0
      if (isPrefixed && go(event.key)) return event.stopImmediatePropagation()
      plainKeys[event.key]?.(event, open)
    }
    document.addEventListener('keydown', act, true)
    return () => document.removeEventListener('keydown', act, true)
  }, [byLetter, organizationId, session, open])
}

const plainKeys: Readonly<Record<string, (event: KeyboardEvent, open: (what: 'keys') => void) => void>> = {
  '?': (_, open) => open('keys'),
  '/': (event) => {
    event.preventDefault()
    document.querySelector<HTMLElement>('[role="search"] input, [role="search"] select')?.focus()
  },
  j: () => stepRow(1),
  k: () => stepRow(-1),
  r: () => void queryClient.invalidateQueries(),
}
