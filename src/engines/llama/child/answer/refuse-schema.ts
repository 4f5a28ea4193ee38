import { ApiError, type ErrorPath } from '../../../../core/error.ts'
import type { SchemaFault } from '../../../../grammar/schema-fault.ts'

/** The error for a schema that cannot be kept, with the place in the request where it fails. */
export function refuseSchema(schemaPath: ErrorPath, fault: SchemaFault): ApiError {
  const path = [...schemaPath, ...fault.path]
  const reason = { code: 'invalid-request', path, fault: 'unsupported-value' } as const
  return new ApiError(reason, `${path.join('.')}: ${fault.message}`)
}
