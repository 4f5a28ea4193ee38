import type { HTTPMethods } from 'fastify'
import { ApiError } from '../core/error.ts'

/** Those that a path has, or refuses. */
export const httpMethods: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** What a request is told whose path has other methods. */
export function methodNotAllowed(method: string, allowed: readonly string[]): ApiError {
  const message = `${method} is not possible here; use ${allowed.join(' or ')}.`
  return new ApiError({ code: 'method-not-allowed', allowed }, message)
}
