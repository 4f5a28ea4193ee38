import { Icon } from '../kit/icons.tsx'
import { Link } from '../kit/link.tsx'
import type { Session } from '../api/answers.ts'
import { findPage, pagePath, type PageName } from './paths.ts'
import { menuGroups, routes } from './route-table.ts'
import { usePlace } from './router.tsx'
import { pageReason } from './session.ts'
import styles from './shell.module.css'

type Entry = { readonly name: PageName; readonly title: string; readonly href: string }

/** The pages that somebody may see, by group. A page that they may not see is not there. */
export function menuEntries(session: Session, organizationId: string | null) {
  return menuGroups.flatMap((group) => {
    const entries = Object.entries(routes).flatMap(([name, row]): Entry[] => {
      if (row.menu?.group !== group) return []
      if (group !== 'Installation' && organizationId === null) return []
      if (pageReason(session, organizationId, name as PageName) !== null) return []
      return [
        {
          name: name as PageName,
          title: row.title,
          href: pagePath(name as PageName, { organizationId: organizationId ?? '' }),
        },
      ]
    })
    return entries.length === 0 ? [] : [{ group, entries }]
  })
}

export function MenuLinks({
  session,
  organizationId,
  onFollow,
}: {
  readonly session: Session
  readonly organizationId: string | null
  readonly onFollow?: () => void
}) {
  const { path } = usePlace()
  const current = findPage(path)?.name
  return menuEntries(session, organizationId).map(({ group, entries }) => (
    <div key={group} role="group" aria-label={group}>
      <div className={styles.group} aria-hidden="true">
        {group}
      </div>
      {entries.map(({ name, title, href }) => (
        <Link
          key={name}
          href={href}
          className={styles.link}
          title={title}
          aria-label={title}
          {...(isWithin(current, name) && { 'aria-current': 'page' as const })}
          {...(onFollow !== undefined && { onClick: onFollow })}
        >
          <Icon name={routes[name].menu?.icon ?? 'list'} />
          <span className={styles.label}>{title}</span>
        </Link>
      ))}
    </div>
  ))
}

/** The lists that lead to records. */
const lists: Readonly<Partial<Record<PageName, PageName>>> = {
  key: 'keys',
  request: 'requests',
  member: 'members',
  serviceAccount: 'serviceAccounts',
}

/** A record's page belongs to the list that leads to it. */
function isWithin(current: PageName | undefined, name: PageName): boolean {
  return current === name || (current !== undefined && lists[current] === name)
}
