import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { ApiError } from '../../core/error.ts'
import { networkOf } from '../../lib/network/address-list.ts'
import type { Door } from '../parts.ts'
import { reportsPath } from './policy.ts'

const bytesMax = 8_192
const windowMs = 60_000
/** A page that is broken says the same with each click, so a few are enough; and anybody may send some. */
const perNetworkMax = 10
/** Of all networks together, so that no crowd fills the log. */
const inAllMax = 100
const textMax = 200

const text = z.coerce.string().transform((value) => value.slice(0, textMax))
/** As `report-uri` has it, and as the Reporting API has it. */
const single = z.object({
  'csp-report': z.object({
    'document-uri': text.optional(),
    'effective-directive': text.optional(),
    'violated-directive': text.optional(),
    'blocked-uri': text.optional(),
    'source-file': text.optional(),
    'line-number': z.number().optional(),
  }),
})
const several = z
  .array(
    z.object({
      type: z.literal('csp-violation'),
      body: z.object({
        documentURL: text.optional(),
        effectiveDirective: text.optional(),
        blockedURL: text.optional(),
        sourceFile: text.optional(),
        lineNumber: z.number().nullish(),
      }),
    }),
  )
  .min(1)
  .max(perNetworkMax)

type Violation = {
  readonly page: string | null
  readonly directive: string | null
  readonly blocked: string | null
  readonly source: string | null
  readonly line: number | null
}

/**
 * `POST /api/v1/csp-reports`: a browser says what of a page the content policy has stopped. Each is a line of the log.
 *
 * Whoever knows the address can send some, so they are few, short, and nothing is done by them.
 */
export function cspReportsRoute({ inference: { clock }, bodies, log }: Pick<Door, 'inference' | 'bodies' | 'log'>) {
  const count = createCounter(() => clock.monotonicMs())
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (!count(networkOf(request.ip))) {
      throw new ApiError({ code: 'rate-limited', retryAfterMs: windowMs }, 'Too many reports came from here.')
    }
    const open = bodies.open(request.raw, reportsPath)
    try {
      for (const violation of readViolations(await open.readJson(bytesMax))) {
        log.warn({ request_id: request.id, ...violation }, 'the content policy stopped something')
      }
    } finally {
      open.release()
    }
    await reply.code(204).send()
  }
}

/** Counts what comes in a minute. False for what is too much. */
function createCounter(nowMs: () => number): (network: string) => boolean {
  const byNetwork = new Map<string, number>()
  let inAll = 0
  let endsMs = -Infinity
  return (network) => {
    if (nowMs() >= endsMs) {
      byNetwork.clear()
      inAll = 0
      endsMs = nowMs() + windowMs
    }
    const own = (byNetwork.get(network) ?? 0) + 1
    if (own > perNetworkMax || inAll >= inAllMax) return false
    byNetwork.set(network, own)
    inAll += 1
    return true
  }
}

function readViolations(body: unknown): readonly Violation[] {
  const old = single.safeParse(body)
  if (old.success) {
    const report = old.data['csp-report']
    return [
      {
        page: withoutQuery(report['document-uri']),
        directive: report['effective-directive'] ?? report['violated-directive'] ?? null,
        blocked: withoutQuery(report['blocked-uri']),
        source: withoutQuery(report['source-file']),
        line: report['line-number'] ?? null,
      },
    ]
  }
  const read = several.safeParse(body)
  if (!read.success) {
    throw new ApiError({ code: 'invalid-request', path: null, fault: null }, 'This is no report of a content policy.')
  }
  return read.data.map(({ body: report }) => ({
    page: withoutQuery(report.documentURL),
    directive: report.effectiveDirective ?? null,
    blocked: withoutQuery(report.blockedURL),
    source: withoutQuery(report.sourceFile),
    line: report.lineNumber ?? null,
  }))
}

/** What stands behind an address’s question mark or hash may be somebody's link to sign in by. */
function withoutQuery(address: string | undefined): string | null {
  return address === undefined ? null : (address.split(/[?#]/, 1)[0] ?? '')
}
