// The addresses that browsers and providers come to. Whatever is refused looks the same to a browser; why it was is
// noted for those who look after the connection.

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { SsoFault } from '../../accounts/single-sign-on/fault.ts'
import { readNext } from '../../accounts/single-sign-on/flows.ts'
import {
  beginByConnection,
  endByProvider,
  findUsableConnection,
  finishByConnection,
} from '../../accounts/single-sign-on/sign-in-by-connection.ts'
import type { SsoParts } from '../../accounts/single-sign-on/parts.ts'
import type { ConnectionId, RequestId } from '../../core/ids.ts'
import { BrowserExchange } from '../api/browser.ts'
import { FailedAttempts } from '../api/failed-attempts.ts'
import { pageHeaders } from '../dashboard/policy.ts'
import type { Door } from '../parts.ts'

type Asked = {
  readonly parts: SsoParts
  readonly browser: BrowserExchange
  readonly request: FastifyRequest
  readonly connectionId: ConnectionId
}

export function addSsoRoutes(app: FastifyInstance, door: Door): void {
  const attempts = new FailedAttempts(door.management.accounts.clock)
  const page = { door, attempts }
  app.get('/sso/:connectionId/start', (request, reply) => answer(page, { request, reply }, start))
  app.get('/sso/:connectionId/callback', (request, reply) => answer(page, { request, reply }, finish))
  app.post('/sso/:connectionId/backchannel-logout', async (request, reply) => {
    void reply.headers({ 'cache-control': 'no-store' })
    try {
      const asked = read(door, request)
      const token = await readForm(request.raw, 'logout_token')
      if (token === null) throw new SsoFault('token-invalid')
      await endByProvider(asked.parts, asked.connectionId, token)
      return await reply.code(200).send()
    } catch (error) {
      if (!(error instanceof SsoFault)) throw error
      await attempts.hold(request.ip)
      return reply.code(400).type('application/json').send('{"error":"invalid_request"}')
    }
  })
}

function read({ management }: Door, request: FastifyRequest): Asked {
  const { accounts, signIn, sso } = management
  const origin = { address: request.ip, requestId: request.id as RequestId }
  const { connectionId } = request.params as { readonly connectionId: ConnectionId }
  const browser = new BrowserExchange(request, management, management.siteUrl())
  return { parts: { ...accounts, origin, signIn, sso }, browser, request, connectionId }
}

async function start({ parts, browser, request, connectionId }: Asked): Promise<string> {
  const { next, prove } = request.query as Readonly<Record<string, unknown>>
  const connection = await findUsableConnection(parts, connectionId)
  const flow = { next: readNext(next), userId: null, isProof: prove !== undefined }
  return beginByConnection(parts, { ...flow, connection, browser: browser.beginSso() })
}

async function finish({ parts, browser, request, connectionId }: Asked): Promise<string> {
  const mark = request.url.indexOf('?')
  const query = mark < 0 ? '' : request.url.slice(mark + 1)
  const cameBack = { connectionId, query, browserToken: browser.sso, browser: browser.whereabouts }
  const { next, token } = await finishByConnection(parts, cameBack)
  if (token !== null) browser.open(token)
  return next
}

type Page = { readonly door: Door; readonly attempts: FailedAttempts }
type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply }

/** Sends the browser on, or tells it no more than that it was not signed in. */
async function answer(
  { door, attempts }: Page,
  { request, reply }: Exchange,
  work: (asked: Asked) => Promise<string>,
): Promise<unknown> {
  const asked = read(door, request)
  try {
    const location = await work(asked)
    const { cookies } = asked.browser
    if (cookies.length > 0) void reply.header('set-cookie', [...cookies])
    return await reply.headers(pageHeaders).code(303).header('location', location).send()
  } catch (error) {
    const code = error instanceof SsoFault ? error.code : 'internal'
    const cause = error instanceof SsoFault ? { code } : { code, error }
    door.log[code === 'internal' ? 'error' : 'info'](
      { request_id: request.id, ...cause },
      'sign-in by a connection refused',
    )
    await attempts.hold(request.ip)
    return reply.headers(pageHeaders).code(400).type('text/html; charset=utf-8').send(refusedPage(request.id))
  }
}

/** The one page for everything that is refused. The id is ours, so nothing in it comes from outside. */
function refusedPage(requestId: string): string {
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Could not sign you in</title>' +
    '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"></head><body>' +
    '<h1>We could not sign you in</h1><p>Ask the administrators of your organization, and name this request: ' +
    `<code>${requestId}</code>.</p><p><a href="/login">Try again</a></p></body></html>`
  )
}

const formBytesMax = 65_536

/** Reads one field of a form that is sent; null where it is missing, is there twice, or the form is too large. */
async function readForm(message: IncomingMessage, field: string): Promise<string | null> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of message as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > formBytesMax) return null
    parts.push(part)
  }
  const [value, ...others] = new URLSearchParams(Buffer.concat(parts).toString('utf8')).getAll(field)
  return value === undefined || others.length > 0 ? null : value
}
