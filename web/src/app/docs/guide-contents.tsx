import { entries } from 'virtual:guides'
import { Link } from '../../kit/link.tsx'
import { pagePath } from '../paths.ts'
import styles from './guide.module.css'

/** All guides by what they are about. */
export function GuideContents({ current }: { readonly current?: string }) {
  const groups = [...Map.groupBy(entries, ({ group }) => group)]
  return (
    <nav className={styles.side} aria-label="Guides">
      {groups.map(([group, guides]) => (
        <section key={group}>
          <h2>{group}</h2>
          <ul>
            {guides.map(({ slug, title }) => (
              <li key={slug}>
                <Link
                  href={pagePath('docsGuide', { guide: slug })}
                  {...(slug === current && { 'aria-current': 'page' as const })}
                >
                  {title}
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  )
}
