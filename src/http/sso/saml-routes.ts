// The addresses of SAML: what a provider has to know of this service, its answers, and its word that somebody has signed
// out. A browser brings all of them, from another site.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { SsoFault } from '../../accounts/single-sign-on/fault.ts'
import { completeBySaml } from '../../accounts/single-sign-on/saml/complete.ts'
import { describeToProvider } from '../../accounts/single-sign-on/saml/write-metadata.ts'
import { endBySaml, receiveSignOut } from '../../accounts/single-sign-on/saml/logout.ts'
import { receiveAnswer } from '../../accounts/single-sign-on/saml/saml-sign-in.ts'
import { signedOutPath } from '../../accounts/single-sign-on/sign-in-by-connection.ts'
import { assetHeaders } from '../dashboard/policy.ts'
import type { Door } from '../parts.ts'
import { answer, read, type Asked, type Page } from './answer-browser.ts'
import { oneOf, readFields } from './read-form.ts'

export function addSamlRoutes(app: FastifyInstance, door: Door, page: Page): void {
  app.get('/sso/:connectionId/metadata', async (request, reply) => {
    try {
      const { parts, connectionId } = read(door, request)
      const text = await describeToProvider(parts, connectionId)
      const headers = { ...assetHeaders, 'cache-control': 'no-store' }
      return await reply.headers(headers).type('application/samlmetadata+xml; charset=utf-8').send(text)
    } catch (error) {
      if (!(error instanceof SsoFault)) throw error
      return answer(page, { request, reply }, () => Promise.reject(error))
    }
  })
  app.post('/sso/:connectionId/acs', (request, reply) => answer(page, { request, reply }, receive))
  app.get('/sso/:connectionId/acs', (request, reply) => answer(page, { request, reply }, refuse))
  app.get('/sso/complete', (request, reply) => answer(page, { request, reply }, complete))
  const leaving = { ...page, refusal: 'sign-out' } as const
  app.get('/sso/:connectionId/slo', (request, reply) => answer(leaving, { request, reply }, endByAddress))
  app.post('/sso/:connectionId/slo', (request, reply) => answer(leaving, { request, reply }, endByForm))
}

/** The largest message, in base64 and in a form. */
const formBytesMax = 524_288

async function receive({ parts, connectionId, request }: Asked): Promise<string> {
  const fields = await readFields(request.raw, formBytesMax)
  // A form that is more than an answer would be read as something else by somebody else.
  const isAnswer = fields !== null && !fields.has('SAMLRequest') && fields.getAll('RelayState').length < 2
  const response = isAnswer ? oneOf(fields, 'SAMLResponse') : null
  return receiveAnswer(parts, connectionId, {
    response,
    relayState: fields === null ? null : oneOf(fields, 'RelayState'),
  })
}

function refuse({ parts, connectionId }: Asked): Promise<string> {
  return receiveAnswer(parts, connectionId, { response: null, relayState: null })
}

async function complete({ parts, browser, request }: Asked): Promise<string> {
  const { r } = request.query as Readonly<Record<string, unknown>>
  const cameBack = { handle: typeof r === 'string' ? r : null, browserToken: browser.sso, browser: browser.whereabouts }
  const { next, token } = await completeBySaml(parts, cameBack)
  if (token !== null) browser.open(token)
  return next
}

async function endByAddress({ parts, connectionId, request }: Asked): Promise<string> {
  const query = queryOf(request)
  if (query.startsWith('SAMLResponse=')) {
    await receiveSignOut(parts, connectionId, { query })
    return signedOutPath
  }
  return (await endBySaml(parts, connectionId, { query })) ?? '/login'
}

async function endByForm({ parts, connectionId, request }: Asked): Promise<string> {
  const fields = await readFields(request.raw, formBytesMax)
  if (fields?.has('SAMLResponse') === true && !fields.has('SAMLRequest')) {
    await receiveSignOut(parts, connectionId, { response: oneOf(fields, 'SAMLResponse') })
    return signedOutPath
  }
  const isRequest = fields !== null && !fields.has('SAMLResponse') && fields.getAll('RelayState').length < 2
  const sent = isRequest ? oneOf(fields, 'SAMLRequest') : null
  const message = { request: sent, relayState: isRequest ? oneOf(fields, 'RelayState') : null }
  return (await endBySaml(parts, connectionId, message)) ?? '/login'
}

/** As it was sent: what is signed is its text. */
function queryOf({ url }: FastifyRequest): string {
  const mark = url.indexOf('?')
  return mark < 0 ? '' : url.slice(mark + 1)
}
