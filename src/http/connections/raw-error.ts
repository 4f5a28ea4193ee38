import type { ApiError } from '../../core/error.ts'
import { randomId } from '../../lib/random-id.ts'
import { encodeSharedError } from '../../protocols/shared-error.ts'

export type ErrorParts = { readonly fields: Readonly<Record<string, string | number>>; readonly text: string }

/** An error that belongs to no route, for a connection that is closed after it. */
export function errorParts(failure: ApiError): ErrorParts {
  const requestId = `req_${randomId()}` as const
  const { headers, body } = encodeSharedError(failure, requestId)
  const text = JSON.stringify(body)
  const fields = {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'x-request-id': requestId,
    'request-id': requestId,
    connection: 'close',
  }
  return { fields, text }
}

/** The same as bytes, where there is no request that could be answered. */
export function rawError(statusLine: string, failure: ApiError): string {
  const { fields, text } = errorParts(failure)
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${statusLine}\r\n${head.join('')}\r\n${text}`
}
