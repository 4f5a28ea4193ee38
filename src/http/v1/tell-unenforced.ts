import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorPath } from '../../core/error.ts'
import type { HttpParts } from '../parts.ts'

/** Names the keywords of the request's schemas that the answer is not held to. */
export const unenforcedHeader = 'x-odyssey-unenforced'

/** Proxies refuse heads of some kilobytes. */
const charactersMax = 2_000

type Exchanged = { readonly request: FastifyRequest; readonly reply: FastifyReply }

/**
 * Says in the answer's head and in the log what is left to the client to check. Where a stream's head had to be sent
 * before the engine looked at the request, only the log says it.
 */
export function tellUnenforced(
  { log }: Pick<HttpParts, 'log'>,
  { request, reply }: Exchanged,
  places: readonly ErrorPath[],
): void {
  const named = places.map((place) => place.map(spell).join('.'))
  const unenforced = listWithin(named, charactersMax)
  log.info({ request_id: request.id, unenforced }, 'schema keywords are not enforced')
  if (!reply.raw.headersSent) void reply.header(unenforcedHeader, unenforced)
}

/** One segment in the characters that a header may have, without those that divide the list. */
function spell(segment: string | number): string {
  return String(segment)
    .toWellFormed()
    .replace(/[^!-~]|[%,]/gu, (character) => encodeURIComponent(character).replace(',', '%2C'))
}

/** Writes as many names as there is room for; `+3` stands for three more. */
function listWithin(names: readonly string[], most: number): string {
  let list = ''
  for (const [index, name] of names.entries()) {
    const longer = list === '' ? name : `${list}, ${name}`
    if (longer.length > most) return `${list}${list === '' ? '' : ', '}+${names.length - index}`
    list = longer
  }
  return list
}
