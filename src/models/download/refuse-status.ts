import { DownloadError, Interruption } from './download-error.ts'
import type { RemoteAnswer } from './open-remote.ts'

const retryAfterMsMax = 60_000

/** What an answer without the file means: that it is in vain, or that another try may help. */
export function refuseStatus({ status, headers, url: { host } }: RemoteAnswer): Error {
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    const seconds = Number(headers.get('retry-after') ?? 0)
    const waitMs = Number.isFinite(seconds) ? Math.min(retryAfterMsMax, Math.max(0, seconds * 1_000)) : 0
    return new Interruption(`The server answers with ${status}.`, { waitMs })
  }
  const reason = headers.get('x-error-message')?.slice(0, 200) ?? meanings[status] ?? null
  return new DownloadError(
    { kind: 'status', host, status },
    `${host} answers with ${status}${reason === null ? '' : `: ${printable(reason)}`}.`,
  )
}

const meanings: Readonly<Record<number, string>> = {
  401: 'it wants a token',
  403: 'it refuses access',
  404: 'there is no such file',
  410: 'the file is gone',
  451: 'the file is withheld for legal reasons',
}

/** A server's words go to a terminal, where control characters do things. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').replace(/\.$/, '')
}
