import { useEffect, useState } from 'react'
import { hearReads } from '../api/client.ts'
import { Code } from '../kit/content.tsx'
import { Dialog } from '../kit/layers.tsx'
import { queryClient } from './session.ts'

/** What a page shows can be had by a program: the requests that it is made of, as commands. */
export function ApiCalls({ onClose }: { readonly onClose: () => void }) {
  const reads = useReads()
  return (
    <Dialog
      title="API calls of this page"
      isOpen
      onClose={onClose}
      isWide
      said="A management key takes the place of your session; it may read what its role may."
    >
      {reads.length === 0 ? (
        <p>This page asks for nothing.</p>
      ) : (
        reads.map((path) => (
          <Code
            key={path}
            label={`GET ${path.split('?', 1)[0]}`}
            wraps
            text={`curl '${window.location.origin}${path}' \\\n  -H "Authorization: Bearer $ODYSSEY_MANAGEMENT_KEY"`}
          />
        ))
      )}
    </Dialog>
  )
}

/** What the page reads, found by having it read all of that again. */
function useReads(): readonly string[] {
  const [reads, setReads] = useState<readonly string[]>([])
  useEffect(() => {
    const stop = hearReads((path) => setReads((known) => (known.includes(path) ? known : [...known, path])))
    void queryClient.refetchQueries({ type: 'active' })
    return stop
  }, [])
  // Who has signed in is the business of a browser alone.
  return reads.filter((path) => !/^\/api\/v1\/(?:session|me)\b/.test(path))
}
