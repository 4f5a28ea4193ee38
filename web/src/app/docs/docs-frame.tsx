import type { ReactNode } from 'react'
import { Page } from '../../kit/page.tsx'
import { Link } from '../../kit/link.tsx'
import { findPage, pagePath } from '../paths.ts'
import { preferences } from '../preferences.ts'
import { usePlace } from '../router.tsx'
import { documentList } from './document-list.ts'
import styles from './docs.module.css'

type Props = {
  readonly title: string
  readonly said?: ReactNode
  readonly filters?: ReactNode
  readonly isNarrow?: boolean
  readonly children: ReactNode
}

/** The frame of what anybody may read without signing in. */
export function DocsFrame(props: Props) {
  const { path } = usePlace()
  const current = findPage(path)?.name
  const { organizationId } = preferences.current()
  return (
    <>
      <a className={styles.skip} href="#main">
        Skip to the page
      </a>
      <header className={styles.top}>
        <Link href="/" className={styles.brand}>
          Odyssey
        </Link>
        <nav className={styles.pages} aria-label="Documents">
          {documentList.map(([name, title]) => (
            <Link
              key={name}
              href={pagePath(name)}
              className={styles.link}
              {...((name === current || (name === 'docsGuides' && current === 'docsGuide')) && {
                'aria-current': 'page' as const,
              })}
            >
              {title}
            </Link>
          ))}
        </nav>
        <Link href={organizationId === null ? '/login' : pagePath('home', { organizationId })} className={styles.link}>
          {organizationId === null ? 'Sign in' : 'Dashboard'}
        </Link>
      </header>
      <main id="main" tabIndex={-1}>
        <Page {...props} />
      </main>
    </>
  )
}
