import { entries, load } from 'virtual:guides'
import { useEffect } from 'react'
import { DocsFrame } from '../../app/docs/docs-frame.tsx'
import { GuideBlocks } from '../../app/docs/guide-blocks.tsx'
import { GuideContents } from '../../app/docs/guide-contents.tsx'
import styles from '../../app/docs/guide.module.css'
import { useAnchor } from '../../app/docs/read-document.tsx'
import type { PageParams } from '../../app/paths.ts'
import { useAnswer } from '../../app/use-answer.ts'
import { Link } from '../../kit/link.tsx'
import { Skeleton } from '../../kit/skeleton.tsx'

/** One guide, beside all of them. */
export function Page({ params }: { readonly params: PageParams }) {
  const slug = params['guide'] ?? ''
  return <Guide key={slug} slug={slug} />
}

function Guide({ slug }: { readonly slug: string }) {
  const { data, isPending } = useAnswer(async () => (await load[slug]?.())?.default)
  useAnchor(data !== undefined)
  const title = entries.find((entry) => entry.slug === slug)?.title ?? 'No such guide'
  useEffect(() => {
    document.title = `${title} · Odyssey`
  }, [title])
  return (
    <DocsFrame title={title}>
      <div className={styles.columns}>
        <GuideContents current={slug} />
        {data === undefined ? isPending ? <Skeleton /> : <Missing /> : <GuideBlocks blocks={data.blocks} />}
      </div>
    </DocsFrame>
  )
}

function Missing() {
  return (
    <p role="status">
      There is no guide at this address. <Link href="/docs">All guides, and what they say</Link>
    </p>
  )
}
