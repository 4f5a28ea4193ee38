import { useEffect, type ReactNode } from 'react'
import { Button } from '../../kit/button.tsx'
import { Banner, Row } from '../../kit/page.tsx'
import { Skeleton } from '../../kit/skeleton.tsx'
import { useAnswer } from '../use-answer.ts'

/** Reads one of the service's public documents. */
export async function readDocument<Document>(address: string): Promise<Document> {
  const response = await fetch(address, { credentials: 'omit', headers: { accept: 'application/json' } })
  if (!response.ok) throw new Error(`${address} answered with ${response.status}.`)
  return (await response.json()) as Document
}

type Props<Document> = {
  readonly address: string
  readonly children: (document: Document) => ReactNode
}

/** A public document once it is here; where it cannot be read, the way to the file itself. */
export function Document<Content>({ address, children }: Props<Content>) {
  const { data, isPending } = useAnswer(() => readDocument<Content>(address))
  useAnchor(data !== undefined)
  if (isPending) return <Skeleton />
  if (data !== undefined) return children(data)
  return (
    <Banner kind="bad" action={<Button onClick={() => window.location.reload()}>Try again</Button>}>
      <Row>
        The document could not be read. The file itself: <a href={address}>{address}</a>
      </Row>
    </Banner>
  )
}

/** What the address names after its # is there only once the document is; then it is opened and shown. */
export function useAnchor(isThere: boolean): void {
  useEffect(() => {
    if (!isThere) return
    const show = () => {
      const found = document.getElementById(decodeURIComponent(window.location.hash.slice(1)))
      if (found instanceof HTMLDetailsElement) found.open = true
      found?.scrollIntoView()
    }
    show()
    window.addEventListener('hashchange', show)
    return () => window.removeEventListener('hashchange', show)
  }, [isThere])
}
