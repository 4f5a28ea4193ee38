import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../core/error.ts'
import { authenticate } from '../middleware/authenticate.ts'
import type { Format } from '../../protocols/format.ts'
import type { HttpParts } from '../parts.ts'
import { pathOf } from '../request-path.ts'

/**
 * Refuses a path that is not served.
 *
 * A wrong base address is explained to anyone; below `/v1` the key is checked
 * first, so that a stranger learns nothing about what is there.
 */
export async function refusePath(parts: HttpParts, request: FastifyRequest): Promise<never> {
  const path = pathOf(request.url)
  const { formats } = parts
  const hint = formats.map(({ wrongBaseHints }) => wrongBaseHints[path]).find((found) => found !== undefined)
  if (hint !== undefined) throw new ApiError({ code: 'unknown-url' }, hint)
  if (path.startsWith('/v1/')) await authenticate(parts, request, null)
  const wayOn = formats.map((format) => findWayOn(format, path)).find((found) => found !== null)
  if (wayOn !== undefined && wayOn !== null) throw new ApiError({ code: 'unsupported-endpoint' }, wayOn)
  const bases = formats.map(({ baseHint }) => baseHint).join(', ')
  throw new ApiError({ code: 'unknown-url' }, `There is nothing at this address. ${bases}.`)
}

/** Below a route there may be something unsupported; the route itself, with a slash too many, is a wrong address. */
function findWayOn({ routes, unsupported }: Format, path: string): string | null {
  const isKnown = (known: string) =>
    path.startsWith(`${known}/`) ? path.length > known.length + 1 || !isRoute(known) : path === known
  const isRoute = (known: string) => routes.some((route) => route.path === known)
  return Object.entries(unsupported).find(([known]) => isKnown(known))?.[1] ?? null
}
