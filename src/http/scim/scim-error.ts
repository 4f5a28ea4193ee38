import { ScimFault } from '../../accounts/directory/scim/fault.ts'
import type { ApiError } from '../../core/error.ts'
import type { RequestId } from '../../core/ids.ts'
import { errorHeaders } from '../../protocols/error-headers.ts'
import type { EncodedError } from '../../protocols/protocol.ts'
import { answerHeaders, encodeProblem, problemKinds } from '../api/problem.ts'

export const scimType = 'application/scim+json; charset=utf-8'

/** Whether a path is of the directories' address. */
export function isScimPath(path: string): boolean {
  return path === '/scim/v2' || path.startsWith('/scim/v2/')
}

/** An error as SCIM has it (RFC 7644, section 3.12). */
export function encodeScimError(error: ApiError, requestId: RequestId): EncodedError {
  const status = error instanceof ScimFault ? error.status : problemKinds[error.code].status
  const { detail } = encodeProblem(error, requestId).body as { readonly detail: string }
  const kind = error instanceof ScimFault ? error.scimType : error.code === 'invalid-request' ? 'invalidSyntax' : null
  const body = {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    // A text, though it is a number everywhere else.
    status: String(status),
    ...(kind !== null && { scimType: kind }),
    detail,
  }
  const headers = { ...errorHeaders(error), ...answerHeaders, 'content-type': scimType }
  return { status, headers, body }
}
