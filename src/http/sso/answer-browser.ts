// What browsers and providers are answered: whatever is refused looks the same to a browser; why it was is noted for
// those who look after the connection.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { SsoFault } from '../../accounts/single-sign-on/fault.ts'
import type { SsoParts } from '../../accounts/single-sign-on/parts.ts'
import type { ConnectionId, RequestId } from '../../core/ids.ts'
import { runUndoneAgain } from '../../db/transactions/run-undone-again.ts'
import { BrowserExchange } from '../api/browser.ts'
import type { FailedAttempts } from '../api/failed-attempts.ts'
import { areIds } from '../api/read-input.ts'
import { pageHeaders } from '../dashboard/policy.ts'
import type { Door } from '../parts.ts'

export type Asked = {
  readonly parts: SsoParts
  readonly browser: BrowserExchange
  readonly request: FastifyRequest
  readonly connectionId: ConnectionId
}

/** Throws for an id that no connection can have, as for one that none has. */
export function read({ management }: Door, request: FastifyRequest): Asked {
  const { accounts, signIn, sso } = management
  const origin = { address: request.ip, requestId: request.id as RequestId }
  const { connectionId } = request.params as { readonly connectionId: ConnectionId }
  if (!areIds(request)) throw new SsoFault('connection-off')
  const browser = new BrowserExchange(request, management, management.siteUrl())
  // What was undone for another is run again: nobody’s way to the provider can be shown twice.
  const parts = { ...accounts, db: runUndoneAgain(accounts.db), origin, signIn, sso }
  return { parts, browser, request, connectionId }
}

export type Page = {
  readonly door: Door
  readonly attempts: FailedAttempts
  /** What somebody is told did not happen; absent, that they were signed in. */
  readonly refusal?: keyof typeof refusals
}
type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply }

/** Sends the browser on, or tells it no more than that it was not signed in. */
export async function answer(
  { door, attempts, refusal = 'sign-in' }: Page,
  { request, reply }: Exchange,
  work: (asked: Asked) => Promise<string>,
): Promise<unknown> {
  try {
    const asked = read(door, request)
    const location = await work(asked)
    const { cookies } = asked.browser
    if (cookies.length > 0) void reply.header('set-cookie', [...cookies])
    return await reply.headers(pageHeaders).code(303).header('location', location).send()
  } catch (error) {
    const code = error instanceof SsoFault ? error.code : 'internal'
    const reason = error instanceof SsoFault && error.cause instanceof Error ? { reason: error.cause.message } : {}
    const cause = error instanceof SsoFault ? { code, ...reason } : { code, error }
    door.log[code === 'internal' ? 'error' : 'info'](
      { request_id: request.id, ...cause },
      'sign-in by a connection refused',
    )
    await attempts.hold(request.ip, { shown: 'single sign-on' })
    return reply
      .headers(pageHeaders)
      .code(400)
      .type('text/html; charset=utf-8')
      .send(refusedPage(request.id, refusals[refusal]))
  }
}

const refusals = {
  'sign-in': { title: 'We could not sign you in', said: '' },
  'sign-out': {
    title: 'Your provider did not confirm it',
    said: 'Whoever signs out here is signed out here in any case. Whether it is so at your provider is not known. ',
  },
} as const

/** The one page for everything that is refused. The id is ours, so nothing in it comes from outside. */
function refusedPage(requestId: string, { title, said }: (typeof refusals)[keyof typeof refusals]): string {
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
    `<title>${title}</title>` +
    '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"></head><body>' +
    `<h1>${title}</h1><p>${said}Ask the administrators of your organization, and name this request: ` +
    `<code>${requestId}</code>.</p><p><a href="/login">To the sign-in</a></p></body></html>`
  )
}
