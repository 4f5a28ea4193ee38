import { DocsFrame } from '../../app/docs/docs-frame.tsx'
import { GuideContents } from '../../app/docs/guide-contents.tsx'
import styles from '../../app/docs/guide.module.css'
import { withOwnAddress } from '../../app/docs/own-address.ts'
import { searchGuides } from '../../app/docs/search-guides.ts'
import { stemOf } from '../../app/docs/word-stem.ts'
import { pagePath } from '../../app/paths.ts'
import { useSearch } from '../../app/router.tsx'
import { useAnswer } from '../../app/use-answer.ts'
import { TextField } from '../../kit/field.tsx'
import { Link } from '../../kit/link.tsx'
import { Card, Stack } from '../../kit/page.tsx'
import { searchCodec, text } from '../../lib/search-codec.ts'
import type { GuideSection } from '../../lib/guide.ts'

const search = searchCodec({ q: text() })

/** All guides, and where in them something is said. */
export function Page() {
  const [{ q }, change] = useSearch(search)
  return (
    <DocsFrame
      title="Guides"
      said="For who uses the models, and for who runs the service. Nothing here is fetched from elsewhere."
    >
      <div className={styles.columns}>
        <GuideContents />
        <Stack>
          <div role="search" aria-label="Guides">
            <TextField
              label="Find"
              placeholder="budget, retry-after, ODYSSEY_HOME"
              value={q}
              onText={(typed) => change({ q: typed })}
            />
          </div>
          {q.trim() === '' ? <Begin /> : <Found key="found" q={q} />}
        </Stack>
      </div>
    </DocsFrame>
  )
}

/** For who looks for nothing yet. */
function Begin() {
  return (
    <>
      <Card title={<Link href={pagePath('docsGuide', { guide: 'getting-started' })}>Getting started</Link>}>
        <p>
          New here? From the first start to a call that is answered: by curl and by each SDK, plain and streamed; then a
          price, a budget on a key and an alert.
        </p>
      </Card>
      <p>Or choose a guide, or say what you look for.</p>
    </>
  )
}

/** The index is fetched by whoever looks for something. */
function Found({ q }: { readonly q: string }) {
  const { data, isPending } = useAnswer(searchGuides)
  if (data === undefined) return <p role="status">{isPending ? 'Reading …' : 'The guides could not be read.'}</p>
  const found = data(q)
  return (
    <>
      <p role="status">{found.length === 0 ? 'Nothing is said of that.' : `${found.length} places`}</p>
      <ul className={styles.found}>
        {found.map((section) => (
          <li key={section.id}>
            <a
              href={
                pagePath('docsGuide', { guide: section.slug }) + (section.anchor === '' ? '' : `#${section.anchor}`)
              }
            >
              {section.title}
            </a>
            {section.anchor !== '' && <small>{section.guide}</small>}
            <p>{withOwnAddress(excerpt(section, q))}</p>
          </li>
        ))}
      </ul>
    </>
  )
}

const excerptCharacters = 180

/** The words around the first one that was looked for. */
function excerpt({ text: words }: GuideSection, q: string): string {
  const lower = words.toLowerCase()
  const places = q
    .split(/\s+/)
    .map(stemOf)
    .map((stem) => (stem === null ? -1 : lower.indexOf(stem)))
  const at = Math.max(0, Math.min(...places.filter((place) => place !== -1), words.length) - excerptCharacters / 3)
  // It begins with a whole word.
  const from = at >= words.length || at === 0 ? 0 : words.indexOf(' ', at) + 1
  const piece = words.slice(from, from + excerptCharacters)
  return `${from > 0 ? '… ' : ''}${piece.trim()}${from + excerptCharacters < words.length ? ' …' : ''}`
}
