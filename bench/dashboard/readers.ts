import { askApi } from '../../test/dashboard/harness/ask.ts'
import { ann, type Opened } from '../../test/dashboard/harness/open-dashboard.ts'
import type { Service } from '../../test/harness/start-service.ts'

const password = 'a password for the readers'

/** Streams of changes, each in a session of its own, as browsers have them. `close` resolves with how many heard something. */
export async function openReaders(
  { page, origin }: Opened,
  { address }: Pick<Service, 'address'>,
  count: number,
): Promise<{ close(): Promise<number> }> {
  const made = await askApi(page, 'PUT', '/api/v1/me/password', { password })
  if (made.status >= 300) throw new Error(`The password was not set: ${JSON.stringify(made.body)}`)
  const stopping = new AbortController()
  const reading: Promise<boolean>[] = []
  for (let index = 0; index < count; index += 1) {
    const cookie = await signIn(address, origin)
    reading.push(readChanges(address, { cookie, origin }, stopping.signal))
  }
  return {
    async close() {
      stopping.abort()
      return (await Promise.all(reading)).filter(Boolean).length
    },
  }
}

async function signIn(address: string, origin: string): Promise<string> {
  const headers = { origin, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
  const body = JSON.stringify({ email: ann.email, password })
  const response = await fetch(`${address}/api/v1/session/password`, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(`Nobody signed in: ${await response.text()}`)
  await response.arrayBuffer()
  return response.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ')
}

/** Reads to the end; resolves with whether it was told of a change. */
async function readChanges(address: string, headers: Record<string, string>, signal: AbortSignal): Promise<boolean> {
  let text = ''
  try {
    const response = await fetch(`${address}/api/v1/events`, { headers, signal })
    for await (const chunk of response.body ?? []) text = (text + Buffer.from(chunk).toString()).slice(-1_000)
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return text.includes('event: changed')
}
