import { checkStream } from './open-stream.ts'

export type RecordedRequest = { readonly method: string; readonly url: string; readonly headers: Headers }

export type RecordedFetch = {
  readonly fetch: typeof fetch
  /** Every request since the last `clear`, retries included. */
  readonly requests: readonly RecordedRequest[]
  /** The texts of all answers since the last `clear`; null for one that was cut off or left. */
  answers(): Promise<(string | null)[]>
  clear(): void
  /** Waits for the streams that were opened and checks each that was not abandoned. */
  checkStreams(): Promise<number>
}

/** A `fetch` for client libraries that counts what they send and keeps a copy of every stream. */
export function recordFetch(): RecordedFetch {
  const requests: RecordedRequest[] = []
  const texts: Promise<string | null>[] = []
  const streams: Promise<boolean>[] = []
  return {
    requests,
    answers: () => Promise.all(texts),
    clear() {
      requests.splice(0)
      void texts.splice(0)
    },
    async fetch(input, init) {
      const url = input instanceof Request ? input.url : String(input)
      requests.push({ method: init?.method ?? 'GET', url, headers: new Headers(init?.headers) })
      const response = await fetch(input, init)
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
      const text = response
        .clone()
        .text()
        .catch(() => null)
      texts.push(text)
      if (isStream) {
        const checked = checkText(text, url, init?.body)
        // Kept until somebody awaits it, so a fault must not count as unhandled before.
        checked.catch(() => {})
        streams.push(checked)
      }
      return response
    },
    async checkStreams() {
      const checked = await Promise.all(streams.splice(0))
      return checked.filter(Boolean).length
    },
  }
}

/** Whether the stream was read to its end; one that the client left half-way has nothing to check. */
async function checkText(copy: Promise<string | null>, url: string, sent: unknown): Promise<boolean> {
  const text = await copy
  if (text === null) return false
  const isChat = new URL(url).pathname.endsWith('/chat/completions')
  const body = JSON.parse(String(sent)) as { stream_options?: { include_usage?: boolean } }
  checkStream(isChat ? 'chat' : 'messages', text, { includeUsage: body.stream_options?.include_usage ?? false })
  return true
}
