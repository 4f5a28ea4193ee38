// The addresses that browsers and providers come to, of OpenID Connect and of both languages.

import type { FastifyInstance } from 'fastify'
import { SsoFault } from '../../accounts/single-sign-on/fault.ts'
import { readNext } from '../../accounts/single-sign-on/flows.ts'
import {
  beginByConnection,
  endByProvider,
  findUsableConnection,
  finishByConnection,
} from '../../accounts/single-sign-on/sign-in-by-connection.ts'
import { FailedAttempts } from '../api/failed-attempts.ts'
import type { Door } from '../parts.ts'
import { answer, read, type Asked } from './answer-browser.ts'
import { readForm } from './read-form.ts'
import { addSamlRoutes } from './saml-routes.ts'

export function addSsoRoutes(app: FastifyInstance, door: Door): void {
  const { clock, db } = door.management.accounts
  const attempts = new FailedAttempts(clock, db)
  const page = { door, attempts }
  addSamlRoutes(app, door, page)
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
      await attempts.hold(request.ip, { shown: 'single sign-on' })
      return reply.code(400).type('application/json').send('{"error":"invalid_request"}')
    }
  })
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
