import { ApiError, type ApiErrorReason } from '../../../core/error.ts'

/** What clients of SCIM act upon (RFC 7644, section 3.12). */
export type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'
  | 'sensitive'

const reasons: Readonly<Record<number, ApiErrorReason>> = {
  401: { code: 'unauthenticated', key: null },
  404: { code: 'not-found' },
  409: { code: 'conflict' },
  412: { code: 'conflict' },
  501: { code: 'unsupported-endpoint' },
}

/** A request of a directory that is refused, in the words of SCIM. */
export class ScimFault extends ApiError {
  readonly status: number
  readonly scimType: ScimType | null

  constructor(status: number, scimType: ScimType | null, message: string) {
    super(reasons[status] ?? { code: 'invalid-request', path: null, fault: null }, message)
    this.status = status
    this.scimType = scimType
  }
}

export function invalidValue(path: string, rule: string): ScimFault {
  return new ScimFault(400, 'invalidValue', `${path}: ${rule}`)
}

export function notUnique(message: string): ScimFault {
  return new ScimFault(409, 'uniqueness', message)
}

export function notThere(): ScimFault {
  return new ScimFault(404, null, 'There is no such resource.')
}
