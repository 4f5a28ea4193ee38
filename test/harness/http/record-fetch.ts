import { checkChatAnswer } from '../../validators/chat-answer.ts'
import { checkMessagesAnswer } from '../../validators/messages-answer.ts'
import { checkStream } from './open-stream.ts'

export type RecordedRequest = { readonly method: string; readonly url: string; readonly headers: Headers }

export type RecordedFetch = {
  readonly fetch: typeof fetch
  /** Every request since the last `clear`, retries included. */
  readonly requests: readonly RecordedRequest[]
  /** The texts of all answers since the last `clear`; null for one that was cut off or left. */
  answers(): Promise<(string | null)[]>
  clear(): void
  /** Waits for all answers and checks each that was not abandoned. Returns how many of them were streams. */
  checkStreams(): Promise<number>
}

/** A `fetch` for client libraries that counts what they send and keeps a copy of every answer. */
export function recordFetch(): RecordedFetch {
  const requests: RecordedRequest[] = []
  const texts: Promise<string | null>[] = []
  const checks: Promise<boolean>[] = []
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
      const text = response
        .clone()
        .text()
        .catch(() => null)
      texts.push(text)
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
      if (response.ok) {
        const checked = isStream ? checkStreamed(text, url, init?.body) : checkWhole(text, url)
        // Kept until somebody awaits it, so a fault must not count as unhandled before.
        checked.catch(() => {})
        checks.push(checked)
      }
      return response
    },
    async checkStreams() {
      const checked = await Promise.all(checks.splice(0))
      return checked.filter(Boolean).length
    },
  }
}

/** Whether the stream was read to its end; one that the client left half-way has nothing to check. */
async function checkStreamed(copy: Promise<string | null>, url: string, sent: unknown): Promise<boolean> {
  const text = await copy
  if (text === null) return false
  const isChat = new URL(url).pathname.endsWith('/chat/completions')
  const body = JSON.parse(String(sent)) as { stream_options?: { include_usage?: boolean } }
  checkStream(isChat ? 'chat' : 'messages', text, { includeUsage: body.stream_options?.include_usage ?? false })
  return true
}

/** Never a stream, so what it returns is false. */
async function checkWhole(copy: Promise<string | null>, url: string): Promise<false> {
  const text = await copy
  const { pathname } = new URL(url)
  if (text === null) return false
  if (pathname.endsWith('/chat/completions')) checkChatAnswer(JSON.parse(text) as Record<string, unknown>)
  if (pathname.endsWith('/messages')) checkMessagesAnswer(JSON.parse(text) as Record<string, unknown>)
  return false
}
