import { useEffect, useState } from 'react'

/** What is known of something that is read once: nothing yet, what came, or that it failed. */
export type Answer<Data> = { readonly data: Data | undefined; readonly isPending: boolean }

/** Reads something when a page is opened. The pages before signing in come without the cache that the others have. */
export function useAnswer<Data>(read: () => Promise<Data>): Answer<Data> {
  const [answer, setAnswer] = useState<Answer<Data>>({ data: undefined, isPending: true })
  useEffect(() => {
    read().then(
      (data) => setAnswer({ data, isPending: false }),
      () => setAnswer({ data: undefined, isPending: false }),
    )
    // What is read does not change while the page is shown.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [])
  return answer
}
